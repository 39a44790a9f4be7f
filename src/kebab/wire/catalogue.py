"""Every object of the wire: what its schemas are generated from."""

from __future__ import annotations

from kebab.wire.answers import ANSWER_SHAPES
from kebab.wire.briefs import Brief
from kebab.wire.connections import Links, Related
from kebab.wire.errors import Error
from kebab.wire.evaluations import (
    EvalAnswers,
    EvalAnswerTuning,
    EvalComparison,
    EvalImport,
    EvalList,
    EvalNames,
    EvalReport,
    EvalTuning,
)
from kebab.wire.ingest import IngestItem, IngestProgress, IngestReport, IngestRun, ItemList, RunList
from kebab.wire.library import ChunkInspection, DocInspection, DocList, DocSummary, FetchResult
from kebab.wire.memory import MEMORY_SHAPES
from kebab.wire.publishing import PUBLISHING_SHAPES
from kebab.wire.requests import Request
from kebab.wire.requests.connections import CONNECTION_REQUESTS
from kebab.wire.requests.library import LIBRARY_REQUESTS
from kebab.wire.requests.memory import MEMORY_REQUESTS
from kebab.wire.requests.publishing import PUBLISHING_REQUESTS
from kebab.wire.requests.search import SEARCH_REQUESTS
from kebab.wire.search import BulkSearchItem, Citation, SearchHit, SearchResponse, Why
from kebab.wire.shape import Shape
from kebab.wire.upkeep import (
    BundleReport,
    Doctor,
    FormatList,
    IndexReport,
    InitReport,
    ModelList,
    ResetReport,
    Schema,
    Status,
    TrustList,
    TrustReport,
)
from kebab.wire.views import VIEW_SHAPES

REQUESTS: tuple[type[Request], ...] = (
    *CONNECTION_REQUESTS,
    *LIBRARY_REQUESTS,
    *MEMORY_REQUESTS,
    *PUBLISHING_REQUESTS,
    *SEARCH_REQUESTS,
)
"""What can be asked."""

SHAPES: tuple[type[Shape] | type[Request], ...] = (
    Brief,
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
    EvalAnswers,
    EvalList,
    EvalNames,
    EvalReport,
    EvalAnswerTuning,
    EvalTuning,
    FetchResult,
    FormatList,
    IndexReport,
    IngestItem,
    IngestProgress,
    IngestReport,
    IngestRun,
    InitReport,
    ItemList,
    Links,
    ModelList,
    Related,
    ResetReport,
    RunList,
    Schema,
    SearchHit,
    SearchResponse,
    Status,
    TrustList,
    TrustReport,
    Why,
    *ANSWER_SHAPES,
    *MEMORY_SHAPES,
    *PUBLISHING_SHAPES,
    *VIEW_SHAPES,
    *REQUESTS,
)
"""Everything that is an object of its own on the wire."""


def names() -> list[str]:
    """The schemas this kebab speaks, such as ``search_hit.v1``, sorted."""
    return sorted(str(shape.__struct_config__.tag) for shape in SHAPES)
