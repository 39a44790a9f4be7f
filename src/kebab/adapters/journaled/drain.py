"""Draining: what the journal holds reaches the store behind it, in order and exactly once.

How far the journal is in the store stands in the store, written by the transaction that brought it there. A
drain that is killed is continued from that place; two at once cannot be, for each waits for the lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kebab.adapters.journaled import queries
from kebab.adapters.journaled.journal import START, Line
from kebab.adapters.journaled.ops import Link, Op, Put, Remove, decoded, put, record_of
from kebab.adapters.journaled.shelf import Shelf, note, put_notes
from kebab.ports import MemoryKind

if TYPE_CHECKING:
    from kebab.adapters.surreal.store import SurrealExecutionStore

DRAIN_BYTES = 8 << 20
"""How much may stand in the journal before a writer drains it: some two thousand records with vectors."""
BATCH = 1000


@dataclass(frozen=True, slots=True)
class Behind:
    """The store behind the journal, opened only to be filled or to make a lost shelf again."""

    folder: Path
    open: Callable[[], SurrealExecutionStore]

    def exists(self) -> bool:
        """Whether something was ever drained; a damaged folder exists, too."""
        return self.folder.is_dir() and any(self.folder.iterdir())

    def lines(self) -> tuple[Iterable[tuple[Op, int]], int]:
        if not self.exists():
            return (), START
        store = self.open()
        position = store.journal_position() or START
        return _numbered(_lines(store)), position


@dataclass(frozen=True, slots=True)
class Drain:
    shelf: Shelf
    behind: Behind
    batch: int = BATCH

    def run_if_due(self) -> None:
        """Drain where much has gathered and nobody else is draining."""
        if self.pending() >= DRAIN_BYTES:
            self.run(wait=False)

    def pending(self) -> int:
        """How many bytes of the journal have not reached the store, as far as the shelf knows."""
        journal = self.shelf.journal
        if not journal.exists():
            return 0
        return journal.end() - max(self._drained(), journal.first())

    def run(self, *, wait: bool = True) -> bool:
        """Drain everything that is acknowledged now; False where another process is draining."""
        with self.shelf.drain_lock.held_if_free(wait=wait) as free:
            if not free or self.pending() == 0:
                return free
            store = self.behind.open()
            try:
                position = self._drain(store)
            finally:
                store.close()
            self.shelf.catch_up(wait=wait)
            with self.shelf.lock.held_if_free(wait=wait) as held:
                if held and self.shelf.file.exists():
                    with self.shelf.changing() as db:
                        put_notes(db, drained=position)
            self.shelf.journal.trim(min(position, self.shelf.position()))
            return True

    def begin_anew(self) -> None:
        """Give the store all that the shelf holds, and let the journal begin behind what it lost."""
        with self.shelf.drain_lock.held_if_free(wait=True), self.shelf.journal.writing():
            store = self.behind.open()
            try:
                self._complete(store)
                store.remove(MemoryKind.EXECUTIONS, [], journal=self.shelf.journal.renew())
            finally:
                store.close()

    def _drained(self) -> int:
        if not self.shelf.file.exists():
            return START
        with self.shelf.reading() as db:
            return int(note(db, "drained") or START)

    def _drain(self, store: SurrealExecutionStore) -> int:
        position = store.journal_position() or START
        if position < self.shelf.journal.first():
            self._complete(store)
            position = store.journal_position() or START
        while lines := list(islice(self.shelf.journal.read(position), self.batch)):
            for kind, group in groupby(map(_read, lines), key=_sort_of):
                position = _write(store, kind, list(group))
        return position

    def _complete(self, store: SurrealExecutionStore) -> None:
        """The store was put back from an older copy, or lost: give it all that the shelf holds."""
        first = self.shelf.journal.first()
        with self.shelf.reading_what_is_there() as db:
            for kind in MemoryKind:
                last: str | None = None
                while records := queries.page(db, kind, after=last):
                    _save(store, kind, records, journal=None)
                    last = records[-1].id
            for cause, effect in queries.links(db):
                store.link(cause, effect)
        store.remove(MemoryKind.EXECUTIONS, [], journal=first)


Step = tuple[Op | None, int]


def _read(line: Line) -> Step:
    """A damaged line is passed over; the journal's file is kept when the others have arrived."""
    return (None if line.payload is None else decoded(line.payload)), line.position


def _sort_of(step: Step) -> str:
    op, position = step
    if isinstance(op, Put):
        return op.kind.value
    return "damaged" if op is None else f"alone {position}"


def _write(store: SurrealExecutionStore, sort: str, steps: list[Step]) -> int:
    """One transaction for records of one kind that stand in a row, one for each other line."""
    position = steps[-1][1]
    op = steps[-1][0]
    if isinstance(op, Put):
        records = [
            record_of(op.kind, bytes(op.body), op.vector, op.model) for op, _ in steps if isinstance(op, Put)
        ]
        _save(store, MemoryKind(sort), records, journal=position)
    elif isinstance(op, Remove):
        store.remove(op.kind, op.ids, retired=op.days, journal=position)
    elif isinstance(op, Link):
        store.link(op.cause, op.effect, journal=position)
    else:
        store.remove(MemoryKind.EXECUTIONS, [], journal=position)
    return position


def _save(store: SurrealExecutionStore, kind: MemoryKind, records: list[Any], *, journal: int | None) -> None:
    save = store.save if kind is MemoryKind.EXECUTIONS else store.save_tasks
    save(records, journal=journal)


def _lines(store: SurrealExecutionStore) -> Iterator[Op]:
    yield from map(put, store.every())
    yield from map(put, store.every_task())
    for cause, effect in store.links():
        yield Link(cause, effect)
    yield Remove(MemoryKind.EXECUTIONS, [], store.retired())
    store.close()


def _numbered(ops: Iterable[Op]) -> Iterator[tuple[Op, int]]:
    return ((op, place) for place, op in enumerate(ops, start=1))
