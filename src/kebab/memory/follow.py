"""Bringing an index up to the store's revision; after a crash this is all that has to be done."""

from __future__ import annotations

from collections.abc import Sequence

from kebab.ports import ExecutionIndex, ExecutionStore, MemoryChanges, MemoryEntry, MemoryKind, Saved

BATCH = 2000


def catch_up(store: ExecutionStore, index: ExecutionIndex, kind: MemoryKind, *, latest: int) -> None:
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


def follow(
    store: ExecutionStore,
    index: ExecutionIndex,
    kind: MemoryKind,
    *,
    saved: Saved,
    entries: Sequence[MemoryEntry],
) -> None:
    """Take in what was just written without reading it back, unless the index was behind before."""
    if index.position() == saved.before:
        index.apply(MemoryChanges(saved.upto, tuple(entries)))
    else:
        catch_up(store, index, kind, latest=saved.upto)
