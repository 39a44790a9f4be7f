"""One writer at a time: a lock that the operating system frees, whatever becomes of its owner.

The lock is ``flock`` on a file that is never removed. What the file says of the owner is for people only: a
note left by a killed process is overwritten by the next writer.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from kebab.errors import Locked, StorageError


@dataclass(frozen=True, slots=True)
class LockOwner:
    """Who holds the lock. ``since`` is seconds since the epoch."""

    pid: int
    host: str
    command: str
    since: float

    @property
    def age_s(self) -> float:
        return max(0.0, time.time() - self.since)

    def __str__(self) -> str:
        return f"`{self.command}` (process {self.pid} on {self.host}), for {_duration(self.age_s)}"


@contextmanager
def writer_lock(path: Path, *, command: str) -> Iterator[None]:
    """Hold the lock while the block runs. Raises Locked, naming the owner, without waiting."""
    descriptor = _opened(path)
    try:
        _acquire(descriptor, path)
        _held.add(descriptor)
        _sign(descriptor, command)
        yield
    finally:
        if descriptor in _held:
            _held.discard(descriptor)
            # A full disk must not hide the error that led here; the lock is freed all the same.
            with suppress(OSError):
                os.ftruncate(descriptor, 0)
        os.close(descriptor)


def lock_owner(path: Path) -> LockOwner | None:
    """Who writes now; None when nobody does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except OSError:
        return _signature(descriptor)
    finally:
        os.close(descriptor)


# A forked worker shares the open file, and with it the lock: it would hold it after its parent is killed.
_held: set[int] = set()


def _forget_in_child() -> None:
    for descriptor in _held:
        with suppress(OSError):
            os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_forget_in_child)


def _opened(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StorageError(
            f"cannot open the lock {path}: {error.strerror}", hint="check permissions of the data folder"
        ) from error


def _acquire(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise StorageError(f"cannot lock {path}: {error.strerror}") from error
        owner = _signature(descriptor)
        raise Locked(
            f"another process writes: {owner}",
            hint="wait until it is done; reading works meanwhile",
            details={"pid": owner.pid, "host": owner.host, "command": owner.command, "age_s": owner.age_s},
        ) from None


def _sign(descriptor: int, command: str) -> None:
    note = {"pid": os.getpid(), "host": socket.gethostname(), "command": command, "since": time.time()}
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(note).encode(), 0)
    except OSError as error:
        raise StorageError(f"cannot write the lock: {error.strerror}", hint="check free space") from error


def _signature(descriptor: int) -> LockOwner:
    """What the file says of its owner, who may be just about to write it."""
    try:
        note = json.loads(os.pread(descriptor, 65536, 0))
        return LockOwner(int(note["pid"]), str(note["host"]), str(note["command"]), float(note["since"]))
    except (ValueError, KeyError, TypeError):
        return LockOwner(0, "an unknown host", "kebab", time.time())


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
