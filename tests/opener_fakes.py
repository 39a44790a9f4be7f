"""Places that open stores, indexes and the memory, over the fakes of what they open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

from kebab.domain.progress import Progress, silent
from kebab.domain.turns import Alone, Turns
from kebab.errors import Corrupt, NotIndexed, ReadOnly
from kebab.memory.follow import Followed
from kebab.ports import ExecutionIndex, MemoryKind, ModelKey, VectorIndex
from tests.fakes import (
    FakeAnalyzer,
    FakeDocumentStore,
    FakeEmbeddingStore,
    FakeLedger,
    FakeLexicalIndex,
    FakeVectorIndex,
)
from tests.memory_fakes import FakeExecutionIndex, FakeExecutionStore
from tests.store_fakes import FakeStoreFile


class FakeStores:
    """The stores of one knowledge base; a copy of its file holds what they held."""

    def __init__(self) -> None:
        self.documents = FakeDocumentStore()
        self.embeddings = FakeEmbeddingStore(self.documents)
        self.ledger = FakeLedger()
        self.copies: dict[Path, FakeStores] = {}
        self.database = _CopiedFile(self)


class _CopiedFile(FakeStoreFile):
    def __init__(self, stores: FakeStores) -> None:
        super().__init__()
        self._stores = stores

    def back_up(self, target: Path, progress: Progress = silent) -> None:
        super().back_up(target, progress)
        copy = FakeStores()
        copy.documents = deepcopy(self._stores.documents)
        self._stores.copies[target] = copy


@dataclass
class FakeStoreAccess:
    readonly: bool = False
    _stores: FakeStores | None = None
    _writer: str | None = None
    _copies: dict[Path, FakeStores] = field(default_factory=dict)

    def require(self) -> None:
        if self._stores is None:
            raise NotIndexed("there is no knowledge base")

    @property
    def reading(self) -> FakeStores:
        self.require()
        assert self._stores is not None
        return self._stores

    @property
    def reading_or_none(self) -> FakeStores | None:
        return self._stores

    @contextmanager
    def session(self, command: str, *, in_charge: bool = False) -> Iterator[tuple[FakeStores, Turns]]:
        with self.writing(command) as stores:
            yield stores, Alone()

    @contextmanager
    def writing(self, command: str) -> Iterator[FakeStores]:
        with self.locked(command):
            self._stores = self._stores or FakeStores()
            yield self._stores

    @contextmanager
    def locked(self, command: str) -> Iterator[None]:
        self.forbid_readonly(command)
        self._writer = command
        try:
            yield
        finally:
            self._writer = None

    def lock_owner(self) -> str | None:
        return self._writer

    @contextmanager
    def opened_copy(self, file: Path) -> Iterator[FakeStores]:
        copies = self._stores.copies if self._stores else {}
        if file not in copies:
            raise Corrupt(f"{file} is no knowledge base")
        yield copies[file]

    def forbid_readonly(self, command: str) -> None:
        if self.readonly:
            raise ReadOnly(f"{command} would write")

    def close(self) -> None:
        """There is nothing to let go of."""


@dataclass
class FakeIndexes:
    lexical_index: FakeLexicalIndex = field(default_factory=lambda: FakeLexicalIndex(FakeAnalyzer()))
    _vectors: dict[ModelKey, FakeVectorIndex] = field(default_factory=dict)

    def vector_index(self, model: ModelKey) -> VectorIndex:
        return self._vectors.setdefault(model, FakeVectorIndex(model))

    def other_vector_files(self, models: Sequence[ModelKey]) -> list[Path]:
        return []


@dataclass
class FakeMemoryAccess:
    execution_store: FakeExecutionStore = field(default_factory=FakeExecutionStore)
    _indexes: dict[MemoryKind, Followed] = field(default_factory=dict)

    def execution_index(self, kind: MemoryKind) -> ExecutionIndex:
        made = Followed(self.execution_store, FakeExecutionIndex(), kind)
        return self._indexes.setdefault(kind, made)

    def memory_faults(self) -> list[str]:
        return []

    def mend_memory(self) -> None:
        self._indexes.clear()
