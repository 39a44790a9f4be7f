"""What a process and everything that it starts take of memory, and what a folder takes on disk (Linux)."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

EVERY_S = 0.2


@dataclass(frozen=True)
class Footprint:
    """Of one command: seconds, and the most memory that was seen, in MB, each page counted once."""

    seconds: float
    together: float
    largest: float


def run(command: Sequence[str], environment: Mapping[str, str]) -> Footprint:
    """Run a command to its end and watch it. Raises SystemExit where it fails."""
    started = time.perf_counter()
    together = largest = 0.0
    with subprocess.Popen(command, env=dict(environment), stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            sizes = [share_mb(one) for one in _tree(process.pid)]
            together, largest = max(together, sum(sizes)), max(largest, *sizes, 0.0)
            time.sleep(EVERY_S)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with status {process.returncode}")
    return Footprint(time.perf_counter() - started, together, largest)


def disk_mb(folder: Path) -> float:
    """The bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def _tree(process: int) -> list[int]:
    found = [process]
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            children = Path(f"/proc/{process}/task/{thread}/children").read_text().split()
            found += [one for child in children for one in _tree(int(child))]
    except OSError:  # it ended meanwhile
        pass
    return found


def share_mb(process: int) -> float:
    """A page that several processes share counts in parts: summed over them, once."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)
