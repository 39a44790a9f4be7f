"""A process that writes until it is killed, and says line by line what it has done.

``python -m tests.faults.kill_victim TASK CONFIG``. It says ``begin`` when the imports are over, ``note TEXT``
when a text is saved, ``run ID`` when a run is recorded: what was said must be there afterwards.
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
from tests.memory_fakes import run

ROUNDS = 12


def say(what: str) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def save_notes(kb: Kebab) -> None:
    for number in range(ROUNDS):
        text = f"zn{os.getpid()}n{number} in the harbour"
        kb.ingest_text(text, title=f"Note {os.getpid()} {number}")
        say(f"note {text}")


def record_runs(kb: Kebab) -> None:
    for number in range(ROUNDS * 4):
        key = f"zr{os.getpid()}-{number}"
        kb.memory.record(run(number, id=key, task_description=f"mend {key}"))
        say(f"run {key}")


def move(kb: Kebab) -> None:
    """Write everything into a bundle and put the bundle in the place of everything, twice."""
    assert kb.settings.file is not None
    bundle = kb.settings.file.with_name("moved.kebab")
    for _ in range(2):
        kb.export_bundle(bundle, force=True)
        kb.import_bundle(bundle, force=True)


TASKS: dict[str, Callable[[Kebab], object]] = {
    "ingest": lambda kb: kb.ingest(allow_mass_delete=True),
    "force": lambda kb: kb.ingest(force=True, allow_mass_delete=True),
    "rebuild": lambda kb: kb.index(rebuild=True),
    "index": lambda kb: kb.index(),
    "repair": lambda kb: kb.doctor(repair=True),
    "notes": save_notes,
    "record": record_runs,
    "move": move,
    "prune": lambda kb: kb.reset("old-vectors"),
}


if __name__ == "__main__":
    task, config = sys.argv[1:]
    say("begin")
    with Kebab.open(Path(config)) as kb:
        TASKS[task](kb)
