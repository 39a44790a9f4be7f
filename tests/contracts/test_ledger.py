"""What every Ledger promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.ledger import SqliteLedger
from kebab.domain.ids import DocId
from kebab.domain.ingests import IngestItem, IngestRun, Outcome, RunStatus
from kebab.ports import Ledger
from tests.fakes import FakeLedger


@pytest.fixture(params=["fake", "sqlite"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Ledger:
    builders: dict[str, Callable[[], Ledger]] = {
        "fake": FakeLedger,
        "sqlite": lambda: SqliteLedger(Database(tmp_path / "kebab.sqlite")),
    }
    return builders[request.param]()


def run(run_id: str) -> IngestRun:
    return IngestRun(run_id, "2024-05-01T12:00:00Z", RunStatus.RUNNING)


def test_a_run_is_running_until_it_is_finished(ledger: Ledger) -> None:
    ledger.begin(run("r1"))
    assert ledger.runs() == [run("r1")]
    finished = replace(run("r1"), status=RunStatus.FAILED, indexed=3, failed=1, error="disk full")
    ledger.finish(finished)
    assert ledger.runs() == [finished]


def test_runs_come_newest_first(ledger: Ledger) -> None:
    for run_id in ("b", "a", "c"):
        ledger.begin(run(run_id))
    ledger.finish(replace(run("b"), status=RunStatus.COMPLETED))
    assert [r.run_id for r in ledger.runs()] == ["c", "a", "b"]
    assert [r.run_id for r in ledger.runs(limit=2)] == ["c", "a"]


def test_items_come_back_in_order_with_every_field(ledger: Ledger) -> None:
    items = [
        IngestItem("default", "메모.md", Outcome.INDEXED, doc_id=DocId("d" * 32), chunks=2, byte_len=9),
        IngestItem("default", "b.bin", Outcome.SKIPPED, reason="unsupported", warnings=("one", "two")),
    ]
    ledger.begin(run("r1"))
    ledger.begin(run("r2"))
    ledger.note("r1", items[:1])
    ledger.note("r2", items[:1])
    ledger.note("r1", items[1:])
    assert ledger.items("r1") == items
    assert ledger.items("unknown") == []


def test_only_the_newest_runs_are_kept_and_one_that_goes_on_is_never_dropped(ledger: Ledger) -> None:
    item = IngestItem("default", "a.md", Outcome.INDEXED)
    for run_id in ("going", "old", "older", "new", "newer"):
        ledger.begin(run(run_id))
        ledger.note(run_id, [item])
        if run_id != "going":
            ledger.finish(replace(run(run_id), status=RunStatus.COMPLETED))

    ledger.prune(keep=2)

    assert [kept.run_id for kept in ledger.runs()] == ["newer", "new", "going"]
    assert [bool(ledger.items(run_id)) for run_id in ("going", "old", "new")] == [True, False, True]
    ledger.note("going", [item])
    ledger.prune(keep=5)
    assert len(ledger.runs()) == 3


def test_a_run_that_was_killed_is_running_however_many_came_after_it(ledger: Ledger) -> None:
    for number in range(300):
        ledger.begin(run(f"r{number}"))
        if number not in (0, 7):
            ledger.finish(replace(run(f"r{number}"), status=RunStatus.COMPLETED))
    assert ledger.running() == [run("r7"), run("r0")]
