"""Connections to one file, few and shared: lent to a thread for as long as it reads or writes."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from kebab.errors import Locked

SIZE = 8
"""Reading is short: more connections than this would wait for the interpreter, not for each other."""


class ClosingConnection(sqlite3.Connection):
    """Closes with its last reference; Python 3.13 would complain."""

    def __del__(self) -> None:
        # One that could not be opened cannot be closed either, and says so.
        with suppress(sqlite3.ProgrammingError):
            self.close()


@dataclass(slots=True)
class _Loan:
    """A connection in a thread's hands; ``depth`` counts the uses that are inside each other."""

    connection: ClosingConnection
    depth: int = 0


class Pool:
    """At most ``size`` connections, each lent to one thread at a time.

    A thread that asks again while it holds one gets the same one, so that it never waits for itself. What is
    lent when the pool is closed may be used to its end, and is closed then.
    """

    def __init__(
        self, connect: Callable[[], ClosingConnection], *, size: int = SIZE, patience_s: float = 10.0
    ) -> None:
        self._connect = connect
        self._size = size
        self._patience_s = patience_s
        self._changed = threading.Condition()
        self._idle: list[ClosingConnection] = []
        self._lent = 0
        self._closed = False
        self._own = threading.local()

    @property
    def held(self) -> bool:
        """Whether this thread holds a connection now."""
        return self._loan() is not None

    @contextmanager
    def lent(self) -> Iterator[ClosingConnection]:
        """Raises Locked where every connection stays in use for too long."""
        loan = self._loan() or self._borrowed()
        loan.depth += 1
        try:
            yield loan.connection
        finally:
            # Maybe in another thread: that of whoever drops a generator which was reading.
            with self._changed:
                loan.depth -= 1
                if not loan.depth:
                    self._take_back(loan.connection)

    def close(self) -> None:
        """Close what is idle; what is lent, now or later, is closed as it comes back."""
        with self._changed:
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    def _loan(self) -> _Loan | None:
        loan: _Loan | None = getattr(self._own, "loan", None)
        return loan if loan is not None and loan.depth else None

    def _borrowed(self) -> _Loan:
        with self._changed:
            deadline = time.monotonic() + self._patience_s
            while not self._idle and self._lent >= self._size:
                if not self._changed.wait(deadline - time.monotonic()):
                    raise Locked(
                        f"all {self._size} connections to the store are in use", hint="try again later"
                    )
            self._lent += 1
            # The one that came back last has the warmest cache.
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = self._connected()
        loan = self._own.loan = _Loan(connection)
        return loan

    def _connected(self) -> ClosingConnection:
        try:
            return self._connect()
        except BaseException:
            with self._changed:
                self._lent -= 1
                self._changed.notify()
            raise

    def _take_back(self, connection: ClosingConnection) -> None:
        self._lent -= 1
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)
        self._changed.notify()
