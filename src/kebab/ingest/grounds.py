"""The ground that sources stand on: folders and disks that come and go under the documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_MOUNTS = "/proc/self/mountinfo"


def mount_points() -> frozenset[str]:
    """Where disks are mounted now; empty where the system has no such list (it is Linux's)."""
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as lines:
            return frozenset(_unescaped(line.split(" ")[4]) for line in lines)
    except OSError:
        return frozenset()


def _unescaped(path: str) -> str:
    """A path as the kernel writes it: space, tab, line break and backslash in octal."""
    for sign in (" ", "\t", "\n", "\\"):
        path = path.replace(f"\\{ord(sign):03o}", sign)
    return path


@dataclass(frozen=True, slots=True)
class Grounds:
    """Equal grounds: the same folders, on the same disks."""

    folders: tuple[tuple[int, int] | None, ...]
    """Device and number of each root; None where there is no folder."""
    mounts: frozenset[str]
    """The mount points at and below the roots."""

    @classmethod
    def of(cls, roots: Sequence[Path], mounted: Callable[[], frozenset[str]] = mount_points) -> Grounds:
        inside = (mount for mount in mounted() if any(Path(mount).is_relative_to(root) for root in roots))
        return cls(tuple(map(_identity, roots)), frozenset(inside))


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(folder / ".")
    except OSError:
        return None
    return found.st_dev, found.st_ino
