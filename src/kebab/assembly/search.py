"""The search room joined to the engines."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from kebab.adapters.embedders.shipped_words import ShippedWords
from kebab.adapters.re2_patterns import Re2PatternMatcher
from kebab.errors import EngineError
from kebab.ports import Embedder, ModelKey, VectorIndex
from kebab.search.build import SearchParts, build_retriever
from kebab.search.fusion import Adaptive, FusionPolicy
from kebab.search.learned import Learned, policies
from kebab.search.likelihood import ANY_MODEL, OWN_MODEL
from kebab.search.searcher import Searcher

if TYPE_CHECKING:
    from kebab.assembly.engines import Engines
    from kebab.config.sections import Search

OWN_MODEL_ID = "kebab-static"
"""The model whose cosines the likelihood of a search was fitted on."""


def build_searcher(engines: Engines) -> Searcher:
    """The searcher that the settings ask for. Raises NotIndexed."""
    from kebab.assembly.read import build_reader

    settings = engines.settings
    search = settings.search
    parts = _parts(engines)
    named = _policies(search, own_model=_is_own(parts))
    retriever = build_retriever(
        parts,
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
        matcher=Re2PatternMatcher(),
        vocabulary=ShippedWords(),
    )


def _vectors(engines: Engines) -> tuple[Embedder, VectorIndex] | EngineError | None:
    try:
        embedder = engines.embedder
        return (embedder, engines.vector_index(ModelKey.of(embedder))) if embedder else None
    except EngineError as error:
        return error


def _is_own(parts: SearchParts) -> bool:
    return isinstance(parts.vectors, tuple) and parts.vectors[0].model_id == OWN_MODEL_ID


def _policies(search: Search, *, own_model: bool) -> dict[str, FusionPolicy]:
    given, looks = search.adaptive, search.learned
    adaptive = Adaptive(given.held, given.unheld, given.enough, given.bridge)
    likelihood = OWN_MODEL if own_model else ANY_MODEL
    return policies(
        k=search.rrf_k,
        lexical=search.weights.lexical,
        vector=search.weights.vector,
        adaptive=adaptive,
        learned=Learned(adaptive, looks.name, looks.coverage, looks.nearness, looks.whole, likelihood),
    )
