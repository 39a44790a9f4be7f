"""The files behind documents, looked at on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

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
            found = (root / path).stat()
        except OSError:
            return state.mtime_ns != NO_TIME and root.is_dir()
        if state.mtime_ns == NO_TIME:
            return found.st_size != state.size
        return (found.st_size, found.st_mtime_ns) != (state.size, state.mtime_ns)
