"""Versioned JSON shapes for ``--json``, MCP and HTTP; their schemas stand in docs/wire/v1.

Every object says what it is in ``schema_version``. A shape only ever gains optional keys: a test compares
the schemas with the committed ones. Shapes are apart from the domain types so that those can change freely.
``python -m kebab.wire DIR`` writes the schemas. A new shape: define it, add it to ``SHAPES``, run
``make wire``.
"""

from __future__ import annotations

from kebab.wire.answers import ANSWER_SHAPES, answer, answer_comparison, answer_event
from kebab.wire.errors import Error, error
from kebab.wire.evaluations import (
    EvalComparison,
    EvalImport,
    EvalList,
    EvalReport,
    EvalTuning,
    eval_comparison,
    eval_list,
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
from kebab.wire.memory import MEMORY_SHAPES
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
    bundle_report,
    doctor,
    index_report,
    model_list,
    reset_report,
    schema,
)

SHAPES: tuple[type[Shape], ...] = (
    BulkSearchItem,
    BundleReport,
    ChunkInspection,
    Citation,
    DocInspection,
    DocList,
    DocSummary,
    Doctor,
    Error,
    EvalComparison,
    EvalImport,
    EvalList,
    EvalReport,
    EvalTuning,
    FetchResult,
    IndexReport,
    IngestItem,
    IngestProgress,
    IngestReport,
    IngestRun,
    InitReport,
    ItemList,
    ModelList,
    ResetReport,
    RunList,
    Schema,
    SearchHit,
    SearchResponse,
    Why,
    *ANSWER_SHAPES,
    *MEMORY_SHAPES,
)
"""Everything that is an object of its own on the wire."""

__all__ = [
    "SHAPES",
    "BulkSearchItem",
    "BundleReport",
    "ChunkInspection",
    "Citation",
    "DocInspection",
    "DocList",
    "DocSummary",
    "Doctor",
    "Error",
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
    "ModelList",
    "ResetReport",
    "RunList",
    "Schema",
    "SearchHit",
    "SearchResponse",
    "Shape",
    "Why",
    "answer",
    "answer_comparison",
    "answer_event",
    "bundle_report",
    "chunk_inspection",
    "doc_inspection",
    "doc_list",
    "doc_summary",
    "doctor",
    "encode",
    "error",
    "eval_comparison",
    "eval_list",
    "eval_report",
    "eval_tuning",
    "fetch_result",
    "index_report",
    "ingest_progress",
    "ingest_report",
    "item_list",
    "model_list",
    "names",
    "of",
    "reset_report",
    "run_list",
    "schema",
    "search_hit",
    "search_response",
    "why",
]


def names() -> list[str]:
    """The schemas this kebab speaks, such as ``search_hit.v1``, sorted."""
    return sorted(str(shape.__struct_config__.tag) for shape in SHAPES)
