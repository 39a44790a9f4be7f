"""Folders for the time of one task. What a killed process left is recognised and removed.

Each holds a file that its owner keeps locked: while the lock is held the owner lives, and nobody touches the
folder. A process id in the name would not do, because ids are given again.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kebab.disk import locks
from kebab.disk.private import FOLDER_MODE, create_file, current_user, make_folder, open_private

PREFIX = ".kebab-"
_ALIVE = ".alive"
_WORK = "work"
_PLACE = ".place"
_LONGEST_PATH = 16_384
_OLD_S = 86_400


@contextmanager
def scratch_folder(parent: Path, purpose: str, *, noted_in: Path | None = None) -> Iterator[Path]:
    """A private, empty folder below ``parent``, removed at the end. First removes what killed processes left.

    With ``noted_in``, a folder that is swept by others, a note there leads them to a ``parent`` elsewhere.
    Raises OSError.
    """
    sweep(parent)
    folder, owner = _claimed(parent, purpose)
    note = _noted(folder, noted_in) if noted_in and noted_in != parent else None
    try:
        make_folder(folder / _WORK)
        yield folder / _WORK
    finally:
        locks.close(owner)
        shutil.rmtree(folder, ignore_errors=True)
        if note:
            with suppress(OSError):
                note.unlink(missing_ok=True)


def leftovers(parent: Path) -> list[Path]:
    """The folders and notes in ``parent``, and the folders noted there, that no living process owns."""
    return [path for path in _candidates(parent) if _is_dead(path)]


def sweep(parent: Path) -> list[Path]:
    """Remove ``leftovers``; returns what is gone. What cannot be removed stays, and is found again."""
    found = leftovers(parent)
    for path in found:
        if path.suffix == _PLACE:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        else:
            shutil.rmtree(path, ignore_errors=True)
    return [path for path in found if not os.path.lexists(path)]


def _claimed(parent: Path, purpose: str) -> tuple[Path, int]:
    """A new folder and its locked file."""
    while True:
        folder = parent / f"{PREFIX}{purpose}-{os.getpid()}-{os.urandom(4).hex()}"
        os.mkdir(folder, FOLDER_MODE)
        os.chmod(folder, FOLDER_MODE)
        # Another process may sweep the folder before it is locked, and then it is gone: take the next one.
        with suppress(FileNotFoundError):
            create_file(folder / _ALIVE).close()
            owner = open_private(folder / _ALIVE, write=True)
            if locks.try_lock(owner) and (folder / _ALIVE).exists():
                return folder, owner
            locks.close(owner)


def _noted(folder: Path, noted_in: Path) -> Path | None:
    """A note of where the folder is; None where none can be written."""
    note = noted_in / f"{folder.name}{_PLACE}"
    try:
        with create_file(note) as file:
            file.write(os.fsencode(folder.absolute()))
    except OSError:
        return None
    return note


def _candidates(parent: Path) -> Iterator[Path]:
    try:
        names = sorted(os.listdir(parent))
    except OSError:
        return
    for name in names:
        if not name.startswith(PREFIX):
            continue
        path = parent / name
        if path.suffix == _PLACE:
            # The folder before its note: killed in between, the note still leads there.
            if (elsewhere := _noted_folder(path)) is not None:
                yield elsewhere
            yield path
        elif _is_own_folder(path):
            yield path


def _noted_folder(note: Path) -> Path | None:
    try:
        descriptor = open_private(note)
    except OSError:
        return None
    try:
        folder = Path(os.fsdecode(os.read(descriptor, _LONGEST_PATH)))
    finally:
        os.close(descriptor)
    # Only a folder of the note's own name: a forged note must not have another one removed.
    return folder if folder.name == note.stem and _is_own_folder(folder) else None


def _is_own_folder(path: Path) -> bool:
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return False
    return stat.S_ISDIR(status.st_mode) and current_user() in (None, status.st_uid)


def _is_dead(path: Path) -> bool:
    if path.suffix == _PLACE:
        elsewhere = _noted_folder(path)
        return elsewhere is None or _is_dead(elsewhere)
    try:
        descriptor = open_private(path / _ALIVE)
    except FileNotFoundError:
        return _is_abandoned(path)
    except OSError:
        return False
    try:
        return locks.try_lock(descriptor)
    finally:
        locks.close(descriptor)


def _is_abandoned(folder: Path) -> bool:
    """Whether a folder without a lock is nobody's: it is empty, or old.

    A process killed before it could lock its folder leaves an empty one. Earlier versions locked none, and
    may still be at work in one that is young.
    """
    try:
        return not os.listdir(folder) or time.time() - folder.lstat().st_mtime > _OLD_S
    except OSError:
        return False
