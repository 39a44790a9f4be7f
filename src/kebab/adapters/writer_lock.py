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
from kebab.domain.turns import Waiting, unheard
from kebab.errors import Locked, StorageError

# Windows locks the first byte, and nobody else can read what is locked: the note begins after it.
_NOTE_AT = 1
_LONGEST_NOTE = 65_536
_SHORTEST_S, _LONGEST_S = 0.001, 0.02
"""How often a lock is tried that somebody else has."""
_PATIENCE_S = 0.5


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
def writer_lock(
    path: Path,
    *,
    command: str,
    timeout_s: float = 0.0,
    waiting: Waiting = unheard,
    holder: Path | None = None,
) -> Iterator[None]:
    """Hold the lock while the block runs. Raises Locked, naming the owner, when it is not free in time.

    ``waiting`` hears for whom it waits, once it has waited for a moment. ``holder`` is the lock whose owner
    is named, where that is another one.
    """
    descriptor = _opened(path)
    try:
        _acquire(descriptor, path, timeout_s=timeout_s, waiting=waiting, holder=holder)
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


def _acquire(descriptor: int, path: Path, *, timeout_s: float, waiting: Waiting, holder: Path | None) -> None:
    began, pause, told = time.monotonic(), _SHORTEST_S, False
    while not _tried(descriptor, path):
        waited = time.monotonic() - began
        if waited >= timeout_s:
            raise _refusal(_owner(descriptor, holder), waited)
        if waited >= _PATIENCE_S and not told:
            told = True
            waiting(f"waiting for {_owner(descriptor, holder)}")
        time.sleep(min(pause, timeout_s - waited))
        pause = min(2 * pause, _LONGEST_S)


def _tried(descriptor: int, path: Path) -> bool:
    try:
        return try_lock(descriptor)
    except OSError as error:
        raise StorageError(f"cannot lock {path}: {error.strerror}") from error


def _owner(descriptor: int, holder: Path | None) -> LockOwner:
    return (lock_owner(holder) if holder else None) or _signature(descriptor)


def _refusal(owner: LockOwner, waited_s: float) -> Locked:
    here = owner.pid == os.getpid() and owner.host == socket.gethostname()
    who = "another thread of this process writes" if here else "another process writes"
    waited = f"; waited {_duration(waited_s)}" if waited_s >= 1 else ""
    return Locked(
        f"{who}: {owner}{waited}",
        hint="try again when it is done, or set storage.lock_timeout_s higher; reading works meanwhile",
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
