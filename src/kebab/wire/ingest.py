"""Shapes of ingest: what a run is doing, did, and did with each file."""

from __future__ import annotations

from collections.abc import Sequence

from kebab.domain import ingests as domain
from kebab.wire.shape import Shape, of


class IngestItem(Shape, frozen=True, tag_field="schema_version", tag="ingest_item.v1"):
    """What became of one file."""

    source_id: str
    path: str
    outcome: str
    reason: str | None
    doc_id: str | None
    chunks: int
    byte_len: int
    warnings: tuple[str, ...] = ()


class IngestRun(Shape, frozen=True, tag_field="schema_version", tag="ingest_run.v1"):
    """A run's totals; ``finished_at`` is null while it runs."""

    run_id: str
    started_at: str
    finished_at: str | None
    status: str
    indexed: int
    unchanged: int
    skipped: int
    failed: int
    removed: int
    chunks: int
    embedded: int
    duration_ms: int
    error: str | None = None


class IngestProgress(Shape, frozen=True, tag_field="schema_version", tag="ingest_progress.v1"):
    """One event of a run; completed, cancelled and failed end it, and exactly one of them is sent."""

    kind: str
    phase: str
    done: int
    total: int
    path: str | None = None
    rate: float | None = None
    eta_s: float | None = None
    item: IngestItem | None = None
    run: IngestRun | None = None
    message: str | None = None


class IngestReport(Shape, frozen=True, tag_field="schema_version", tag="ingest_report.v1"):
    """``items`` holds everything but the unchanged files; it is null where only the summary was asked for."""

    run: IngestRun
    items: tuple[IngestItem, ...] | None
    skipped_by_reason: dict[str, int]
    skipped_by_extension: dict[str, int]
    stage_ms: dict[str, int]
    degraded: tuple[str, ...]
    dry_run: bool = False


class RunList(Shape, frozen=True, tag_field="schema_version", tag="run_list.v1"):
    runs: tuple[IngestRun, ...]


class ItemList(Shape, frozen=True, tag_field="schema_version", tag="item_list.v1"):
    run_id: str
    items: tuple[IngestItem, ...]


def ingest_report(
    report: domain.IngestReport, *, summary_only: bool = False, dry_run: bool = False
) -> IngestReport:
    items = None if summary_only else tuple(of(item, IngestItem) for item in report.items)
    return of(report, IngestReport, items=items, dry_run=dry_run)


def ingest_progress(event: domain.IngestProgress) -> IngestProgress:
    return of(event, IngestProgress)


def run_list(runs: Sequence[domain.IngestRun]) -> RunList:
    return RunList(runs=tuple(of(run, IngestRun) for run in runs))


def item_list(run_id: str, items: Sequence[domain.IngestItem]) -> ItemList:
    return ItemList(run_id=run_id, items=tuple(of(item, IngestItem) for item in items))
