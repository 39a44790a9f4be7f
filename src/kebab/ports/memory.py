"""The execution memory: its store, which is truth, and its indexes, which are derived."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from kebab.domain.values import dataclass

if TYPE_CHECKING:
    from kebab.domain.executions import Execution, ExecutionFilters, TaskRecord
    from kebab.domain.fusion import Ranked
    from kebab.domain.learning import Outcome, RetiredDay
    from kebab.domain.recalls import MemoryStats


class MemoryKind(StrEnum):
    """The two kinds of records; each has its own revision and its own index."""

    EXECUTIONS = "executions"
    TASKS = "tasks"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEntry:
    """What an index needs of a record. A task record leaves the fields that filters look at empty."""

    id: str
    text: str
    embedding: tuple[float, ...] | None = None
    embedding_model: str | None = None
    agent_id: str = ""
    agent_role: str | None = None
    task_type: str = ""
    provider: str = ""
    success: bool = False
    cost_cents: float = 0
    finished_at: datetime
    expires_at: datetime | None = None
    labels: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, record: Execution | TaskRecord) -> MemoryEntry:
        from kebab.domain.executions import TaskRecord

        if isinstance(record, TaskRecord):
            return cls(
                id=record.id,
                text=record.searched_text,
                embedding=record.embedding,
                embedding_model=record.embedding_model,
                finished_at=record.recorded_at,
            )
        return cls(
            id=record.id,
            text=record.searched_text,
            embedding=record.embedding,
            embedding_model=record.embedding_model,
            agent_id=record.agent_id,
            agent_role=record.agent_role,
            task_type=record.task_type,
            provider=record.provider,
            success=record.success,
            cost_cents=record.cost_cents,
            finished_at=record.finished_at,
            expires_at=record.expires_at,
            labels=record.labels,
        )


@dataclass(frozen=True, slots=True)
class MemoryChanges:
    """What happened up to the revision ``upto``: first forget ``removed``, then take ``entries``."""

    upto: int
    entries: tuple[MemoryEntry, ...]
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Saved:
    """A write took the store from one revision to another, with nothing in between."""

    before: int
    upto: int


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """Vectors that can be compared: those of one model and one length."""

    model: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Of ``records`` records, how many hold each term."""

    records: int
    holding: Mapping[str, int]


