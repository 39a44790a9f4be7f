"""Files and folders that only their owner can read, created and opened without following links.

Modes and owners are those of POSIX. Windows has neither: there the folder's inherited permissions hold, and
what this module says about modes, owners and links is not tested.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

FOLDER_MODE = 0o700
FILE_MODE = 0o600

_BINARY = getattr(os, "O_BINARY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
# Opening a planted pipe must not wait for somebody to write into it.
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)


def current_user() -> int | None:
    """The id of the user whose rights this process has; None where users have no numbers."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def make_folder(folder: Path) -> None:
    """Create a folder and those above it that are missing, each private whatever the umask.

    Raises OSError.
    """
    missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    for each in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(each, FOLDER_MODE)
            os.chmod(each, FOLDER_MODE)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))


def open_private(path: Path, *, create: bool = False, write: bool = False) -> int:
    """A descriptor of a regular file, opened without following a link; a created one is private.

    Raises OSError, also for what is a link or no regular file.
    """
    how = (os.O_RDWR if write else os.O_RDONLY) | (os.O_CREAT if create else 0)
    descriptor = os.open(path, how | _NOFOLLOW | _NONBLOCK | _BINARY, FILE_MODE)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Not a regular file", str(path))
    return descriptor


def create_file(path: Path) -> BinaryIO:
    """A new private file, open for writing, in place of what has that name; a link is replaced, not followed.

    Raises OSError.
    """
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _BINARY, FILE_MODE)
    file = os.fdopen(descriptor, "wb")
    restrict(path, FILE_MODE)
    return file


def ensure_file(path: Path) -> None:
    """Create an empty private file unless there is one: engines give theirs the mode of the umask.

    Raises OSError, also for a link.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, "it is a symbolic link", str(path))
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, FILE_MODE))
        restrict(path, FILE_MODE)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A private draft that takes the file's place at the end, whole and on disk; nothing happens on an error.

    Raises OSError.
    """
    draft = path.with_name(f".{path.name}.part")
    try:
        with create_file(draft) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def restrict(path: str | Path, mode: int) -> None:
    """Set the mode of a path that is no link. What cannot be changed, such as another user's, stays."""
    with suppress(OSError):
        os.chmod(path, mode)
