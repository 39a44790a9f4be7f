"""How far an index got, in a small file beside it, written whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

from kebab.disk.private import open_private, replacing
from kebab.domain.values import dataclass
from kebab.errors import StorageError

_LARGEST = 4096


@dataclass(frozen=True, slots=True)
class Mark:
    position: int
    table_version: int
    written: tuple[int, int] = (0, 0)
    """Which file this was read from: an index that was removed and built anew may have the same numbers."""


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """Holds an outbox position together with the layout it belongs to.

    An index of another layout counts as empty: what it holds was made by other rules.
    """

    path: Path
    layout: str
    proof: Path
    """What the engine has wherever it has an index. Without it the position is of an index that is gone."""

    def read(self) -> int | None:
        """The position; None when there is no index of this layout, or the file cannot be understood."""
        mark = self.mark()
        return mark.position if mark else None

    def mark(self) -> Mark | None:
        """The position and the engine's own version that belongs to it; None like ``read``."""
        try:
            content, written = _content(self.path)
            found = json.loads(content)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StorageError(f"cannot read {self.path}: {error.strerror}") from error
        except ValueError:
            return None
        if not isinstance(found, dict) or found.get("layout") != self.layout:
            return None
        if not os.path.exists(self.proof):
            return None
        position, table_version = found.get("checkpoint"), found.get("table_version", 0)
        if not isinstance(position, int) or not isinstance(table_version, int):
            return None
        return Mark(position, table_version, written)

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


def _content(path: Path) -> tuple[bytes, tuple[int, int]]:
    # Not read_bytes: every search looks here several times, and a buffered file takes five times as long.
    descriptor = open_private(path)
    try:
        status = os.fstat(descriptor)
        return os.read(descriptor, _LARGEST), (status.st_ino, status.st_mtime_ns)
    finally:
        os.close(descriptor)
