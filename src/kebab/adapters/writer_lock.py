"""One writer at a time: a lock that the operating system frees, whatever becomes of its owner.

The lock is on a file that is never removed. What the file says of the owner is for people only: a note left
by a killed process is overwritten by the next writer.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from kebab.disk.locks import close, holds, try_lock
from kebab.disk.private import FILE_MODE, make_folder, open_private, restrict
from kebab.errors import Locked, StorageError

# Windows locks the first byte, and nobody else can read what is locked: the note begins after it.
_NOTE_AT = 1
_LONGEST_NOTE = 65_536


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
        _sign(descriptor, command)
        yield
    finally:
        if holds(descriptor):
            # A full disk must not hide the error that led here; the lock is freed all the same.
            with suppress(OSError):
                _write(descriptor, b"")
        close(descriptor)


def lock_owner(path: Path) -> LockOwner | None:
    """Who writes now; None when nobody does."""
    try:
        descriptor = open_private(path)
    except OSError:
        return None
    try:
        return None if try_lock(descriptor) else _signature(descriptor)
    except OSError:
        return _signature(descriptor)
    finally:
        close(descriptor)


def _opened(path: Path) -> int:
    try:
        make_folder(path.parent)
        descriptor = open_private(path, create=True, write=True)
    except OSError as error:
        raise StorageError(
            f"cannot open the lock {path}: {error.strerror}",
            hint="it must be a plain file of yours: check the permissions of the data folder",
        ) from error
    restrict(path, FILE_MODE)
    return descriptor


def _acquire(descriptor: int, path: Path) -> None:
    try:
        if try_lock(descriptor):
            return
    except OSError as error:
        raise StorageError(f"cannot lock {path}: {error.strerror}") from error
    owner = _signature(descriptor)
    raise Locked(
        f"another process writes: {owner}",
        hint="wait until it is done; reading works meanwhile",
        details={"pid": owner.pid, "host": owner.host, "command": owner.command, "age_s": owner.age_s},
    )


def _sign(descriptor: int, command: str) -> None:
    note = {"pid": os.getpid(), "host": socket.gethostname(), "command": command, "since": time.time()}
    try:
        _write(descriptor, b" " * _NOTE_AT + json.dumps(note).encode())
    except OSError as error:
        raise StorageError(f"cannot write the lock: {error.strerror}", hint="check free space") from error


def _write(descriptor: int, content: bytes) -> None:
    # A file with a second name may be somebody's document: it is locked, never written.
    if os.fstat(descriptor).st_nlink > 1:
        return
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, content)


def _signature(descriptor: int) -> LockOwner:
    """What the file says of its owner, who may be just about to write it."""
    try:
        os.lseek(descriptor, _NOTE_AT, os.SEEK_SET)
        note = json.loads(os.read(descriptor, _LONGEST_NOTE))
        return LockOwner(int(note["pid"]), str(note["host"]), str(note["command"]), float(note["since"]))
    except (OSError, ValueError, KeyError, TypeError):
        return LockOwner(0, "an unknown host", "kebab", time.time())


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
