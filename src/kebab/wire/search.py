"""Shapes of search: what was found, where it stands, and how it came to its place."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from kebab.domain import hits as domain
from kebab.domain import why as domain_why
from kebab.wire.errors import Error
from kebab.wire.shape import Shape, of


class Citation(Shape, frozen=True, tag_field="schema_version", tag="citation.v1"):
    """Where a text stands; ``uri`` is ``path#L12-L34``, ``path#p=3`` and the like."""

    kind: str
    path: str
    uri: str
    start: int
    end: int
    stale: bool
    region: tuple[int, int, int, int] | None = None
    source_state: str | None = None
    """``current``, ``changed`` or ``gone``; ``stale`` is true of the last two. Null if unknown."""
    symbol: str | UnsetType = UNSET
    """The function, class or the like of source code that the lines belong to."""


class Retrieval(Shape, frozen=True):
    """Scores in [0, 1]; the leg that did not find the chunk is null."""

    method: str
    fusion_score: float
    lexical_score: float | None
    lexical_rank: int | None
    vector_score: float | None
    vector_rank: int | None


class Evidence(Shape, frozen=True):
    """What one leg knows of the hit, as its engine gave it."""

    leg: str
    rank: int
    raw_score: float
    contribution: float | None
    matched_terms: tuple[str, ...]
    parts: dict[str, float] | UnsetType = UNSET
    """What the contribution is made of, where that is more than the leg's own score."""


class Rerank(Shape, frozen=True):
    """What the reranker said of the hit, on the model's own scale."""

    model: str
    raw_score: float
    rank: int
    rank_before: int


class SearchHit(Shape, frozen=True, tag_field="schema_version", tag="search_hit.v1"):
    rank: int
    score: float
    score_kind: str
    chunk_id: str
    doc_id: str
    doc_path: str
    title: str
    heading_path: tuple[str, ...]
    section_label: str | None
    snippet: str
    marks: tuple[tuple[int, int], ...]
    citation: Citation
    retrieval: Retrieval
    index_version: str
    embedding_model: str | None
    chunker_version: str
    indexed_at: str
    stale: bool
    source_id: str
    trust_level: str
    repo: str | None = None
    code_lang: str | None = None
    source_state: str | None = None
    """That of the citation; ``stale`` is true when it is ``changed`` or ``gone``."""
    old: bool = False
    """Indexed longer ago than ``search.stale_threshold_days``; says nothing of whether the file changed."""
    evidence: tuple[Evidence, ...] | UnsetType = UNSET
    rerank: Rerank | UnsetType = UNSET
    """Only where a reranker took part and an explanation was asked for."""
    symbol: str | UnsetType = UNSET
    """That of the citation."""
    repeats: str | UnsetType = UNSET
    """The chunk above that holds most of this one's text, which is why it stands so low."""
    others: tuple[str, ...] | UnsetType = UNSET
    """Further chunks of the document that were found, where hits are grouped by document."""
    copies: tuple[str, ...] | UnsetType = UNSET
    """Paths of documents with the same text, which are not shown for it."""
    readable: str | UnsetType = UNSET
    """The snippet without markup, for screens; only where it differs. ``snippet`` is the text verbatim."""
    readable_marks: tuple[tuple[int, int], ...] | UnsetType = UNSET
    """The matched words in ``readable``."""


class Degradation(Shape, frozen=True):
    """A part of the search that could not take part, or not wholly, and why."""

    part: str
    code: str
    message: str
    hint: str | None = None
    """What to do about it."""


class Fusion(Shape, frozen=True):
    policy: str
    weights: dict[str, float]
    reason: str


class TraceCandidate(Shape, frozen=True):
    chunk_id: str
    rank: int
    raw_score: float


class Trace(Shape, frozen=True):
    """The lists before fusion and where the time went."""

    legs: dict[str, tuple[TraceCandidate, ...]]
    timings_ms: dict[str, float]


class Correction(Shape, frozen=True):
    """A word that no document holds, and the one that was searched for instead."""

    word: str
    instead: str


