"""Checks of what surrounds the data: configuration, sources, folder, disk, lock."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from kebab.disk.sizes import bytes_of
from kebab.domain.layout import DataLayout
from kebab.domain.reports import Check, CheckStatus

LOW_DISK = 512 << 20
NO_DISK = 32 << 20


def examine_config(file: Path | None) -> Check:
    if file is None:
        return Check("config", CheckStatus.OK, "no file; defaults and the environment hold")
    return Check("config", CheckStatus.OK, str(file))


def examine_sources(roots: Mapping[str, Path]) -> Check:
    """A root that is missing or locked is a warning: its documents stay, and no ingest removes them."""
    absent = [f"{name} ({root})" for name, root in roots.items() if not _is_readable(root)]
    if not absent:
        return Check("sources", CheckStatus.OK, f"{len(roots)} readable" if roots else "none here")
    return Check(
        "sources",
        CheckStatus.WARNING,
        f"not there, or not readable: {', '.join(absent)}",
        "mount or create the folder, or let it be read; until then its documents stay as they are",
    )


def _is_readable(root: Path) -> bool:
    try:
        with os.scandir(root):
            return True
    except OSError:
        return False


def examine_sizes(layout: DataLayout) -> Check:
    """How much room each part takes, the largest first; no part of it is ever a fault."""
    index = layout.index
    words = [path for path in index.iterdir() if path != layout.vectors] if index.is_dir() else []
    places = {
        "store": layout.database_files,
        "words index": words,
        "vector indexes": [layout.vectors],
        "memory": [layout.memory],
        "inbox": [layout.inbox],
        "recognised": [layout.recognised],
        "models": [layout.models],
    }
    found = {name: size for name, some in places.items() if (size := bytes_of(some))}
    largest = sorted(found.items(), key=lambda pair: -pair[1])
    told = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in largest)
    return Check("sizes", CheckStatus.OK, told or "nothing is stored", figures=found)


def examine_folder(folder: Path, *, readonly: bool) -> Check:
    """Whether the data folder can be written, by writing; only by asking where kebab runs read-only."""
    if not folder.exists():
        return Check("data folder", CheckStatus.OK, f"{folder} does not exist yet")
    if readonly:
        return Check("data folder", CheckStatus.OK, f"{folder}, not tried: kebab runs read-only")
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"kebab" * 1024)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return Check(
            "data folder",
            CheckStatus.FAULT,
            f"{folder} cannot be written: {error.strerror}",
            "check its permissions and free space; searching works meanwhile",
        )
    return Check("data folder", CheckStatus.OK, f"{folder} is writable")


def examine_disk(folder: Path, *, needed: int = 0) -> Check:
    """Free space where the data lies; rebuilding an index needs about the size of what is there."""
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    detail = f"{size(free)} free"
    hint = "make room: an index is written beside the old one before it replaces it"
    if free < NO_DISK:
        return Check("disk", CheckStatus.FAULT, detail, hint)
    if free < max(LOW_DISK, needed):
        return Check("disk", CheckStatus.WARNING, detail, hint)
    return Check("disk", CheckStatus.OK, detail)


def examine_lock(owner: str | None) -> Check:
    """A held lock is no fault. A killed process holds none: the operating system frees it."""
    if owner is None:
        return Check("lock", CheckStatus.OK, "nobody writes")
    return Check("lock", CheckStatus.OK, f"held by {owner}")


def examine_leftovers(left: Sequence[Path]) -> Check:
    """What killed processes left behind, and whether it is still there."""
    there = [path for path in left if os.path.lexists(path)]
    if there:
        names = ", ".join(map(str, there))
        hint = "the next command that writes removes them; so does kebab doctor --repair"
        return Check("leftovers", CheckStatus.WARNING, f"left by killed processes: {names}", hint)
    if left:
        return Check("leftovers", CheckStatus.REPAIRED, f"removed {', '.join(map(str, left))}")
    return Check("leftovers", CheckStatus.OK, "nothing left by killed processes")


def size(count: int) -> str:
    """A number of bytes for people."""
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
