"""The line that shows how far a run is."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from kebab.cli.progress import bar_on, path_columns
from kebab.domain.ingests import IngestPhase, IngestProgress


def drawn(columns: int, event: IngestProgress) -> str:
    console = Console(file=io.StringIO(), width=columns, force_terminal=True, no_color=True)
    with bar_on(console) as bar, console.capture() as captured:
        bar.show(event)
        console.print(bar.progress.get_renderable())
    return max(captured.get().split("\n"), key=len)


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_the_line_shows_counts_rate_and_file_at_any_width(columns: int) -> None:
    event = IngestProgress(
        "progress", IngestPhase.INDEX, done=351, total=10_996, rate=351.0, path="md/_wiki/수학/이항-정리.md"
    )
    line = drawn(columns, event)
    assert "351/10996" in line
    assert "351 files/s" in line
    assert "정리.md" in line
    assert line.count("━") >= 4


def test_a_file_name_gets_a_fair_part_of_the_line() -> None:
    assert [path_columns(columns) for columns in (40, 60, 100, 200)] == [8, 8, 28, 32]
