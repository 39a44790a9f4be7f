"""kill -9 in the middle of record_many and of a migration: what was acknowledged is there, once.

A few kills in every run; KEBAB_KILLS=100 does a hundred of each.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from kebab.adapters.surreal.store import SurrealExecutionStore
from kebab.memory.room import ExecutionMemory

pytest.importorskip("surrealdb", reason="the memory extra is not installed")

from kebab.domain.executions import ExecutionFilters
from kebab.ports import MemoryKind
from tests.faults import memory_victim as victim
from tests.memory_fakes import run

KILLS = int(os.environ.get("KEBAB_KILLS", "6"))
ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kills")]


def killed(*arguments: str, after_s: float, must_die: bool = False) -> list[str]:
    """Start a victim, kill it so long after it began, and return what it had acknowledged."""
    command = [sys.executable, "-m", "tests.faults.memory_victim", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begin\n"
        timer = threading.Timer(after_s, process.kill)
        timer.start()
        told = process.stdout.read().splitlines()
        process.wait()
        timer.cancel()
        assert process.returncode in ((-9,) if must_die else (-9, 0))
    return told


def test_no_acknowledged_run_is_lost_or_doubled_when_recording_is_killed(tmp_path: Path) -> None:
    dice = random.Random(5)
    acknowledged = 0
    for _ in range(KILLS):
        told = killed(
            "record", str(tmp_path), str(acknowledged), after_s=dice.uniform(0.02, 1.2), must_die=True
        )
        acknowledged = int(told[-1]) if told else acknowledged
        memory = victim.memory(tmp_path)
        if not memory.store._connection.exists():  # type: ignore[attr-defined]
            assert not told
            continue
        check_recorded(memory, acknowledged)
        memory.close()
    assert acknowledged > 0


def check_recorded(memory: ExecutionMemory, acknowledged: int) -> None:
    """All acknowledged runs are there, whole, and searchable once."""
    found = [item.id for item in memory.store.every()]
    assert len(found) == len(set(found))
    assert set(found) >= {f"run-{number:05d}" for number in range(acknowledged)}
    # A transaction is all or nothing: whole calls, nothing else.
    assert len(found) % victim.RUNS_A_CALL == 0
    assert isinstance(memory.store, SurrealExecutionStore)
    assert memory.store.revision(MemoryKind.EXECUTIONS) >= len(found)
    assert memory.stats().executions == len(found)
    if not found:
        return
    last = len(found) - 1
    assert memory.store.load([found[last]]) == {found[last]: run(last, parent=f"run-{last - 1:05d}")}
    assert memory.store.causes([found[last]]) == {found[last]: (f"run-{last - 1:05d}",)}
    hits = memory.search_words(f"number{last}").hits
    assert [hit.execution.id for hit in hits] == [found[last]]
    assert sum(memory.executions.spaces().values()) == len(found)
    everything = memory.executions.words("mend", filters=ExecutionFilters(), limit=len(found) + 10)
    assert sorted(hit.id for hit in everything) == sorted(found)


def test_a_killed_migration_is_completed_by_the_next_opening(tmp_path: Path) -> None:
    dice = random.Random(6)
    steps = victim.migrations()
    cut = 0
    for number in range(KILLS):
        folder = tmp_path / str(number)
        told = killed("migrate", str(folder), after_s=dice.uniform(0.0, 0.5))
        opened = victim.connection(folder, steps)
        opened.query("RETURN 1")
        noted = opened.query("SELECT VALUE record::id(id) FROM kg_migrations ORDER BY id")[0]
        assert noted == [step.name for step in steps]
        assert set(told) <= set(noted)
        # Each ran exactly once: the counter they all move, and the rows each of them adds.
        assert opened.query("SELECT VALUE seq FROM ONLY kg_meta:moved") == [victim.EXTRA]
        for table in range(victim.EXTRA):
            assert opened.query(f"SELECT count() FROM extra_{table} GROUP ALL")[0] == [{"count": 50}]
        opened.close()
        cut += len(told) < victim.EXTRA + 1
    assert cut > 0, "no migration was interrupted; kill earlier"


def test_the_victim_would_end_by_itself_if_it_were_not_killed(tmp_path: Path) -> None:
    began = time.monotonic()
    told = killed("migrate", str(tmp_path), after_s=60)

    assert len(told) == victim.EXTRA + 1
    assert time.monotonic() - began < 60
