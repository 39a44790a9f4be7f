"""How the execution memory looks on a terminal."""

from __future__ import annotations

from kebab.cli import memory_view
from kebab.cli.screen import Screen
from kebab.domain.recalls import MemoryStats


def test_what_all_runs_cost_is_told_in_the_unit_of_each() -> None:
    stats = MemoryStats(
        executions=2,
        successes=1,
        tasks=0,
        agents=1,
        task_types=1,
        providers=1,
        documents=0,
        first_started_at=None,
        last_finished_at=None,
        total_cost_cents=1234.5,
        models={},
    )
    assert "cost           1,234.5 ¢" in memory_view.stats(stats, Screen()).split("\n")
