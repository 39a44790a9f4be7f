"""Write a small knowledge base with whatever version of kebab is imported, and pack it.

Run in a checkout of the old commit, with this project's environment::

    git worktree add /tmp/old COMMIT
    PYTHONPATH=/tmp/old/src python tests/faults/upgrades/write.py NAME.tar.xz

What it says goes into ``VERSIONS`` of test_upgrades.py.
"""

from __future__ import annotations

import json
import os
import sys
import tarfile
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from kebab.app import Kebab
from kebab.domain.executions import Execution

NOTES = 14
START = datetime(2024, 5, 1, 12, tzinfo=UTC)


def write_notes(root: Path) -> None:
    for number in range(NOTES):
        file = root / f"n{number}.md"
        file.write_text(
            f"---\ntags: [{'even' if number % 2 == 0 else 'odd'}]\n---\n# Note {number}\n\n"
            f"The rope of ship{number} is dry. See [[n{(number + 1) % NOTES}]].\n\n"
            f"## 밧줄\n\n밧줄{number}은 말린다. 배{number}은 바다로 간다.\n",
            encoding="utf-8",
        )
        # Old enough that no later run takes the file for one that is being written.
        os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))


def record_runs(kb: Kebab) -> None:
    for number in range(6):
        kb.memory.record(
            Execution(
                id=f"run-{number}",
                agent_id=f"agent-{number % 2}",
                task_id=f"task-{number}",
                task_type="fix",
                task_description=f"mend the mast number{number}",
                success=number % 2 == 0,
                error=None if number % 2 == 0 else "it broke",
                quality_score=0.5,
                latency_ms=1500,
                cost_cents=number,
                provider="local",
                started_at=START,
                finished_at=START,
                documents_used=(f"n{number}.md",),
                parent=f"run-{number - 1}" if number else None,
            )
        )


def write(folder: Path) -> dict[str, object]:
    root, data = folder / "notes", folder / "data"
    root.mkdir()
    write_notes(root)
    with Kebab.open(root=root, data_dir=data) as kb:
        kb.ingest()
        kb.ingest_text("An albatross sleeps on the wing.", title="Albatross")
        record_runs(kb)
        answer = kb.ask("Which rope is dry on ship3?")
        hits = kb.search("rope of ship5").hits
        return {"trace_id": answer.trace_id, "first": hits[0].doc_path}


if __name__ == "__main__":
    target = Path(sys.argv[1]).absolute()
    with tempfile.TemporaryDirectory() as made:
        told = write(Path(made))
        with tarfile.open(target, "w:xz") as packed:
            for name in ("notes", "data"):
                packed.add(Path(made) / name, name)
    sys.stdout.write(json.dumps(told) + "\n")
