"""How far an index got, in a small file beside it, written whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

from kebab.disk.private import open_private, replacing
from kebab.domain.values import dataclass
from kebab.errors import StorageError

_LARGEST = 4096

_File = tuple[int, int, int]
"""Tells one file that stood at a path from another: each is written once, and then replaced."""


@dataclass(frozen=True, slots=True)
class Mark:
    position: int
    table_version: int
    written: tuple[int, int] = (0, 0)
    """Which file this was read from: an index that was removed and built anew may have the same numbers."""


class CheckpointFile:
    """Holds an outbox position together with the layout it belongs to.

    An index of another layout counts as empty: what it holds was made by other rules.
    """

    def __init__(self, path: Path, layout: str, *, proof: Path) -> None:
        """``proof`` is what the engine has wherever it has an index. Without it the position is of one that
        is gone."""
        self.path = path
        self.layout = layout
        self.proof = proof
        self._lately: tuple[_File, Mark] | None = None
        """What was read last, and of which file: a search asks eight times."""

    def read(self) -> int | None:
        """The position; None when there is no index of this layout, or the file cannot be understood."""
        mark = self.mark()
        return mark.position if mark else None

    def mark(self) -> Mark | None:
        """The position and the engine's own version that belongs to it; None like ``read``."""
        try:
            lately, seen = self._lately, _which(os.lstat(self.path))
            if lately is None or lately[0] != seen:
                content, seen = _content(self.path)
                found = self._understood(json.loads(content), seen)
                lately = self._lately = (seen, found) if found else None
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StorageError(f"cannot read {self.path}: {error.strerror}") from error
        except ValueError:
            return None
        return lately[1] if lately and os.path.exists(self.proof) else None

    def _understood(self, found: object, file: _File) -> Mark | None:
        if not isinstance(found, dict) or found.get("layout") != self.layout:
            return None
        position, table_version = found.get("checkpoint"), found.get("table_version", 0)
        if not isinstance(position, int) or not isinstance(table_version, int):
            return None
        return Mark(position, table_version, file[:2])

    def write(self, position: int, *, table_version: int = 0) -> None:
        """Replace the file in one step; on return it is on disk."""
        note = {"layout": self.layout, "checkpoint": position, "table_version": table_version}
        try:
            with replacing(self.path) as file:
                file.write(json.dumps(note).encode())
        except OSError as error:
            raise StorageError(
                f"cannot write {self.path}: {error.strerror}", hint="check free space and permissions"
            ) from error

    def forget(self) -> None:
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(f"cannot remove {self.path}: {error.strerror}") from error


def _content(path: Path) -> tuple[bytes, _File]:
    descriptor = open_private(path)
    try:
        return os.read(descriptor, _LARGEST), _which(os.fstat(descriptor))
    finally:
        os.close(descriptor)


def _which(status: os.stat_result) -> _File:
    return status.st_ino, status.st_mtime_ns, status.st_size
