"""Versioned JSON shapes for ``--json``, MCP and HTTP; their schemas stand in docs/wire/v1.

Every object says what it is in ``schema_version``. A shape only ever gains optional keys: a test compares
the schemas with the committed ones. Shapes are apart from the domain types so that those can change freely.
``requests`` holds what can be asked, the other modules what is answered. ``python -m kebab.wire DIR`` writes
the schemas. A new shape: define it, add it to ``catalogue`` and to the names below, run ``make wire``.

A name is imported when it is first used: a search for people needs none of the answers' shapes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kebab.wire.answers import answer, answer_comparison, answer_event
    from kebab.wire.briefs import Brief, brief
    from kebab.wire.catalogue import REQUESTS, SHAPES, names
    from kebab.wire.connections import Links, Related, links, related
    from kebab.wire.errors import Error, error
    from kebab.wire.evaluations import (
        EvalAnswers,
        EvalComparison,
        EvalImport,
        EvalList,
        EvalReport,
        EvalTuning,
        eval_answers,
        eval_comparison,
        eval_list,
        eval_names,
        eval_report,
        eval_tuning,
    )
    from kebab.wire.ingest import (
        IngestItem,
        IngestProgress,
        IngestReport,
        IngestRun,
        ItemList,
        RunList,
        ingest_progress,
        ingest_report,
        item_list,
        run_list,
    )
    from kebab.wire.library import (
        ChunkInspection,
        DocInspection,
        DocList,
        DocSummary,
        FetchResult,
        chunk_inspection,
        doc_inspection,
        doc_list,
        doc_summary,
        fetch_result,
    )
    from kebab.wire.search import (
        BulkSearchItem,
        Citation,
        SearchHit,
        SearchResponse,
        Why,
        search_hit,
        search_response,
        why,
    )
    from kebab.wire.shape import Shape, encode, of
    from kebab.wire.upkeep import (
        BundleReport,
        Doctor,
        IndexReport,
        InitReport,
        ModelList,
        ResetReport,
        Schema,
        TrustList,
        TrustReport,
        TrustRequest,
        bundle_report,
        doctor,
        format_list,
        index_report,
        model_list,
        reset_report,
        schema,
    )

_NAMES = {
    "answers": ("answer", "answer_comparison", "answer_event"),
    "briefs": ("Brief", "brief"),
    "catalogue": ("REQUESTS", "SHAPES", "names"),
    "connections": ("Links", "Related", "links", "related"),
    "errors": ("Error", "error"),
    "evaluations": (
        "EvalAnswers",
        "EvalComparison",
        "EvalImport",
        "EvalList",
        "EvalReport",
        "EvalTuning",
        "eval_answers",
        "eval_comparison",
        "eval_list",
        "eval_names",
        "eval_report",
        "eval_tuning",
    ),
    "ingest": (
        "IngestItem",
        "IngestProgress",
        "IngestReport",
        "IngestRun",
        "ItemList",
        "RunList",
        "ingest_progress",
        "ingest_report",
        "item_list",
        "run_list",
    ),
    "library": (
        "ChunkInspection",
        "DocInspection",
        "DocList",
        "DocSummary",
        "FetchResult",
        "chunk_inspection",
        "doc_inspection",
        "doc_list",
        "doc_summary",
        "fetch_result",
    ),
    "search": (
        "BulkSearchItem",
        "Citation",
        "SearchHit",
        "SearchResponse",
        "Why",
        "search_hit",
        "search_response",
        "why",
    ),
    "shape": ("Shape", "encode", "of"),
    "upkeep": (
        "BundleReport",
        "Doctor",
        "IndexReport",
        "InitReport",
        "ModelList",
        "ResetReport",
        "Schema",
        "TrustList",
        "TrustReport",
        "TrustRequest",
        "bundle_report",
        "doctor",
        "index_report",
        "format_list",
        "model_list",
        "reset_report",
        "schema",
    ),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "REQUESTS",
    "SHAPES",
    "Brief",
    "BulkSearchItem",
    "BundleReport",
    "ChunkInspection",
    "Citation",
    "DocInspection",
    "DocList",
    "DocSummary",
    "Doctor",
    "Error",
    "EvalAnswers",
    "EvalComparison",
    "EvalImport",
    "EvalList",
    "EvalReport",
    "EvalTuning",
    "FetchResult",
    "IndexReport",
    "IngestItem",
    "IngestProgress",
    "IngestReport",
    "IngestRun",
    "InitReport",
    "ItemList",
    "Links",
    "ModelList",
    "Related",
    "ResetReport",
    "RunList",
    "Schema",
    "SearchHit",
    "SearchResponse",
    "Shape",
    "TrustList",
    "TrustReport",
    "TrustRequest",
    "Why",
    "answer",
    "answer_comparison",
    "answer_event",
    "brief",
    "bundle_report",
    "chunk_inspection",
    "doc_inspection",
    "doc_list",
    "doc_summary",
    "doctor",
    "encode",
    "error",
    "eval_answers",
    "eval_comparison",
    "eval_list",
    "eval_names",
    "eval_report",
    "eval_tuning",
    "fetch_result",
    "format_list",
    "index_report",
    "ingest_progress",
    "ingest_report",
    "item_list",
    "links",
    "model_list",
    "names",
    "of",
    "related",
    "reset_report",
    "run_list",
    "schema",
    "search_hit",
    "search_response",
    "why",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
