"""Paths as settings write them."""

from __future__ import annotations

import os
from pathlib import Path

from kebab.errors import ConfigInvalid


def absolute(path: str, base: Path) -> Path:
    """The path with ``~`` and variables filled in, relative to ``base``.

    Raises ConfigInvalid for a null, and for the home folder of nobody.
    """
    if "\0" in path:
        raise ConfigInvalid(f"{path!r} is not a path: it holds a null character")
    try:
        return Path(os.path.normpath(base / _filled_in(path)))
    except RuntimeError as error:  # pathlib's word for a home folder that it cannot find
        name = path.partition("/")[0]
        raise ConfigInvalid(
            f"{path}: there is no home folder {name}", hint="write the path in full"
        ) from error


def is_expanded(path: str) -> bool:
    """Whether a path depends on who reads it: it names a home folder or a variable."""
    return _filled_in(path) != Path(path)


def _filled_in(path: str) -> Path:
    return Path(os.path.expandvars(path)).expanduser()
