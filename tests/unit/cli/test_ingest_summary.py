"""What ``kebab ingest`` says at its end."""

from __future__ import annotations

from kebab.cli.ingest import summary
from kebab.cli.screen import Screen
from kebab.domain.ingests import IngestReport, IngestRun, RunStatus


def test_files_without_an_extension_are_named_so() -> None:
    run = IngestRun("r1", "2026-01-01T00:00:00Z", RunStatus.COMPLETED, skipped=3)
    report = IngestReport(run, (), skipped_by_extension={"": 1, ".zip": 2})
    said = summary(report, screen=Screen(columns=80), dry_run=False, files=False)
    assert "of type: .zip 2, no extension 1" in said
