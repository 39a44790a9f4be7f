from __future__ import annotations

from dataclasses import dataclass

import pytest

from kebab.memory.follow import Followed
from kebab.memory.room import ExecutionMemory
from kebab.ports import MemoryKind
from tests.fakes import FakeEmbedder
from tests.memory_fakes import NOON, FakeExecutionIndex, FakeExecutionStore


@dataclass
class Bench:
    """A memory over fakes, and the fakes."""

    store: FakeExecutionStore
    executions: FakeExecutionIndex
    tasks: FakeExecutionIndex
    embedder: FakeEmbedder
    memory: ExecutionMemory


@pytest.fixture
def bench() -> Bench:
    store, executions, tasks = FakeExecutionStore(), FakeExecutionIndex(), FakeExecutionIndex()
    embedder = FakeEmbedder()
    memory = ExecutionMemory(
        store,
        Followed(store, executions, MemoryKind.EXECUTIONS),
        Followed(store, tasks, MemoryKind.TASKS),
        embedder,
        clock=lambda: NOON,
    )
    return Bench(store, executions, tasks, embedder, memory)