class ExecutionStore(Protocol):
    """The truth about what agents did: records and the graph between them.

    What was saved is on disk. A record with a known id replaces the old one. Reading where nothing was ever
    recorded finds nothing. Raises EngineUnavailable, Locked, StorageError; Corrupt for a row or a schema
    that does not fit the types, naming the field.
    """

    def writing(self) -> AbstractContextManager[None]:
        """While it is held no other process writes, where the store can promise that: to look, then write."""
        ...

    def save(self, executions: Sequence[Execution]) -> Saved | None: ...

    def save_tasks(self, tasks: Sequence[TaskRecord]) -> Saved | None: ...

    def load(self, ids: Sequence[str]) -> dict[str, Execution]:
        """Those that exist, in one query."""
        ...

    def load_tasks(self, ids: Sequence[str]) -> dict[str, TaskRecord]: ...

    def select(self, filters: ExecutionFilters, *, limit: int | None, offset: int = 0) -> list[Execution]:
        """Newest first by finished_at, then by id."""
        ...

    def every(self) -> Iterator[Execution]:
        """All executions in order of id."""
        ...

    def every_task(self) -> Iterator[TaskRecord]: ...

    def outcomes(self, filters: ExecutionFilters) -> list[Outcome]:
        """In no particular order."""
        ...

    def link(self, cause: str, effect: str) -> None:
        """State that one execution led to another. Linking twice is linking once."""
        ...

    def links(self) -> list[tuple[str, str]]:
        """Every pair of cause and effect that was stated by ``link``, sorted."""
        ...

    def causes(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """For each id the executions that led to it directly, known to the store or not, sorted."""
        ...

    def effects(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]: ...

    def documents_of(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """For each id the documents it used, sorted."""
        ...

    def users_of(self, document: str) -> tuple[str, ...]:
        """The executions that used a document, sorted."""
        ...

    def outdated(self, kind: MemoryKind, *, before: datetime, expired_at: datetime) -> list[str]:
        """The ids of what finished or was recorded earlier, or has expired; sorted."""
        ...

    def remove(self, kind: MemoryKind, ids: Sequence[str], *, retired: Sequence[RetiredDay] = ()) -> None:
        """Forget records with their edges, and documents that nothing uses any more; add to the days."""
        ...

    def retired(self) -> list[RetiredDay]:
        """The days of removed runs, by agent, type and day."""
        ...

    def stats(self) -> MemoryStats: ...

    def close(self) -> None:
        """Let go of the engine. The next use opens it again."""
        ...


class RevisedStore(ExecutionStore, Protocol):
    """A store with revisions, which an index can follow: each write is one transaction that moves one."""

    def identity(self) -> str:
        """Tells this store from any other; made with the store and never changed."""
        ...

    def save(self, executions: Sequence[Execution]) -> Saved: ...

    def save_tasks(self, tasks: Sequence[TaskRecord]) -> Saved: ...

    def revision(self, kind: MemoryKind) -> int: ...

    def changes(self, kind: MemoryKind, *, after: int, limit: int) -> MemoryChanges:
        """What changed since a revision, at most ``limit`` entries; ``upto`` says how far that reaches."""
        ...


class ExecutionIndex(Protocol):
    """Words and vectors over one kind of record."""

    def refresh(self) -> str:
        """See what was written since; empty, or why the index is behind. Raises where nothing can be read."""
        ...

    def follow(self, saved: Saved | None, entries: Sequence[MemoryEntry]) -> None:
        """What this process just wrote. Raises EngineError where the index cannot take it in now."""
        ...

    def words(self, text: str, *, filters: ExecutionFilters, limit: int) -> list[Ranked]:
        """Ids by BM25, best first, ties by id. Only records that share a term with the text; maybe none."""
        ...

    def nearest(
        self, vector: Sequence[float], *, space: VectorSpace, filters: ExecutionFilters, limit: int
    ) -> list[Ranked]:
        """Ids by cosine, best first, ties by id."""
        ...

    def spaces(self) -> dict[VectorSpace, int]:
        """The kinds of vectors there are, with the number of each."""
        ...

    def frequencies(self, terms: Collection[str]) -> Frequencies:
        """In how many records each term stands."""
        ...

    def held(self, texts: Mapping[str, str], terms: Collection[str]) -> dict[str, set[str]]:
        """Which of the terms stand in each record, given as id and searched text."""
        ...


class FollowerIndex(Protocol):
    """An index that is fed with changes. Applying the same change twice is applying it once."""

    @property
    def version(self) -> str:
        """Engine, layout and analyzer."""
        ...

    def position(self) -> int:
        """The revision up to which everything is searchable; 0 for a new index."""
        ...

    def apply(self, changes: MemoryChanges) -> None:
        """Take the changes in; searchable on return."""
        ...

    def words(self, text: str, *, filters: ExecutionFilters, limit: int) -> list[Ranked]: ...

    def nearest(
        self, vector: Sequence[float], *, space: VectorSpace, filters: ExecutionFilters, limit: int
    ) -> list[Ranked]: ...

    def spaces(self) -> dict[VectorSpace, int]: ...

    def frequencies(self, terms: Collection[str]) -> Frequencies: ...

    def held(self, texts: Mapping[str, str], terms: Collection[str]) -> dict[str, set[str]]: ...

    def clear(self) -> None:
        """Back to an empty index at position 0."""
        ...


class MemoryAccess(Protocol):
    """The execution memory's store and indexes, opened when they are first used."""

    @property
    def execution_store(self) -> ExecutionStore: ...

    def execution_index(self, kind: MemoryKind) -> ExecutionIndex: ...

    def memory_faults(self) -> list[str]:
        """What of all that a search of the memory reads is not as it was written."""
        ...

    def mend_memory(self) -> None:
        """Build what is derived anew."""
        ...
