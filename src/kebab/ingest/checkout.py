"""Which repository a folder is a checkout of, read from its ``.git`` without running git."""

from __future__ import annotations

import re
from pathlib import Path

MARK = ".git"
_MAX_BYTES = 1 << 16
_LEVELS = 64
_SECTION = re.compile(r'^[ \t]*+\[[ \t]*+remote[ \t]++"origin"[ \t]*+\]')
_URL = re.compile(r"^[ \t]*+url[ \t]*+=[ \t]*+(\S+)")
_WITH_HOST = re.compile(r"^(?:[a-z+]{2,20}://[^/]*+/(.*)|[^/:]{2,}+:(?!/)(.*))", re.DOTALL)
_NAME = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)*")
_MAX_NAME = 200


def repository(folder: Path) -> str:
    """The name of the repository whose checkout this folder is: ``owner/name``, as its origin's address ends.

    Without an origin, or where that is a folder, the last name alone.
    """
    return _named(_origin(folder / MARK)) or folder.resolve().name


def enclosing(folder: Path) -> str | None:
    """The repository that a folder lies in or is a checkout of; None for a folder in no checkout."""
    above = folder.resolve()
    for at in (above, *above.parents)[:_LEVELS]:
        if (at / MARK).exists():
            return repository(at)
    return None


def _origin(mark: Path) -> str:
    """The address of the remote called origin; empty where there is none or it cannot be read."""
    config = _git_folder(mark) / "config"
    inside = False
    for line in _text(config).split("\n"):
        if line.lstrip().startswith("["):
            inside = _SECTION.match(line) is not None
        elif inside and (found := _URL.match(line)):
            return found[1]
    return ""


def _git_folder(mark: Path) -> Path:
    """In a worktree and in a submodule ``.git`` is a file that names the folder."""
    if mark.is_dir():
        return mark
    named = _text(mark).removeprefix("gitdir:").strip()
    folder = mark.parent / named if named else mark
    common = _text(folder / "commondir").strip()
    return folder / common if common else folder


def _named(address: str) -> str:
    address = address.split("?", 1)[0].split("#", 1)[0].rstrip("/").removesuffix(".git")
    host = _WITH_HOST.fullmatch(address)
    path = (host[1] or host[2] or "") if host else address.replace("\\", "/").rsplit("/", 1)[-1]
    # Addresses may hold anything; what no repository is called is no name.
    path = path.strip("/")
    return path if len(path) <= _MAX_NAME and _NAME.fullmatch(path) else ""


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MAX_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
