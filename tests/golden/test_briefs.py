"""Thirty tasks over the sample vault and a memory of forty runs: what was marked as needed is in the brief.

What each task needs was written down before anything was chosen (`briefs/tasks.yaml`). docs/brief.md says
which of them were in sight while the numbers of `kebab.brief` were chosen.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("surrealdb", reason="the memory extra is not installed")

from kebab import wire
from kebab.app import Kebab
from kebab.domain.briefs import Brief
from kebab.domain.executions import Execution

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
VAULT = HERE.parents[1] / "examples" / "vault"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
BUDGET = 1500
TASKS: list[dict[str, Any]] = yaml.safe_load((HERE / "briefs" / "tasks.yaml").read_text(encoding="utf-8"))
FRESH: list[dict[str, Any]] = yaml.safe_load((HERE / "briefs" / "fresh.yaml").read_text(encoding="utf-8"))
RUNS: list[dict[str, Any]] = yaml.safe_load((HERE / "briefs" / "runs.yaml").read_text(encoding="utf-8"))


def execution(run: dict[str, Any]) -> Execution:
    at = START + timedelta(days=run["day"])
    texts: dict[str, Any] = {name: run.get(name) for name in ("approach", "result", "error", "lesson")}
    return Execution(
        id=run["id"],
        agent_id=run["agent"],
        task_id=run["id"].rpartition("-")[0],
        task_type="task",
        task_description=run["task"],
        success=run["ok"],
        quality_score=float(run["ok"]),
        latency_ms=60_000,
        started_at=at,
        finished_at=at + timedelta(minutes=1),
        **texts,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("briefs")
    shutil.copytree(VAULT, folder / "vault")
    return folder


@pytest.fixture(scope="module")
def kb(place: Path) -> Iterator[Kebab]:
    with Kebab.open(root=place / "vault", data_dir=place / "data") as kb:
        kb.ingest()
        kb.memory.record_many(map(execution, RUNS))
        yield kb


@pytest.fixture(scope="module")
def briefs(kb: Kebab) -> dict[str, Brief]:
    return {task["id"]: kb.brief(task["task"], max_tokens=BUDGET) for task in TASKS}


def lacks(task: dict[str, Any], brief: Brief) -> list[str]:
    """What was marked and is not in the brief."""
    told = {
        f"{piece.citation.path}:{line}"
        for piece in brief.documents
        for line in range(piece.citation.start, piece.citation.end + 1)
    }
    runs = {run.id for run in (*brief.worked, *brief.avoid)}
    return [line for span in task["lines"] for line in each_line(span) if line not in told] + [
        run for run in task["runs"] if run not in runs
    ]


def each_line(span: str) -> list[str]:
    path, _, lines = span.rpartition(":")
    first, _, last = lines.partition("-")
    return [f"{path}:{line}" for line in range(int(first), int(last or first) + 1)]


def met(briefs: dict[str, Brief], half: str) -> int:
    return sum(not lacks(task, briefs[task["id"]]) for task in TASKS if task["half"] == half)


def test_the_trial_is_as_large_as_it_says() -> None:
    assert len(TASKS) == len({task["id"] for task in TASKS}) == 30
    assert len(RUNS) == len({run["id"] for run in RUNS}) == 40
    assert [task["half"] for task in TASKS].count("tune") == 15
    for span in (span for task in TASKS for span in task["lines"]):
        path, number = each_line(span)[-1].rsplit(":", 1)
        assert (VAULT / path).read_text(encoding="utf-8").split("\n")[int(number) - 1].strip()


def test_most_briefs_hold_everything_that_was_marked(briefs: dict[str, Brief]) -> None:
    missing = {task["id"]: lacks(task, briefs[task["id"]]) for task in TASKS}
    told = {task: lacked for task, lacked in missing.items() if lacked}
    assert met(briefs, "tune") + met(briefs, "held") >= 27, told
    assert all(brief.tokens <= BUDGET for brief in briefs.values())


def test_tasks_that_nothing_was_chosen_by_are_met_too(kb: Kebab) -> None:
    missing = {task["id"]: lacks(task, kb.brief(task["task"], max_tokens=BUDGET)) for task in FRESH}
    assert sum(not lacked for lacked in missing.values()) >= 7, missing


def test_a_brief_is_the_same_when_repeated_after_reading_again_and_in_another_process(
    kb: Kebab, place: Path, briefs: dict[str, Brief]
) -> None:
    before = {key: wire.encode(wire.brief(brief)) for key, brief in briefs.items()}
    asked = TASKS[::3]
    assert all(
        wire.encode(wire.brief(kb.brief(t["task"], max_tokens=BUDGET))) == before[t["id"]] for t in asked
    )
    kb.ingest(force=True)
    code = (
        "import sys; from pathlib import Path; from kebab import Kebab, wire\n"
        "with Kebab.open(root=Path(sys.argv[1]), data_dir=Path(sys.argv[2])) as kb:\n"
        "    for task in sys.argv[3:]:\n"
        f"        print(wire.encode(wire.brief(kb.brief(task, max_tokens={BUDGET}))).decode())\n"
    )
    command = [sys.executable, "-c", code, str(place / "vault"), str(place / "data")]
    done = subprocess.run(
        [*command, *(task["task"] for task in asked)], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.splitlines() == [before[task["id"]].decode() for task in asked]
