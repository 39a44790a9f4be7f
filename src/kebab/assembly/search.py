"""The search room joined to the engines."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from kebab.adapters.arrow_patterns import ArrowPatternMatcher
from kebab.errors import EngineError
from kebab.ports import Embedder, ModelKey, VectorIndex
from kebab.search.build import SearchParts, build_retriever
from kebab.search.fusion import Adaptive, FusionPolicy, policies
from kebab.search.searcher import Searcher

if TYPE_CHECKING:
    from kebab.assembly.engines import Engines
    from kebab.config.sections import Search


def build_searcher(engines: Engines) -> Searcher:
    """The searcher that the settings ask for. Raises NotIndexed."""
    from kebab.assembly.read import build_reader

    settings = engines.settings
    search = settings.search
    named = _policies(search)
    retriever = build_retriever(
        _parts(engines),
        fusion=named[search.hybrid_fusion],
        candidates=search.candidates,
        snippet_chars=search.snippet_chars,
        old_after=timedelta(days=search.stale_threshold_days) if search.stale_threshold_days else None,
        reranked=settings.models.reranker.top,
    )
    return Searcher(
        retriever=retriever,
        reader=build_reader(engines),
        policies=named,
        default_mode=search.default_mode,
        default_k=search.default_k,
    )


def _parts(engines: Engines) -> SearchParts:
    stores = engines.reading
    return SearchParts(
        store=stores.documents,
        embeddings=stores.embeddings,
        files=engines.files,
        analyzer=engines.analyzer,
        lexical=engines.words_read(engines.lexical_index),
        vectors=_vectors(engines),
        reranker=engines.reranker,
        matcher=ArrowPatternMatcher(),
    )


def _vectors(engines: Engines) -> tuple[Embedder, VectorIndex] | EngineError | None:
    try:
        embedder = engines.embedder
        return (embedder, engines.vector_index(ModelKey.of(embedder))) if embedder else None
    except EngineError as error:
        return error


def _policies(search: Search) -> dict[str, FusionPolicy]:
    learned = search.adaptive
    return policies(
        k=search.rrf_k,
        lexical=search.weights.lexical,
        vector=search.weights.vector,
        adaptive=Adaptive(learned.held, learned.unheld, learned.enough, learned.bridge),
    )
