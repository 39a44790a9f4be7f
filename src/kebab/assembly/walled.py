"""The engines of a knowledge base inside walls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kebab.assembly.engines import Engines
from kebab.assembly.once import once
from kebab.assembly.stores import Stores
from kebab.config import Settings
from kebab.domain.turns import Waiting, unheard
from kebab.domain.walls import Walls
from kebab.errors import InvalidInput, OutsideWalls
from kebab.ports import AnswerStore, ExecutionIndex, ExecutionStore, LexicalIndex, MemoryKind

if TYPE_CHECKING:
    from kebab.adapters.sqlite.connection import Database
    from kebab.adapters.walled.documents import WalledDocumentStore
    from kebab.adapters.walled.others import (
        NoEvaluations,
        NoLedger,
        WalledAnswerStore,
        WalledEmbeddingStore,
        WalledLinkStore,
    )
    from kebab.assembly.publications import Published


def build_walled(
    settings: Settings,
    *,
    walls: Walls,
    readonly: bool = False,
    waiting: Waiting = unheard,
    published: Published | None = None,
) -> Engines:
    """The engines inside walls. Raises InvalidInput for a source that does not exist."""
    if not walls:
        return Engines(settings, readonly=readonly, waiting=waiting, published=published)
    own = {"inbox", *(source.id for source in settings.sources)}
    known = own if published is None else published.sources
    if unknown := [name for name in walls.source if name not in known]:
        raise InvalidInput(f"there is no source {unknown[0]!r}", hint=f"sources: {', '.join(sorted(known))}")
    return WalledEngines(settings, readonly=readonly, waiting=waiting, walls=walls, published=published)


class WalledStores(Stores):
    """The stores for reading, inside walls."""

    def __init__(self, database: Database, walls: Walls) -> None:
        super().__init__(database)
        self.walls = walls
        self._whole = Stores(database)

    @once
    def documents(self) -> WalledDocumentStore:
        from kebab.adapters.walled.documents import WalledDocumentStore

        return WalledDocumentStore(self._whole.documents, self.walls)

    @once
    def embeddings(self) -> WalledEmbeddingStore:
        from kebab.adapters.walled.others import WalledEmbeddingStore

        return WalledEmbeddingStore(self._whole.embeddings, self.documents)

    @once
    def links(self) -> WalledLinkStore:
        from kebab.adapters.walled.others import WalledLinkStore

        return WalledLinkStore(self._whole.links, self.documents)

    @once
    def ledger(self) -> NoLedger:
        from kebab.adapters.walled.others import NoLedger

        return NoLedger()

    @once
    def answers(self) -> WalledAnswerStore:
        from kebab.adapters.walled.others import WalledAnswerStore

        return WalledAnswerStore(self._whole.answers)

    @once
    def evaluations(self) -> NoEvaluations:
        from kebab.adapters.walled.others import NoEvaluations

        return NoEvaluations()


class WalledEngines(Engines):
    """Engines whose stores for reading, and whose memory, hold what is inside the walls.

    What is derived is still made from the whole: who writes a note must not leave an index behind.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        readonly: bool,
        waiting: Waiting,
        walls: Walls,
        published: Published | None = None,
    ) -> None:
        super().__init__(settings, readonly=readonly, waiting=waiting, published=published)
        self.walls: Walls = walls

    def opened(self, database: Database) -> Stores:
        return WalledStores(database, self.walls) if self.walls.documents else Stores(database)

    def words_read(self, index: LexicalIndex) -> LexicalIndex:
        from kebab.adapters.walled.words import WalledLexicalIndex

        stores = self.reading
        return WalledLexicalIndex(index, stores.documents) if isinstance(stores, WalledStores) else index

    @property
    def answers(self) -> AnswerStore:
        from kebab.adapters.walled.others import WalledAnswerStore

        return WalledAnswerStore(super().answers)

    @property
    def execution_store(self) -> ExecutionStore:
        from kebab.adapters.walled.memory import WalledExecutionStore

        self._require_scope()
        return WalledExecutionStore(super().execution_store, self.walls)

    def execution_index(self, kind: MemoryKind) -> ExecutionIndex:
        from kebab.adapters.walled.memory import WalledExecutionIndex

        self._require_scope()
        return WalledExecutionIndex(super().execution_index(kind), self.walls, kind=kind)

    def require_whole(self, what: str) -> None:
        raise OutsideWalls(f"{what} is about the whole knowledge base", hint="open it without walls")

    def beside(self, folder: Path) -> Engines:
        raise OutsideWalls("a copy of the knowledge base cannot be opened inside walls")

    def _require_scope(self) -> None:
        if self.walls.closes_memory:
            raise OutsideWalls(
                "the execution memory is closed: documents have walls and runs have none",
                hint="open it with a scope too: --scope project=NAME",
            )
