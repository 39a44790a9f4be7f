"""The files behind documents, looked at on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from kebab.domain.ids import AssetId, asset_id, content_hash, nfc
from kebab.domain.ingests import NO_TIME, FileState


@dataclass(frozen=True)
class DiskSourceFiles:
    """Compares size and time with what was indexed, and the content where only the time differs.

    A copied, touched or checked out file still has the lines that a citation names. A source without a folder
    never changes.

    A file whose time is not known came with a bundle: while it is not here, nothing can have changed it.
    """

    roots: Mapping[str, Path]
    states: Callable[[str, str], FileState | None]
    """What is known of a path of a source."""

    def changed(self, source_id: str, path: str) -> bool:
        root = self.roots.get(source_id)
        state = self.states(source_id, path)
        if root is None or state is None:
            return False
        file = _on_disk(root, path)
        try:
            found = file.stat()
        except OSError:
            return state.mtime_ns != NO_TIME and root.is_dir()
        if found.st_size != state.size or not S_ISREG(found.st_mode):
            return True
        return found.st_mtime_ns != state.mtime_ns and _asset(file) != state.asset_id


def _asset(file: Path) -> AssetId | None:
    """The identity of a file's bytes; None when it cannot be read any more."""
    try:
        return asset_id(content_hash(file.read_bytes()))
    except OSError:
        return None


def _on_disk(root: Path, path: str) -> Path:
    """The file, whose names may be decomposed on disk: macOS spells them so, and we compose them."""
    file = root / path
    if path.isascii() or file.exists():
        return file
    file = root
    for name in path.split("/"):
        spelled = (entry for entry in _names(file) if nfc(entry) == name)
        file /= name if (file / name).exists() else next(spelled, name)
    return file


def _names(folder: Path) -> list[str]:
    return os.listdir(folder) if folder.is_dir() else []
