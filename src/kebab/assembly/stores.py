"""The tables of the knowledge base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kebab.assembly.once import once

if TYPE_CHECKING:
    from kebab.adapters.sqlite.answer_store import SqliteAnswerStore
    from kebab.adapters.sqlite.connection import Database
    from kebab.adapters.sqlite.document_store import SqliteDocumentStore
    from kebab.adapters.sqlite.embedding_store import SqliteEmbeddingStore
    from kebab.adapters.sqlite.eval_store import SqliteEvalStore
    from kebab.adapters.sqlite.ledger import SqliteLedger
    from kebab.adapters.sqlite.link_store import SqliteLinkStore


class Stores:
    """The tables of one SQLite file, over one way of opening it."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @once
    def documents(self) -> SqliteDocumentStore:
        from kebab.adapters.sqlite.document_store import SqliteDocumentStore

        return SqliteDocumentStore(self.database)

    @once
    def embeddings(self) -> SqliteEmbeddingStore:
        from kebab.adapters.sqlite.embedding_store import SqliteEmbeddingStore

        return SqliteEmbeddingStore(self.database)

    @once
    def links(self) -> SqliteLinkStore:
        from kebab.adapters.sqlite.link_store import SqliteLinkStore

        return SqliteLinkStore(self.database)

    @once
    def ledger(self) -> SqliteLedger:
        from kebab.adapters.sqlite.ledger import SqliteLedger

        return SqliteLedger(self.database)

    @once
    def answers(self) -> SqliteAnswerStore:
        from kebab.adapters.sqlite.answer_store import SqliteAnswerStore

        return SqliteAnswerStore(self.database)

    @once
    def evaluations(self) -> SqliteEvalStore:
        from kebab.adapters.sqlite.eval_store import SqliteEvalStore

        return SqliteEvalStore(self.database)
