"""The files behind documents, looked at on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kebab.domain.ids import nfc
from kebab.domain.ingests import NO_TIME, FileState


@dataclass(frozen=True)
class DiskSourceFiles:
    """Compares size and time with what was indexed; a source without a folder never changes.

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
        try:
            found = _on_disk(root, path).stat()
        except OSError:
            return state.mtime_ns != NO_TIME and root.is_dir()
        if state.mtime_ns == NO_TIME:
            return found.st_size != state.size
        return (found.st_size, found.st_mtime_ns) != (state.size, state.mtime_ns)


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
