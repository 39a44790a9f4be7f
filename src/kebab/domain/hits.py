"""What a search returns, and how each hit came to its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum

from kebab.domain.citations import Citation, CitationKind, CodeCitation, SourceState
from kebab.domain.fusion import Ranked
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.queries import SearchMode
from kebab.domain.values import dataclass


class ScoreKind(StrEnum):
    """What the top score is: a ranking signal; of ``learned`` alone it is a likelihood too."""

    RRF = "rrf"
    WEIGHTED_RRF = "weighted_rrf"
    CONVEX = "convex"
    ADAPTIVE = "adaptive"
    LEARNED = "learned"
    BM25 = "bm25"
    COSINE = "cosine"
    RERANKER = "reranker"
    LISTED = "listed"
    """Filters alone were asked: nothing was ranked."""


class Leg(StrEnum):
    LEXICAL = "lexical"
    VECTOR = "vector"


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of the original text; ``marks`` are the character ranges of the matched words in it."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    lines_before: int = field(default=0, compare=False)
    """Of the text, those before the first matched word, or before the piece where none matched."""


@dataclass(frozen=True, slots=True)
class RetrievalDetail:
    """Scores lie in [0, 1]; the side that did not find the chunk is None."""

    method: SearchMode
    fusion_score: float
    lexical_score: float | None = None
    lexical_rank: int | None = None
    vector_score: float | None = None
    vector_rank: int | None = None


@dataclass(frozen=True, slots=True)
class LegEvidence:
    """What one leg knows of one hit: shown by ``--explain``, used by fusion and by the answer's gate."""

    leg: Leg
    rank: int
    raw_score: float
    """BM25 or cosine, as the engine gave it."""
    contribution: float | None = None
    """What the leg added to the fused score; None where nothing was fused."""
    matched_terms: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    """What the contribution is made of, where a policy counts more than the leg's score."""


@dataclass(frozen=True, slots=True)
class RerankDetail:
    """What the reranker said of one hit."""

    model: str
    raw_score: float
    """As the model gave it, larger is better."""
    rank: int
    """Its place among the hits that were reranked."""
    rank_before: int


@dataclass(frozen=True, slots=True)
class SearchHit:
    rank: int
    score: float
    score_kind: ScoreKind
    chunk_id: ChunkId
    doc_id: DocId
    doc_path: str
    title: str
    heading_path: tuple[str, ...]
    section_label: str | None
    snippet: Snippet
    citation: Citation
    retrieval: RetrievalDetail
    index_version: str
    embedding_model: str | None
    chunker_version: str
    indexed_at: str
    old: bool
    """Indexed longer ago than the settings call fresh; says nothing of whether its file changed."""
    source_id: str
    trust_level: str
    repo: str | None = None
    code_lang: str | None = None
    evidence: tuple[LegEvidence, ...] = ()
    rerank: RerankDetail | None = None
    repeats: ChunkId | None = None
    """A hit above, of the same document, that holds most of this one's text: why it stands so low."""
    others: tuple[ChunkId, ...] = ()
    """Further chunks of the document among the candidates, where hits are grouped by document."""
    copies: tuple[str, ...] = ()
    """Paths of other documents that hold the same text and are not shown for it."""
    readable: Snippet | None = None
    """The snippet without markup, for screens; None where there is none to take out."""

    @property
    def shown(self) -> Snippet:
        """The snippet as people read it; ``snippet`` is the text as it stands."""
        return self.readable or self.snippet

    @property
    def line(self) -> int:
        """The line to open the file at: that of the first matched word shown, within the lines cited.

        1 where the citation names no lines.
        """
        if self.citation.kind not in (CitationKind.LINE, CitationKind.CODE):
            return 1
        return min(self.citation.end, self.citation.start + self.snippet.lines_before)

    @property
    def trail(self) -> tuple[str, ...]:
        """The headings above the hit, the document's title first."""
        if self.heading_path and self.heading_path[0] == self.title:
            return self.heading_path
        return (self.title, *self.heading_path)

    @property
    def symbol(self) -> str | None:
        """The function, class or the like that was found in source code."""
        return self.citation.symbol if isinstance(self.citation, CodeCitation) else None

    @property
    def stale(self) -> bool:
        """Whether the file changed or is gone since it was indexed."""
        return self.citation.stale

    @property
    def source_state(self) -> SourceState | None:
        return self.citation.source_state


@dataclass(frozen=True, slots=True)
class Degradation:
    """A part of the search that could not take part, or not wholly, and why; the rest answered without it."""

    part: str
    code: str
    message: str
    hint: str | None = None
    """What to do about it."""


@dataclass(frozen=True, slots=True)
class SearchTrace:
    """The lists before fusion and where the time went."""

    legs: Mapping[str, Sequence[Ranked]] = field(default_factory=dict)
    """Each leg's whole list with its raw scores, best first; likewise of a stage that reordered the hits."""
    timings_ms: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FusionNote:
    """Which policy fused, with which weights, and why: one sentence a person can check."""

    policy: str
    weights: dict[str, float]
    reason: str


@dataclass(frozen=True, slots=True)
class Correction:
    """A word that no document holds, or few hold in one, and what was searched for instead."""

    word: str
    instead: str


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What a retriever found, best first. An empty tuple means that nothing matched."""

    hits: tuple[SearchHit, ...]
    degraded: tuple[Degradation, ...] = ()
    trace: SearchTrace = field(default_factory=SearchTrace)
    fusion: FusionNote | None = None
    corrections: tuple[Correction, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """One page of results."""

    query: str
    mode: SearchMode
    hits: tuple[SearchHit, ...]
    next_cursor: str | None
    truncated: bool
    degraded: tuple[Degradation, ...]
    index_version: str
    fusion: FusionNote | None = None
    trace: SearchTrace | None = None
    groups: tuple[SearchHit, ...] = ()
    """The same search by document: the best hit of each, where that was asked for."""
    corrections: tuple[Correction, ...] = ()
    withheld: int = 0
    """Hits of this page that are not shown, since their score is below the one asked for."""
    weak: bool = False
    """Whether even the best hit is unlikely to be what was meant."""
