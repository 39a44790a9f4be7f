"""JournaledExecutionStore: writes go to the journal, reads come from the shelf, the store behind follows."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from kebab.adapters.journaled import queries
from kebab.adapters.journaled.locks import renew_in_child
from kebab.adapters.journaled.ops import Link, Op, Remove, encoded, put
from kebab.adapters.journaled.settle import settle
from kebab.adapters.journaled.shelf import Shelf
from kebab.domain.executions import Execution, ExecutionFilters, TaskRecord
from kebab.domain.learning import Outcome, RetiredDay
from kebab.domain.recalls import MemoryStats
from kebab.errors import EngineError
from kebab.ports import MemoryKind

SETTLE_S = 1.0
"""How long after a write the background looks whether there is enough to take in."""
ENOUGH_BYTES = 64 << 10
"""Less than this, some dozen records, is read from the journal as quickly as from the shelf."""
MUCH_BYTES = 4 << 20
"""From here on a writer takes it in itself."""
PATIENCE = 5
"""How often the background looks before it takes in less than enough."""
_IDS_A_LINE = 500

_log = logging.getLogger(__name__)


class JournaledExecutionStore:
    """ExecutionStore of one data folder, for any number of processes.

    A write is one append to the journal, on disk on return. A thread takes it into the shelf soon after, and
    ``tidy`` then lets the store behind follow. A process that ends before that loses nothing: the journal is
    read with the shelf, and the next writer takes it in.
    """

    def __init__(self, shelf: Shelf, *, tidy: Callable[[], None]) -> None:
        self._shelf = shelf
        self._journal = shelf.journal
        self._tidy = tidy
        self._wrote = False
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._wake, self._stopped = threading.Event(), threading.Event()
        renew_in_child(self)

    def writing(self) -> AbstractContextManager[None]:
        return self._journal.writing()

    def save(self, executions: Sequence[Execution]) -> None:
        self._write([put(item) for item in executions])

    def save_tasks(self, tasks: Sequence[TaskRecord]) -> None:
        self._write([put(item) for item in tasks])

    def link(self, cause: str, effect: str) -> None:
        self._write([Link(cause, effect)])

    def remove(self, kind: MemoryKind, ids: Sequence[str], *, retired: Sequence[RetiredDay] = ()) -> None:
        parts = [list(ids[start : start + _IDS_A_LINE]) for start in range(0, len(ids), _IDS_A_LINE)] or [[]]
        self._write([Remove(kind, part, list(retired) if not n else []) for n, part in enumerate(parts)])

    def load(self, ids: Sequence[str]) -> dict[str, Execution]:
        with self._shelf.reading() as db:
            return queries.load(db, MemoryKind.EXECUTIONS, ids)

    def load_tasks(self, ids: Sequence[str]) -> dict[str, TaskRecord]:
        with self._shelf.reading() as db:
            return queries.load(db, MemoryKind.TASKS, ids)

    def select(self, filters: ExecutionFilters, *, limit: int | None, offset: int = 0) -> list[Execution]:
        with self._shelf.reading() as db:
            return queries.select(db, filters, limit=limit, offset=offset)

    def every(self) -> Iterator[Execution]:
        return self._every(MemoryKind.EXECUTIONS)

    def every_task(self) -> Iterator[TaskRecord]:
        return self._every(MemoryKind.TASKS)

    def outcomes(self, filters: ExecutionFilters) -> list[Outcome]:
        with self._shelf.reading() as db:
            return queries.outcomes(db, filters)

    def links(self) -> list[tuple[str, str]]:
        with self._shelf.reading() as db:
            return queries.links(db)

    def causes(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return self._neighbours(ids, way="causes")

    def effects(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return self._neighbours(ids, way="effects")

    def documents_of(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return self._neighbours(ids, way="documents")

    def users_of(self, document: str) -> tuple[str, ...]:
        with self._shelf.reading() as db:
            return queries.users_of(db, document)

    def outdated(self, kind: MemoryKind, *, before: datetime, expired_at: datetime) -> list[str]:
        with self._shelf.reading() as db:
            return queries.outdated(db, kind, before=before, expired_at=expired_at)

    def retired(self) -> list[RetiredDay]:
        with self._shelf.reading() as db:
            return queries.retired(db)

    def stats(self) -> MemoryStats:
        with self._shelf.reading() as db:
            return queries.stats(db)

    def close(self) -> None:
        """Take in what is in the journal where that is much, and let go of the files."""
        if self._wrote and self._behind() >= ENOUGH_BYTES:
            self._take_in(wait=True)
        self._stopped.set()
        self.after_fork()
        self._shelf.close()

    def _write(self, ops: Sequence[Op]) -> None:
        self._journal.append([encoded(op) for op in ops])
        self._wrote = True
        # Who writes much at once helps: readers would have to go through all of it, and each on its own.
        if self._behind() >= MUCH_BYTES:
            self._take_in(wait=True)
        self._wake.set()
        with self._starting:
            if self._thread is None:
                arguments = (self._wake, self._stopped)
                self._thread = threading.Thread(target=self._follow, args=arguments, daemon=True)
                self._thread.start()

    def _follow(self, wake: threading.Event, stopped: threading.Event) -> None:
        looked = 0
        while not stopped.is_set():
            wake.wait()
            if stopped.wait(SETTLE_S * random.uniform(0.5, 1.5)):  # not all processes at one moment
                return
            looked += 1
            if self._behind() >= ENOUGH_BYTES or looked >= PATIENCE:
                looked = 0
                wake.clear()
                self._take_in()

    def _behind(self) -> int:
        """How many bytes of the journal the shelf lacks."""
        try:
            return self._journal.end() - max(self._shelf.position(), self._journal.first())
        except EngineError:
            return ENOUGH_BYTES

    def _take_in(self, *, wait: bool = False) -> None:
        """The records are safe already: what fails here is done by the next writer."""
        try:
            if self._shelf.catch_up(wait=wait):
                settle(self._shelf, wait=wait)
            self._tidy()
        except EngineError as error:
            _log.warning(
                "the records are safe in the journal, but did not reach the store: %s", error.message
            )

    def _every(self, kind: MemoryKind) -> Iterator[Any]:
        last: str | None = None
        while True:
            with self._shelf.reading() as db:
                rows = queries.page(db, kind, after=last)
            yield from rows
            if len(rows) < queries.PAGE:
                return
            last = rows[-1].id

    def _neighbours(self, ids: Sequence[str], *, way: str) -> dict[str, tuple[str, ...]]:
        with self._shelf.reading() as db:
            return queries.neighbours(db, ids, way=way)

    def after_fork(self) -> None:
        """As new: in a forked child the thread does not live on; nor does it after closing."""
        self._wrote = False
        self._thread = None
        self._starting = threading.Lock()
        self._wake, self._stopped = threading.Event(), threading.Event()
