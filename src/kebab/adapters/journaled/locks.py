"""A lock that processes wait for in turn; the operating system frees it whatever becomes of its owner."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol
from weakref import WeakSet

from kebab.disk.locks import try_lock
from kebab.disk.private import make_folder, open_private
from kebab.errors import StorageError


class Forked(Protocol):
    def after_fork(self) -> None:
        """Begin anew in a forked child."""
        ...


_living: WeakSet[Forked] = WeakSet()


def renew_in_child(owner: Forked) -> None:
    """Call its ``after_fork`` in a forked child, as long as it is in use here."""
    _living.add(owner)


def _renew_all() -> None:
    for owner in list(_living):
        owner.after_fork()


if hasattr(os, "register_at_fork"):  # where processes fork
    os.register_at_fork(after_in_child=_renew_all)


class FileLock:
    """One lock file. Threads of one process and processes wait for each other; a thread may take it twice."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = threading.RLock()
        self._depth = 0
        self._descriptor: int | None = None
        renew_in_child(self)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock, after waiting for it. Raises StorageError where the file cannot be opened."""
        self._take(wait=True)
        try:
            yield
        finally:
            self._release()

    @contextmanager
    def held_if_free(self, *, wait: bool = False) -> Iterator[bool]:
        """Hold the lock if nobody else does, or after waiting; the value says whether it is held."""
        taken = self._take(wait=wait)
        try:
            yield taken
        finally:
            if taken:
                self._release()

    def _take(self, *, wait: bool) -> bool:
        if not self._thread.acquire(blocking=wait):
            return False
        try:
            if self._depth == 0 and not self._locked(wait=wait):
                self._thread.release()
                return False
        except BaseException:
            self._thread.release()
            raise
        self._depth += 1
        return True

    def _release(self) -> None:
        self._depth -= 1
        if self._depth == 0 and self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)
        self._thread.release()

    def _locked(self, *, wait: bool) -> bool:
        try:
            make_folder(self._path.parent)
            descriptor = open_private(self._path, create=True, write=True)
        except OSError as error:
            raise StorageError(
                f"cannot open the lock {self._path}: {error.strerror}",
                hint="check permissions of the data folder",
            ) from error
        if not _lock(descriptor, wait=wait):
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def after_fork(self) -> None:
        """A child shares the open file, and with it the lock: it would hold it after its parent died."""
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._thread, self._depth, self._descriptor = threading.RLock(), 0, None


def _lock(descriptor: int, *, wait: bool) -> bool:
    try:
        # The system's own queue: a waiting process sleeps and is woken in turn. The portable library polls.
        import fcntl
    except ImportError:
        return _lock_portably(descriptor, wait=wait)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _lock_portably(descriptor: int, *, wait: bool) -> bool:
    """Windows; not tested there."""
    import time

    while not try_lock(descriptor):
        if not wait:
            return False
        time.sleep(0.005)
    return True
