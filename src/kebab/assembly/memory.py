"""The execution memory joined to its engines: where it is kept and what finds in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.assembly.choice import chosen
from kebab.assembly.installed import require
from kebab.assembly.once import is_built, once
from kebab.config.sections import Memory
from kebab.domain.executions import ExecutionFilters
from kebab.errors import EngineError
from kebab.memory.embedding import UnavailableEmbedder
from kebab.memory.room import ExecutionMemory
from kebab.ports import Embedder, ExecutionIndex, ExecutionStore, FollowerIndex, MemoryKind

if TYPE_CHECKING:
    from kebab.adapters.journaled.drain import Behind, Drain
    from kebab.adapters.journaled.shelf import Shelf
    from kebab.adapters.journaled.store import JournaledExecutionStore
    from kebab.adapters.surreal.connection import SurrealConnection
    from kebab.adapters.surreal.store import SurrealExecutionStore
    from kebab.assembly.engines import Engines
    from kebab.search.analyze import Analyzer

FOLDER_URL = "surrealkv://"


class MemoryEngines:
    """Store and indexes, made when one of them is first asked for.

    A folder is written through a journal and read from a shelf, so that any number of processes share it; the
    engine's own store stands behind them. A server is written and read directly.
    """

    def __init__(self, settings: Memory, *, folder: Path, analyzer: Analyzer, readonly: bool) -> None:
        self.settings = settings
        self.folder = folder
        self.analyzer = analyzer
        self.readonly = readonly

    @property
    def local(self) -> bool:
        """Whether the memory lies in a folder of this machine."""
        return not self.settings.url or self.settings.url.startswith(FOLDER_URL)

    @property
    def place(self) -> Path:
        """Where journal, shelf and the store behind them lie."""
        if not self.settings.url:
            return self.folder
        return Path(f"{self.settings.url.removeprefix(FOLDER_URL)}.memory")

    @property
    def _store_folder(self) -> Path:
        if not self.settings.url:
            return self.folder / "store"
        return Path(self.settings.url.removeprefix(FOLDER_URL))

    def close(self) -> None:
        if is_built(self, "store"):
            self.store.close()
        if is_built(self, "_connection"):
            self._connection.close()

    @once
    def store(self) -> ExecutionStore:
        _require_engine()
        return self._journaled if self.local else self._behind

    def index(self, kind: MemoryKind) -> ExecutionIndex:
        _require_engine()
        builders = {"derived": self._derived, "native": self._native}
        return chosen(builders, self.settings.search, key="memory.search")(kind)

    def faults(self) -> list[str]:
        """What of all that a search reads is not as it was written."""
        if not self.local:
            for kind in MemoryKind:
                index = self.index(kind)
                index.refresh()
                index.words("kebab", filters=ExecutionFilters(), limit=1)
                index.spaces()
            return []
        from kebab.adapters.journaled.check import faults

        return faults(self.shelf)

    def mend(self) -> None:
        """Make anew what is derived, and bring the journal into the store."""
        if self.local:
            from kebab.adapters.journaled.check import missing
            from kebab.adapters.journaled.settle import settle

            if missing(self.shelf):
                self.drain.begin_anew()  # first: the shelf may be the only place that still holds it
            self.shelf.rebuild()
            self.shelf.catch_up(wait=True)
            settle(self.shelf, wait=True)
            self.drain.run()
            return
        from kebab.memory.follow import Followed, catch_up

        for kind in MemoryKind:
            followed = self.index(kind)
            if isinstance(followed, Followed):
                followed.index.clear()
                catch_up(followed.store, followed.index, kind, latest=followed.store.revision(kind))

    @once
    def shelf(self) -> Shelf:
        from kebab.adapters.journaled.journal import Journal
        from kebab.adapters.journaled.shelf import Shelf

        return Shelf(
            self.place / "index",
            journal=Journal(self.place / "journal"),
            analyzer=self.analyzer,
            source=self.drain_source,
            readonly=self.readonly,
        )

    @once
    def drain(self) -> Drain:
        from kebab.adapters.journaled.drain import Drain

        return Drain(self.shelf, self.drain_source)

    @once
    def drain_source(self) -> Behind:
        from kebab.adapters.journaled.drain import Behind

        return Behind(self._store_folder, lambda: self._behind)

    @once
    def _journaled(self) -> JournaledExecutionStore:
        from kebab.adapters.journaled.store import JournaledExecutionStore

        return JournaledExecutionStore(self.shelf, tidy=lambda: self.drain.run_if_due())

    @once
    def _connection(self) -> SurrealConnection:
        from kebab.adapters.surreal.connection import SurrealConnection
        from kebab.adapters.surreal.schema import migrate

        return SurrealConnection(
            self.settings.url or f"{FOLDER_URL}{self._store_folder}",
            namespace=self.settings.namespace,
            database=self.settings.database,
            username=os.environ.get("KEBAB_MEMORY_USER", ""),
            password=os.environ.get("KEBAB_MEMORY_PASSWORD", ""),
            on_open=migrate,
        )

    @once
    def _behind(self) -> SurrealExecutionStore:
        from kebab.adapters.surreal.store import SurrealExecutionStore

        return SurrealExecutionStore(self._connection, analyzer=self.analyzer)

    def _derived(self, kind: MemoryKind) -> ExecutionIndex:
        if self.local:
            from kebab.adapters.journaled.index import ShelfIndex

            return ShelfIndex(self.shelf, kind)
        from kebab.adapters.execution_index.index import SidecarExecutionIndex

        def folder() -> Path:
            return self.folder / "index" / self._behind.identity() / kind

        return self._followed(SidecarExecutionIndex(folder, analyzer=self.analyzer), kind)

    def _native(self, kind: MemoryKind) -> ExecutionIndex:
        from kebab.adapters.surreal.native import SurrealExecutionIndex

        return self._followed(
            SurrealExecutionIndex(self._connection, kind=kind, analyzer=self.analyzer), kind
        )

    def _followed(self, index: FollowerIndex, kind: MemoryKind) -> ExecutionIndex:
        from kebab.memory.follow import Followed

        return Followed(self._behind, index, kind, fill=self.drain.run if self.local else None)


def build_memory(engines: Engines) -> ExecutionMemory:
    """The room over the configured store; a model that cannot be loaded is told of when it is needed."""
    try:
        embedder: Embedder | None = engines.embedder
    except EngineError as error:
        embedder = UnavailableEmbedder(error)
    return ExecutionMemory(
        engines.execution_store,
        engines.execution_index(MemoryKind.EXECUTIONS),
        engines.execution_index(MemoryKind.TASKS),
        embedder,
        engines.analyzer,
        readonly=engines.readonly,
    )


def _require_engine() -> None:
    """Asked at the start, and without importing it: a folder needs it only to be drained."""
    require("surrealdb", "the execution memory needs SurrealDB", extra="memory")
