"""How many searches of one process work at once: more would take the interpreter from each other.

A search gives the interpreter away dozens of times, to SQLite, to the engines, to a scan, for some
microseconds each. Where many threads search, each of these waits until another thread gives it back, and the
processors do more for less: eight threads got a fifth less done than one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock

AT_ONCE = 2
"""One works in the interpreter while another one is outside; with a third all of them got less done."""
PATIENCE_S = 0.1
"""Some dozen searches. Whoever waited so long goes in beside the others: they may be slow ones."""


class Turnstile:
    """Lets so many in at a time; who has waited long enough is let in as well."""

    def __init__(self, at_once: int = AT_ONCE, *, patience_s: float = PATIENCE_S) -> None:
        self._at_once = at_once
        self._patience_s = patience_s
        self.clear()

    def clear(self) -> None:
        """Count nobody: a process that was forked has none of the threads that are inside."""
        self._places = BoundedSemaphore(self._at_once)
        self._lock = Lock()
        self._here = 0

    @contextmanager
    def passed(self) -> Iterator[bool]:
        """Inside the block the caller counts as one that works; it must not pass again there.

        Tells whether the caller is alone, nobody else working or waiting: then a second thread helps.
        """
        with self._lock:
            self._here += 1
        has_place = False
        try:
            has_place = self._places.acquire(timeout=self._patience_s)
            yield self._here == 1
        finally:
            with self._lock:
                self._here -= 1
            if has_place:
                self._places.release()


OF_THIS_PROCESS = Turnstile()
"""The interpreter's lock is one for the process, however many knowledge bases it has open."""
