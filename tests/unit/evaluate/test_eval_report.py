"""Reports: every number arrives, and nothing in a query can break out of the page."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from kebab.domain.evaluations import METRICS, EvalReport, QueryScore, RefusalScore
from kebab.domain.queries import SearchMode
from kebab.errors import InvalidInput, StorageError
from kebab.evaluate import report as reports
from kebab.evaluate.compare import compare
from kebab.evaluate.plots import text_bar

HOSTILE = "<script>alert('x')</script> | 소유권"


def sample(value: float) -> EvalReport:
    scores = tuple(
        QueryScore(f"q{n}", HOSTILE, dict.fromkeys(METRICS, v), n or None, ("a.md",), 2.0, "typo", "ko")
        for n, v in enumerate((value, 0.0, 1.0))
    )
    means = dict.fromkeys(METRICS, 0.4321) | {"p50_ms": 2.0, "p95_ms": 3.5}
    groups = {"group:typo": dict.fromkeys(METRICS, 0.5) | {"queries": 3.0}}
    refusal = RefusalScore(2, 2, 1, ("q9",))
    return EvalReport(
        "run1", "now", "vault", SearchMode.HYBRID, "convex", "v1", "model", 9, means, scores, groups, refusal
    )


def test_a_markdown_report_holds_metrics_groups_refusals_and_the_weakest(tmp_path: Path) -> None:
    written = reports.write(reports.page_of_run(sample(0.5)), tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text("utf-8")
    for piece in ("0.4321", "p95_ms", "group:typo", "Refusals", "q9", "Weakest queries", "report.svg"):
        assert piece in text
    assert written == [tmp_path / "report.md", tmp_path / "report.svg"]
    assert "\\| 소유권" in text


def test_the_plots_are_well_formed_pictures_with_one_bar_a_query(tmp_path: Path) -> None:
    reports.write(reports.page_of_run(sample(0.5)), tmp_path / "report.md")
    root = ElementTree.fromstring((tmp_path / "report.svg").read_text("utf-8"))
    space = "{http://www.w3.org/2000/svg}"
    tooltips = [title.text or "" for title in root.iter(f"{space}title")]
    assert sum(HOSTILE in text for text in tooltips) == 3
    assert all(f"{name} 0.4321" in tooltips for name in METRICS)


def test_an_html_report_escapes_what_queries_contain(tmp_path: Path) -> None:
    reports.write(reports.page_of_run(sample(0.5)), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert text.count("<svg ") == 2


def test_a_comparison_shows_wins_losses_and_intervals() -> None:
    page = reports.page_of_comparison(compare(sample(0.2), sample(0.9)))
    text = reports.markdown(page)
    assert "1 better, 0 worse" in text
    assert "95 % interval" in text
    assert "| q0 |" in text


def test_another_ending_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"report\.pdf"):
        reports.write(reports.page_of_run(sample(1)), tmp_path / "report.pdf")


def test_a_folder_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        reports.write(reports.page_of_run(sample(1)), tmp_path / "absent" / "report.md")


def test_a_text_bar_grows_by_eighths() -> None:
    assert text_bar(0) == ""
    assert text_bar(1, width=4) == "████"
    assert text_bar(0.5625, width=2) == "█▏"