class SearchResponse(Shape, frozen=True, tag_field="schema_version", tag="search_response.v1"):
    query: str
    mode: str
    hits: tuple[SearchHit, ...]
    next_cursor: str | None
    truncated: bool
    degraded: tuple[Degradation, ...]
    index_version: str
    fusion: Fusion | UnsetType = UNSET
    trace: Trace | UnsetType = UNSET
    groups: tuple[SearchHit, ...] | UnsetType = UNSET
    """The same search by document: the best hit of each, with ``others`` and ``copies``."""
    corrections: tuple[Correction, ...] | UnsetType = UNSET
    """Typos that were corrected; ``exact`` in the request forbids it."""
    withheld: int | UnsetType = UNSET
    """Hits of this page that are left out, since their score is below ``min_score`` of the request."""
    weak: bool | UnsetType = UNSET
    """True where even the best hit is unlikely to be what was meant; left out otherwise."""


class BulkSearchItem(Shape, frozen=True, tag_field="schema_version", tag="bulk_search_item.v1"):
    """The answer to one line of ``search --bulk``: a response or an error, the other is null."""

    query: str | None
    response: SearchResponse | None
    error: Error | None


class LegPlace(Shape, frozen=True):
    """Where one leg put a chunk; ``rank`` is null when it did not find it, and ``note`` says why."""

    leg: str
    rank: int | None
    raw_score: float | None
    contribution: float | None
    matched_terms: tuple[str, ...]
    missing_terms: tuple[str, ...]
    note: str


class ChunkPlace(Shape, frozen=True):
    chunk_id: str
    citation: str
    heading_path: tuple[str, ...]
    rank: int | None
    score: float | None
    shown: bool
    legs: tuple[LegPlace, ...]
    verdict: str
    repeats: str | None = None
    """The chunk above that holds most of this one's text, which is why it stands so low."""


class Why(Shape, frozen=True, tag_field="schema_version", tag="why.v1"):
    """Why a document was or was not in the results: its chunks, best placed first."""

    query: str
    mode: str
    k: int
    doc_path: str
    shown: bool
    verdict: str
    removed_by: tuple[str, ...]
    chunks: tuple[ChunkPlace, ...]
    fusion: Fusion | None
    page: int | None = None
    """The document's place where each is shown once; null beyond the first hundred, or for a single chunk."""


def search_response(response: domain.SearchResponse, *, explain: bool = False) -> SearchResponse:
    """With ``explain`` the hits carry each leg's evidence and the response says how they were fused."""
    return of(
        response,
        SearchResponse,
        hits=tuple(search_hit(hit, explain=explain) for hit in response.hits),
        fusion=of(response.fusion, Fusion) if explain and response.fusion else UNSET,
        trace=_trace(response.trace) if response.trace else UNSET,
        corrections=tuple(of(one, Correction) for one in response.corrections) or UNSET,
        groups=tuple(search_hit(hit, explain=explain) for hit in response.groups) or UNSET,
        withheld=response.withheld or UNSET,
        weak=response.weak or UNSET,
    )


def _trace(found: domain.SearchTrace) -> Trace:
    legs = {
        leg: tuple(
            TraceCandidate(chunk_id=item.id, rank=rank, raw_score=item.score)
            for rank, item in enumerate(ranking, start=1)
        )
        for leg, ranking in found.legs.items()
    }
    return Trace(legs=legs, timings_ms=found.timings_ms)


def search_hit(hit: domain.SearchHit, *, explain: bool = False) -> SearchHit:
    return of(
        hit,
        SearchHit,
        snippet=hit.snippet.text,
        symbol=hit.symbol or UNSET,
        marks=hit.snippet.marks,
        evidence=tuple(map(_evidence, hit.evidence)) if explain else UNSET,
        rerank=of(hit.rerank, Rerank) if explain and hit.rerank else UNSET,
        repeats=hit.repeats if explain and hit.repeats else UNSET,
        others=hit.others or UNSET,
        copies=hit.copies or UNSET,
        readable=hit.readable.text if hit.readable else UNSET,
        readable_marks=hit.readable.marks if hit.readable else UNSET,
    )


def _evidence(found: domain.LegEvidence) -> Evidence:
    return of(found, Evidence, parts=dict(found.parts) or UNSET)


def why(report: domain_why.WhyReport) -> Why:
    return of(report, Why)
