"""A process that is killed or limited while it ingests.

``python -m tests.faults.ingest_victim TASK ROOT DATA``; it says ``begin`` when the imports are over.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import lance  # noqa: F401  # imported now, so that a kill meets the work and not the imports
import numpy  # noqa: F401
import tantivy  # noqa: F401

from kebab.app import Kebab

TASKS: dict[str, Callable[[Kebab], object]] = {
    "ingest": lambda kb: kb.ingest(allow_mass_delete=True),
    "force": lambda kb: kb.ingest(force=True, allow_mass_delete=True),
}


def opened(root: Path, data: Path) -> Kebab:
    return Kebab.open(root=root, data_dir=data, overrides={"ingest.workers": 1})


if __name__ == "__main__":
    task, root, data = sys.argv[1:]
    sys.stdout.write("begin\n")
    sys.stdout.flush()
    with opened(Path(root), Path(data)) as kb:
        TASKS[task](kb)
