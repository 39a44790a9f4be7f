"""The files behind documents, looked at on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from kebab.domain.citations import SourceState
from kebab.domain.ids import AssetId, asset_id, content_hash, nfc
from kebab.domain.ingests import NO_TIME, FileState

Place = tuple[str, str]
"""A source and a path in it."""


@dataclass(frozen=True)
class DiskSourceFiles:
    """Compares size and time with what was indexed, and the content where only the time differs.

    A copied, touched or checked out file still has the lines that a citation names. Of a source without a
    folder nothing is known.

    A file whose time is not known came with a bundle: while it is not here, nothing can have changed it.
    """

    roots: Mapping[str, Path]
    known: Callable[[Collection[Place]], Mapping[Place, FileState]]
    """What is known of paths of sources; without those of which nothing is."""

    def state(self, source_id: str, path: str) -> SourceState | None:
        return self.states([(source_id, path)])[source_id, path]

    def states(self, places: Collection[Place]) -> dict[Place, SourceState | None]:
        known = self.known(places)
        return {place: self._compared(place, known.get(place)) for place in places}

    def _compared(self, place: Place, known: FileState | None) -> SourceState | None:
        source_id, path = place
        root = self.roots.get(source_id)
        if root is None or known is None:
            return None
        try:
            file, found = _on_disk(root, path)
        except OSError:
            return SourceState.GONE if known.mtime_ns != NO_TIME and root.is_dir() else None
        return SourceState.CURRENT if _is_same(file, found, known) else SourceState.CHANGED


@dataclass(frozen=True)
class PublishedSourceFiles:
    """The same of documents that were published elsewhere, perhaps from other files.

    A file here that has the content is the one; of any other nothing is known.
    """

    inner: DiskSourceFiles

    def state(self, source_id: str, path: str) -> SourceState | None:
        return self.states([(source_id, path)])[source_id, path]

    def states(self, places: Collection[Place]) -> dict[Place, SourceState | None]:
        found = self.inner.states(places)
        return {place: state if state is SourceState.CURRENT else None for place, state in found.items()}


def _is_same(file: str, found: os.stat_result, known: FileState) -> bool:
    if found.st_size != known.size or not S_ISREG(found.st_mode):
        return False
    return found.st_mtime_ns == known.mtime_ns or _asset(file) == known.asset_id


def _asset(file: str) -> AssetId | None:
    """The identity of a file's bytes; None when it cannot be read any more."""
    try:
        return asset_id(content_hash(Path(file).read_bytes()))
    except OSError:
        return None


def _on_disk(root: Path, path: str) -> tuple[str, os.stat_result]:
    """The file and what the disk says of it; raises OSError where it is not there.

    Its names may be decomposed on disk: macOS spells them so, and we compose them.
    """
    # As a text: every hit of every search comes by here, and a Path costs as much as looking at the file.
    file = os.path.join(root, path)
    try:
        return file, os.stat(file)
    except OSError:
        if path.isascii():
            raise
    file = _as_spelled(root, path)
    return file, os.stat(file)


def _as_spelled(root: Path, path: str) -> str:
    file = str(root)
    for name in path.split("/"):
        spelled = (entry for entry in _names(file) if nfc(entry) == name)
        whole = os.path.join(file, name)
        file = whole if os.path.exists(whole) else os.path.join(file, next(spelled, name))
    return file


def _names(folder: str) -> list[str]:
    return os.listdir(folder) if os.path.isdir(folder) else []
