"""Bringing an index up to the store's revision; after a crash this is all that has to be done."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from kebab.domain.executions import ExecutionFilters
from kebab.domain.fusion import Ranked
from kebab.errors import EngineError
from kebab.ports import (
    FollowerIndex,
    Frequencies,
    MemoryChanges,
    MemoryEntry,
    MemoryKind,
    RevisedStore,
    Saved,
    VectorSpace,
)

BATCH = 2000


@dataclass(frozen=True, slots=True)
class Followed:
    """ExecutionIndex over a store with revisions and an index that is fed from it."""

    store: RevisedStore
    index: FollowerIndex
    kind: MemoryKind
    fill: Callable[[], object] | None = None
    """Brings into the store what waits before it; without it the store is written directly."""

    def refresh(self) -> str:
        if self.fill is not None:
            self.fill()
        latest = self.store.revision(self.kind)  # a store that cannot be read is no degradation but an error
        try:
            catch_up(self.store, self.index, self.kind, latest=latest)
        except EngineError as error:
            return f"the index is behind the store: {error.message}"
        return ""

    def follow(self, saved: Saved | None, entries: Sequence[MemoryEntry]) -> None:
        """Take in what was just written without reading it back, unless the index was behind before."""
        if self.fill is not None:
            return
        if saved is not None and self.index.position() == saved.before:
            self.index.apply(MemoryChanges(saved.upto, tuple(entries)))
        else:
            latest = self.store.revision(self.kind) if saved is None else saved.upto
            catch_up(self.store, self.index, self.kind, latest=latest)

    def words(self, text: str, *, filters: ExecutionFilters, limit: int) -> list[Ranked]:
        return self.index.words(text, filters=filters, limit=limit)

    def nearest(
        self, vector: Sequence[float], *, space: VectorSpace, filters: ExecutionFilters, limit: int
    ) -> list[Ranked]:
        return self.index.nearest(vector, space=space, filters=filters, limit=limit)

    def spaces(self) -> dict[VectorSpace, int]:
        return self.index.spaces()

    def frequencies(self, terms: Collection[str]) -> Frequencies:
        return self.index.frequencies(terms)

    def held(self, texts: Mapping[str, str], terms: Collection[str]) -> dict[str, set[str]]:
        return self.index.held(texts, terms)


def catch_up(store: RevisedStore, index: FollowerIndex, kind: MemoryKind, *, latest: int) -> None:
    """Apply what the index lacks of the revision ``latest``; one small question where it lacks nothing."""
    position = index.position()
    if position > latest:
        latest = store.revision(kind)  # another process may have moved both in the meantime
    if position > latest:  # the store was put back from an older copy
        index.clear()
        position = 0
    while position < latest:
        changes = store.changes(kind, after=position, limit=BATCH)
        index.apply(changes)
        position = changes.upto
