"""Removing files and folders, whole."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from kebab.errors import StorageError


def remove_all(paths: Sequence[Path]) -> tuple[str, ...]:
    """Remove files and folders; returns those that were there.

    A folder is renamed first: killed half-way, no half of it is left under its name. Raises StorageError.
    """
    removed = []
    for path in paths:
        trash = path.with_name(f".{path.name}.removed")
        try:
            if trash.exists():
                shutil.rmtree(trash)
            if path.is_dir() and not path.is_symlink():
                path.rename(trash)
                shutil.rmtree(trash)
            elif path.exists() or path.is_symlink():
                path.unlink()
            else:
                continue
        except OSError as error:
            raise StorageError(f"{path} cannot be removed: {error.strerror}") from error
        removed.append(str(path))
    return tuple(removed)
