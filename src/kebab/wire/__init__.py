"""Versioned JSON shapes for ``--json``, MCP and HTTP; their schemas stand in docs/wire/v1.

Every object says what it is in ``schema_version``. A shape only ever gains optional keys: a test compares
the schemas with the committed ones. Shapes are apart from the domain types so that those can change freely.
``python -m kebab.wire DIR`` writes the schemas.
"""

from __future__ import annotations

from kebab.wire.errors import Error, error
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
from kebab.wire.search import (
    BulkSearchItem,
    Citation,
    SearchHit,
    SearchResponse,
    search_hit,
    search_response,
)
from kebab.wire.shape import Shape, encode, of

SHAPES: tuple[type[Shape], ...] = (
    BulkSearchItem,
    Citation,
    Error,
    IngestItem,
    IngestProgress,
    IngestReport,
    IngestRun,
    ItemList,
    RunList,
    SearchHit,
    SearchResponse,
)
"""Everything that is an object of its own on the wire."""

__all__ = [
    "SHAPES",
    "BulkSearchItem",
    "Citation",
    "Error",
    "IngestItem",
    "IngestProgress",
    "IngestReport",
    "IngestRun",
    "ItemList",
    "RunList",
    "SearchHit",
    "SearchResponse",
    "Shape",
    "encode",
    "error",
    "ingest_progress",
    "ingest_report",
    "item_list",
    "of",
    "run_list",
    "search_hit",
    "search_response",
]
