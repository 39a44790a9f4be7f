"""The secret that a caller from elsewhere must know; it is made once and kept in a private file."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from kebab.disk.private import create_file, make_folder, open_private
from kebab.errors import StorageError

FILE_NAME = "serve.token"


def ensure_token(data_dir: Path, *, renew: bool = False) -> tuple[str, bool]:
    """The token, and whether it was made just now. The file is readable by its owner alone.

    Raises StorageError where the file cannot be read or written, or is empty.
    """
    path = data_dir / FILE_NAME
    try:
        if path.exists() and not renew:
            return _read(path), False
        make_folder(data_dir)
        token = secrets.token_urlsafe(32)
        with create_file(path) as file:
            file.write(f"{token}\n".encode())
    except OSError as error:
        raise StorageError(f"the token file {path} cannot be used: {error.strerror}") from error
    return token, True


def _read(path: Path) -> str:
    with os.fdopen(open_private(path), "rb") as file:
        token = file.read(1000).decode("ascii", "replace").strip()
    if len(token) < 16:
        raise StorageError(f"the token file {path} holds no token", hint="make a new one with --new-token")
    return token


def same(given: str, expected: str) -> bool:
    """Compared in constant time, so that the time tells nothing of how much is right."""
    return secrets.compare_digest(given.encode("utf-8", "replace"), expected.encode())
