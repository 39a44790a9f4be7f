"""The execution memory joined to its engines: the store that holds it and the indexes that find in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.assembly.choice import chosen
from kebab.assembly.once import is_built, once
from kebab.config.sections import Memory
from kebab.errors import EngineError
from kebab.memory.embedding import UnavailableEmbedder
from kebab.memory.room import ExecutionMemory
from kebab.ports import Embedder, ExecutionIndex, MemoryKind

if TYPE_CHECKING:
    from kebab.adapters.surreal.connection import SurrealConnection
    from kebab.adapters.surreal.store import SurrealExecutionStore
    from kebab.assembly.engines import Engines
    from kebab.search.analyze import Analyzer


class MemoryEngines:
    """Store and indexes over one connection, made when one of them is first asked for."""

    def __init__(self, settings: Memory, *, folder: Path, analyzer: Analyzer) -> None:
        self.settings = settings
        self.folder = folder
        self.analyzer = analyzer

    def close(self) -> None:
        if is_built(self, "_connection"):
            self._connection.close()

    @once
    def _connection(self) -> SurrealConnection:
        from kebab.adapters.surreal.connection import SurrealConnection
        from kebab.adapters.surreal.schema import migrate

        return SurrealConnection(
            self.settings.url or f"surrealkv://{self.folder / 'store'}",
            namespace=self.settings.namespace,
            database=self.settings.database,
            username=os.environ.get("KEBAB_MEMORY_USER", ""),
            password=os.environ.get("KEBAB_MEMORY_PASSWORD", ""),
            on_open=migrate,
        )

    @once
    def store(self) -> SurrealExecutionStore:
        from kebab.adapters.surreal.store import SurrealExecutionStore

        return SurrealExecutionStore(self._connection, analyzer=self.analyzer)

    def index(self, kind: MemoryKind) -> ExecutionIndex:
        builders = {"derived": self._derived, "native": self._native}
        return chosen(builders, self.settings.search, key="memory.search")(kind)

    def _derived(self, kind: MemoryKind) -> ExecutionIndex:
        from kebab.adapters.execution_index.index import SidecarExecutionIndex

        def folder() -> Path:
            return self.folder / "index" / self.store.identity() / kind

        return SidecarExecutionIndex(folder, analyzer=self.analyzer)

    def _native(self, kind: MemoryKind) -> ExecutionIndex:
        from kebab.adapters.surreal.native import SurrealExecutionIndex

        return SurrealExecutionIndex(self._connection, kind=kind, analyzer=self.analyzer)


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
        readonly=engines.readonly,
    )
