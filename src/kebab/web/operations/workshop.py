"""Looking after a knowledge base: sources, ledger, health, evaluation, settings."""

from __future__ import annotations

from kebab import wire
from kebab.app import Kebab
from kebab.config.origins import settings_with_origins
from kebab.web.operation import WRITE, Operation
from kebab.wire import views
from kebab.wire.requests.library import (
    DoctorRequest,
    EvalCompareRequest,
    EvalRunRequest,
    IngestTextRequest,
    ListItemsRequest,
    ListRunsRequest,
)


def _sources(kebab: Kebab, _: None) -> views.SourceList:
    return views.source_list(kebab.settings.sources, kebab.list_docs())


def _settings(kebab: Kebab, _: None) -> views.SettingList:
    file = kebab.settings.file
    return views.setting_list(str(file) if file else None, settings_with_origins(kebab.settings))


def _compare(kebab: Kebab, asked: EvalCompareRequest) -> wire.EvalComparison:
    from kebab.evaluate.compare import compare

    kept = kebab.evaluations
    return wire.eval_comparison(compare(kept.find(asked.before), kept.find(asked.after)))


def _ingest_text(kebab: Kebab, asked: IngestTextRequest) -> wire.IngestReport:
    report = kebab.ingest_text(asked.text, title=asked.title, dry_run=asked.dry_run)
    return wire.ingest_report(report, dry_run=asked.dry_run)


WORKSHOP = (
    Operation(
        "/status",
        "Capabilities, versions and statistics",
        wire.Schema,
        lambda kebab, _: wire.schema(kebab.schema(), wire=wire.names()),
    ),
    Operation("/sources", "List the sources with what came from each", views.SourceList, _sources),
    Operation("/settings", "List the settings and where each came from", views.SettingList, _settings),
    Operation(
        "/runs",
        "List the ingest runs, newest first",
        wire.RunList,
        lambda kebab, asked: wire.run_list(kebab.runs(asked.limit)),
        ListRunsRequest,
    ),
    Operation(
        "/runs/items",
        "List what an ingest run did with each file",
        wire.ItemList,
        lambda kebab, asked: wire.item_list(asked.run_id, kebab.run_items(asked.run_id)),
        ListItemsRequest,
    ),
    Operation(
        "/ingest/text",
        "Store a text that is no file",
        wire.IngestReport,
        _ingest_text,
        IngestTextRequest,
        WRITE,
        lasting=True,
    ),
    Operation(
        "/doctor",
        "Check everything",
        wire.Doctor,
        lambda kebab, asked: wire.doctor(kebab.doctor(full=asked.full)),
        DoctorRequest,
        lasting=True,
    ),
    Operation(
        "/doctor/repair",
        "Rebuild what is derived and read damaged documents again",
        wire.Doctor,
        lambda kebab, _: wire.doctor(kebab.doctor(repair=True)),
        methods=WRITE,
        lasting=True,
    ),
    Operation(
        "/evaluations",
        "List the kept evaluation runs, newest first",
        wire.EvalList,
        lambda kebab, asked: wire.eval_list(kebab.evaluations.recent(asked.limit)),
        ListRunsRequest,
    ),
    Operation(
        "/evaluations/run",
        "Show one evaluation run",
        wire.EvalReport,
        lambda kebab, asked: wire.eval_report(kebab.evaluations.find(asked.run_id)),
        EvalRunRequest,
    ),
    Operation(
        "/evaluations/compare",
        "Compare two evaluation runs query by query",
        wire.EvalComparison,
        _compare,
        EvalCompareRequest,
        lasting=True,
    ),
)
