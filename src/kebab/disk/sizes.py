"""How much room files take."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def bytes_of(places: Iterable[Path]) -> int:
    """Bytes of the files at these places and below them; one that has several names there counts once."""
    found: dict[tuple[int, int], int] = {}
    for place in places:
        for path in (place, *(place.rglob("*") if place.is_dir() else ())):
            with suppress(OSError):
                status = path.lstat()
                if not path.is_dir():
                    found[status.st_dev, status.st_ino] = status.st_size
    return sum(found.values())
