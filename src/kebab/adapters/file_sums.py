"""Checksums of an engine's files, in a file beside them: whatever a search reads, the doctor can check.

The engines write a file once and never change it under its name, but for the one that names the others. Some
keep checksums of their own; none of them checks all of its files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from blake3 import blake3

from kebab.disk.private import replacing
from kebab.domain.values import dataclass
from kebab.errors import StorageError

_BLOCK = 1 << 20
_TRIES = 3

Sum = tuple[int, int, str]
"""Size, time of writing and hash of a file."""


@dataclass(frozen=True, slots=True)
class FileSums:
    """The sums of some files of a folder. They are written before the position that belongs to the files."""

    path: Path
    folder: Path

    def write(self, files: Iterable[Path]) -> None:
        """Record these files and no others. One that was recorded and not written since is not read again."""
        known = self._read() or {}
        sums = {str(file.relative_to(self.folder)): self._sum(file, known) for file in files}
        try:
            with replacing(self.path) as file:
                file.write(json.dumps({"files": sums, "hash": _hash_of(sums)}).encode())
        except OSError as error:
            raise StorageError(
                f"cannot write {self.path}: {error.strerror}", hint="check free space and permissions"
            ) from error

    def faults(self) -> list[str]:
        """What is wrong with the files, in words. Reads every byte; while somebody writes, more than once."""
        for _ in range(_TRIES):
            before = self._read()
            found = ["its checksums are missing or damaged"] if before is None else self._compare(before)
            if not found or self._read() == before:
                return found
        return found

    def forget(self) -> None:
        self.path.unlink(missing_ok=True)

    def _compare(self, sums: dict[str, Sum]) -> list[str]:
        return [fault for name, known in sums.items() if (fault := _fault(self.folder / name, known[2]))]

    def _sum(self, file: Path, known: dict[str, Sum]) -> Sum:
        status = file.stat()
        before = known.get(str(file.relative_to(self.folder)))
        if before and (before[0], before[1]) == (status.st_size, status.st_mtime_ns):
            return before
        return status.st_size, status.st_mtime_ns, hash_of(file)

    def _read(self) -> dict[str, Sum] | None:
        """What was recorded; None where nothing was, or where it cannot be relied on."""
        try:
            found = json.loads(self.path.read_bytes())
            sums = {
                name: (int(size), int(time), str(sign)) for name, (size, time, sign) in found["files"].items()
            }
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None
        return sums if found.get("hash") == _hash_of(sums) else None


def hash_of(file: Path) -> str:
    """The hash of a file's content. Raises OSError."""
    digest = blake3()
    with file.open("rb") as handle:
        while block := handle.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest(length=16)


def _hash_of(sums: dict[str, Sum]) -> str:
    return blake3(json.dumps(sums, sort_keys=True).encode()).hexdigest(length=16)


def _fault(file: Path, known: str) -> str | None:
    try:
        return None if hash_of(file) == known else f"{file.name} is damaged"
    except OSError as error:
        return f"{file.name} cannot be read: {error.strerror}"
