"""A process that is killed while it ingests, rebuilds or repairs.

``python -m tests.faults.ingest_victim TASK ROOT DATA``; it says ``begin`` when the imports are over.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import lance  # noqa: F401  # imported now, so that a kill meets the work and not the imports
import numpy  # noqa: F401
import tantivy  # noqa: F401

from kebab.app import Kebab


def save_notes(kb: Kebab) -> None:
    """Save a note after the other; a line says that one is saved."""
    for number in range(NOTES):
        text = f"zn{os.getpid()}n{number} in the harbour"
        kb.ingest_text(text, title=f"Note {os.getpid()} {number}")
        sys.stdout.write(f"saved {text}\n")
        sys.stdout.flush()


NOTES = 12
TASKS: dict[str, Callable[[Kebab], object]] = {
    "notes": save_notes,
    "ingest": lambda kb: kb.ingest(allow_mass_delete=True),
    "force": lambda kb: kb.ingest(force=True, allow_mass_delete=True),
    "rebuild": lambda kb: kb.index(rebuild=True),
    "repair": lambda kb: kb.doctor(repair=True),
}


def opened(root: Path, data: Path) -> Kebab:
    return Kebab.open(root=root, data_dir=data, overrides={"ingest.workers": 1})


if __name__ == "__main__":
    task, root, data = sys.argv[1:]
    sys.stdout.write("begin\n")
    sys.stdout.flush()
    with opened(Path(root), Path(data)) as kb:
        TASKS[task](kb)
