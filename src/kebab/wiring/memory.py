"""The execution memory joined to its engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kebab.errors import EngineError
from kebab.memory.embedding import UnavailableEmbedder
from kebab.memory.room import ExecutionMemory
from kebab.ports import Embedder, MemoryKind

if TYPE_CHECKING:
    from kebab.engines import Engines


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
