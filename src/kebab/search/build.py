"""The retriever put together from its parts: the one builder for the product, its tests and benchmarks."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from kebab.domain.hits import Leg
from kebab.domain.values import dataclass
from kebab.errors import EngineError
from kebab.ports import (
    Analyzer,
    DocumentStore,
    Embedder,
    EmbeddingStore,
    LexicalIndex,
    PatternMatcher,
    Reranker,
    SourceFiles,
    VectorIndex,
    Vocabulary,
)
from kebab.search.either import EitherReader
from kebab.search.evidence import CoverageReader
from kebab.search.fusion import FusionPolicy
from kebab.search.hybrid import HybridRetriever
from kebab.search.learned import Learned
from kebab.search.legs import CANDIDATES, LegRetriever, UnavailableLeg
from kebab.search.lexical import LexicalRetriever
from kebab.search.patterns import PatternScanner
from kebab.search.present import Presenter
from kebab.search.quoted import QuoteReader
from kebab.search.spell import Speller
from kebab.search.vector import VectorRetriever

if TYPE_CHECKING:
    from kebab.search.rerank import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParts:
    """What a search runs on."""

    store: DocumentStore
    embeddings: EmbeddingStore
    files: SourceFiles
    analyzer: Analyzer
    lexical: LexicalIndex
    vectors: tuple[Embedder, VectorIndex] | EngineError | None = None
    """The model with its index, or why they cannot be used; None where words alone are configured."""
    reranker: Reranker | None = None
    matcher: PatternMatcher | None = None
    """Finds /patterns/; without one they are left out."""
    vocabulary: Vocabulary | None = None
    """Tells words from typos; without one whatever the corpus lacks may be a typo."""


def build_retriever(
    parts: SearchParts,
    *,
    fusion: FusionPolicy = Learned(),
    candidates: int = CANDIDATES,
    snippet_chars: int = 220,
    old_after: timedelta | None = None,
    reranked: int = 20,
) -> HybridRetriever:
    """Both legs over the parts; ``reranked`` is how many of the first hits a reranker sees."""
    presenter = Presenter(
        parts.store,
        parts.analyzer,
        parts.files,
        snippet_chars,
        old_after,
        counted=candidates,
        matcher=parts.matcher,
    )
    return HybridRetriever(
        lexical=LexicalRetriever(parts.lexical, parts.store, parts.analyzer, presenter),
        vector=_vector_leg(parts, presenter),
        store=parts.store,
        fusion=fusion,
        evidence=CoverageReader(parts.lexical, parts.store, parts.analyzer, parts.vocabulary),
        presenter=presenter,
        candidates=candidates,
        speller=Speller(parts.lexical, parts.analyzer, parts.vocabulary, parts.store.list_documents),
        alternatives=EitherReader(QuoteReader(parts.lexical, parts.analyzer)),
        scanner=PatternScanner(parts.store, parts.matcher) if parts.matcher else None,
        stages=_stages(parts, reranked),
    )


def _vector_leg(parts: SearchParts, presenter: Presenter) -> LegRetriever | None:
    if parts.vectors is None:
        return None
    if isinstance(parts.vectors, EngineError):
        return UnavailableLeg(Leg.VECTOR, parts.vectors)
    embedder, index = parts.vectors
    return VectorRetriever(
        index,
        embedder,
        parts.store,
        parts.embeddings,
        parts.analyzer,
        presenter,
        QuoteReader(parts.lexical, parts.analyzer),
    )


def _stages(parts: SearchParts, reranked: int) -> tuple[Stage, ...]:
    if parts.reranker is None:
        return ()
    from kebab.search.rerank import RerankStage

    return (RerankStage(parts.reranker, parts.store, reranked),)
