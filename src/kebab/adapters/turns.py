"""Writers take turns: the lock is held for one step at a time, and whoever waits comes next.

Three files of the data folder, each locked by the operating system, which frees it whatever becomes of the
owner:

``writer.lock``    held during a turn: one change of the store or of an index
``writer.queue``   held while waiting for the next turn: a run that takes turn after turn meets it there and
                   lets the waiting one go first
``writer.charge``  held by the one run that brings derived data up to date; others leave that to it
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from kebab.adapters.writer_lock import LockOwner, lock_owner, writer_lock
from kebab.domain.turns import Waiting, unheard
from kebab.errors import Locked

QUEUE = "writer.queue"
CHARGE = "writer.charge"


class WriterTurns:
    """The writers of one data folder, threads of this process and other processes alike."""

    def __init__(self, lock: Path, *, timeout_s: float, waiting: Waiting = unheard) -> None:
        """``waiting`` hears for whom a writer waits, once it has waited for a moment."""
        self._lock = lock
        self._queue, self._charge = lock.with_name(QUEUE), lock.with_name(CHARGE)
        self._timeout_s = timeout_s
        self._waiting = waiting
        self._local = threading.local()

    @contextmanager
    def turn(self, command: str) -> Iterator[None]:
        """Keep other writers out while the block runs, which is to be short. Inside another turn of this
        thread it is a part of that one. Raises Locked, naming the owner, after the timeout.
        """
        depth: int = getattr(self._local, "depth", 0)
        with ExitStack() as stack:
            if not depth:
                stack.enter_context(self._next(command))
            self._local.depth = depth + 1
            try:
                yield
            finally:
                self._local.depth = depth

    @contextmanager
    def charge(self, command: str, *, wait: bool = True) -> Iterator[None]:
        """Be the one who brings derived data up to date. Raises Locked, at once where not to ``wait``."""
        timeout_s = self._timeout_s if wait else 0.0
        with writer_lock(self._charge, command=command, timeout_s=timeout_s, waiting=self._waiting):
            yield

    def owner(self) -> LockOwner | None:
        """Who brings derived data up to date now or, where nobody does, who has the turn."""
        return lock_owner(self._charge) or lock_owner(self._lock)

    @contextmanager
    def _next(self, command: str) -> Iterator[None]:
        deadline = time.monotonic() + self._timeout_s
        with ExitStack() as stack:
            with ExitStack() as queue:
                queue.enter_context(self._locked(self._queue, command, self._timeout_s))
                left = max(0.0, deadline - time.monotonic())
                stack.enter_context(self._locked(self._lock, command, left))
            yield

    def _locked(self, path: Path, command: str, timeout_s: float) -> AbstractContextManager[None]:
        return writer_lock(
            path, command=command, timeout_s=timeout_s, waiting=self._waiting, holder=self._lock
        )


class WriterRun:
    """The turns of one run of a command, and whether it is in charge."""

    def __init__(self, turns: WriterTurns, command: str, *, check: Callable[[], None]) -> None:
        """``check`` is made at the beginning of every turn."""
        self._turns = turns
        self._command = command
        self._check = check
        self._charge: ExitStack | None = None

    @contextmanager
    def turn(self) -> Iterator[None]:
        with self._turns.turn(self._command):
            self._check()
            yield

    def take_charge(self, *, wait: bool = False) -> bool:
        if self._charge is None:
            stack = ExitStack()
            try:
                stack.enter_context(self._turns.charge(self._command, wait=wait))
            except Locked:
                if wait:
                    raise
                return False
            self._charge = stack
        return True

    def leave_charge(self) -> None:
        if self._charge is not None:
            self._charge.close()
            self._charge = None

    def in_charge(self) -> str | None:
        owner = self._turns.owner()
        return str(owner) if owner else None
