"""The tables of the knowledge base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kebab.assembly.once import once

if TYPE_CHECKING:
    from kebab.adapters.sqlite.connection import Database
    from kebab.domain.walls import Walls
    from kebab.ports import (
        AnswerStore,
        DocumentStore,
        EmbeddingStore,
        EvalStore,
        Ledger,
        LexicalIndex,
        LinkStore,
        RecordStore,
    )


class Stores:
    """The tables of one SQLite file, over one way of opening it."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @once
    def documents(self) -> DocumentStore:
        from kebab.adapters.sqlite.document_store import SqliteDocumentStore

        return SqliteDocumentStore(self.database)

    @once
    def embeddings(self) -> EmbeddingStore:
        from kebab.adapters.sqlite.embedding_store import SqliteEmbeddingStore

        return SqliteEmbeddingStore(self.database)

    @once
    def links(self) -> LinkStore:
        from kebab.adapters.sqlite.link_store import SqliteLinkStore

        return SqliteLinkStore(self.database)

    @once
    def ledger(self) -> Ledger:
        from kebab.adapters.sqlite.ledger import SqliteLedger

        return SqliteLedger(self.database)

    @once
    def records(self) -> RecordStore:
        from kebab.adapters.sqlite.records import SqliteRecordStore

        return SqliteRecordStore(self.database)

    @once
    def answers(self) -> AnswerStore:
        from kebab.adapters.sqlite.answer_store import SqliteAnswerStore

        return SqliteAnswerStore(self.database)

    @once
    def evaluations(self) -> EvalStore:
        from kebab.adapters.sqlite.eval_store import SqliteEvalStore

        return SqliteEvalStore(self.database)


class Whole:
    """What walls change of the engines; here there are none."""

    walls: Walls | None = None

    def opened(self, database: Database) -> Stores:
        """The stores for reading."""
        return Stores(database)

    def words_read(self, index: LexicalIndex) -> LexicalIndex:
        """The words index as searches see it."""
        return index

    def require_whole(self, what: str) -> None:
        """Raises OutsideWalls inside walls, for what is about the whole knowledge base."""
