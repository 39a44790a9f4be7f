"""Finding by words: BM25 over analysed text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from kebab.domain.fusion import Ranked
from kebab.domain.hits import (
    Degradation,
    Leg,
    LegEvidence,
    Retrieval,
    RetrievalDetail,
    ScoreKind,
    SearchTrace,
)
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.ports import Analyzer, DocumentStore, LexicalIndex, LexicalQuery
from kebab.search.legs import MANY, lagging
from kebab.search.present import Placed, Presenter
from kebab.search.trace import Stopwatch


def lexical_score(bm25: float) -> float:
    """BM25 folded into [0, 1)."""
    return bm25 / (1 + bm25) if bm25 > 0 else 0.0


@dataclass(frozen=True, slots=True)
class LexicalRetriever:
    """Ranks the chunks that hold at least one word of the query."""

    index: LexicalIndex
    store: DocumentStore
    analyzer: Analyzer
    presenter: Presenter

    leg: ClassVar[Leg] = Leg.LEXICAL
    score_kind: ClassVar[ScoreKind] = ScoreKind.BM25
    embedding_model: ClassVar[str | None] = None

    @property
    def index_version(self) -> str:
        return self.index.version

    def search(self, query: SearchQuery) -> Retrieval:
        watch = Stopwatch()
        ranked = self.rank(query, depth=query.k, docs=self.store.matching(query.filters))
        watch.lap(self.leg.value)
        placed = [self._placed(rank, item) for rank, item in enumerate(ranked, start=1)]
        hits = self.presenter.hits(
            placed,
            query,
            score_kind=self.score_kind,
            index_version=self.index_version,
            embedding_model=None,
        )
        watch.lap("present")
        return Retrieval(hits, self.degraded(), SearchTrace({self.leg.value: ranked}, watch.timings_ms))

    def rank(self, query: SearchQuery, *, depth: int, docs: frozenset[DocId] | None) -> list[Ranked]:
        """Chunk ids by BM25, best first, at most ``depth``; empty when no word of the query is known."""
        weights = self.analyzer.query_weights(query.text)
        if not weights:
            return []
        lexical = LexicalQuery(
            tuple(weights),
            weights=weights,
            phrases=self._sequences(query.phrases),
            excluded=self._sequences(query.excluded),
        )
        return self.index.search(lexical, limit=depth, docs=docs)

    def prepared(
        self, query: SearchQuery, *, depth: int, docs: frozenset[DocId] | None
    ) -> Callable[[], list[Ranked]]:
        return partial(self.rank, query, depth=depth, docs=docs)

    def position(self) -> int:
        return self.index.checkpoint()

    def degraded(self) -> tuple[Degradation, ...]:
        """Says how far the index is behind the store; empty when it is not."""
        behind = self.store.behind(self.index.checkpoint(), at_most=MANY)
        return lagging(self.leg, "words index", behind)

    def _sequences(self, texts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        sequences = (tuple(self.analyzer.phrase_terms(text)) for text in texts)
        return tuple(sequence for sequence in sequences if sequence)

    def _placed(self, rank: int, item: Ranked) -> Placed:
        score = lexical_score(item.score)
        return Placed(
            ChunkId(item.id),
            score,
            RetrievalDetail(SearchMode.LEXICAL, score, lexical_score=score, lexical_rank=rank),
            (LegEvidence(self.leg, rank, item.score),),
        )
