"""Files whose name a person gave: written beside and then put in place, never replaced unless asked."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from kebab.errors import InvalidInput, StorageError

# File systems without hard links say so in different ways.
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EMLINK}


def check_target(path: Path, *, force: bool) -> None:
    """Raises InvalidInput where the path may not be written: an existing file needs ``force``.

    A link, a folder or a device is refused even so: what it would replace is not what its name says.
    """
    try:
        found = path.lstat()
    except OSError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise InvalidInput(f"{path} is a symbolic link", hint=f"name the file itself: {path.resolve()}")
    if stat.S_ISDIR(found.st_mode):
        raise InvalidInput(f"{path} is a folder", hint="name a file in it")
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(f"{path} is no regular file", hint="name a file that may be created")
    if not force:
        raise InvalidInput(f"{path} exists already", hint="name another file, or replace it with --force")


@contextmanager
def named_file(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A new file, open for writing, that takes its name at the end, whole and on disk.

    On any error nothing has happened to what has the name. Raises InvalidInput like ``check_target``, also
    when the file appears meanwhile, and StorageError.
    """
    check_target(path, force=force)
    draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        with storing(path), draft.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        put_in_place(draft, path, force=force)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def put_in_place(draft: Path, path: Path, *, force: bool) -> None:
    """Give a finished file its name; one that is replaced leaves its permissions to it.

    Raises like ``named_file``.
    """
    check_target(path, force=force)
    with storing(path):
        if not force and _linked(draft, path):
            return
        with suppress(FileNotFoundError):
            os.chmod(draft, stat.S_IMODE(path.lstat().st_mode))
        check_target(path, force=force)
        draft.replace(path)


def _linked(draft: Path, path: Path) -> bool:
    """Give the file its name unless something has it; False where the file system has no links."""
    try:
        os.link(draft, path)
    except FileExistsError:
        check_target(path, force=False)
        raise
    except OSError as error:
        if error.errno in _NO_LINKS:
            return False
        raise
    draft.unlink()
    return True


@contextmanager
def storing(path: Path) -> Iterator[None]:
    """Raise StorageError, with the name that a person gave, for what the file system refuses."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written: {error.strerror or error}", hint="check free space and permissions"
        ) from error
