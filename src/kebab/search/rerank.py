"""A second look at the first hits: a model that reads query and text together puts them in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite
from typing import Protocol

from kebab.domain.chunks import StoredChunk, searchable_text
from kebab.domain.hits import Degradation, RerankDetail, Retrieval, ScoreKind, SearchHit
from kebab.domain.ids import ChunkId
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.errors import EngineError, ModelUnavailable
from kebab.ports import DocumentStore, Reranker
from kebab.search.spread import spread
from kebab.search.trace import Stopwatch, with_list


class Stage(Protocol):
    """Something done to the hits of any mode before they are cut to k."""

    @property
    def window(self) -> int:
        """How many of the first hits it needs to see. Fixed, so that what it does never depends on k."""
        ...

    def apply(self, query: SearchQuery, found: Retrieval) -> Retrieval:
        """The same hits, those of the window in a new order, ranked from 1, scores falling."""
        ...


@dataclass(frozen=True, slots=True)
class RerankStage:
    """Orders the first ``window`` hits by the reranker; the others follow as they were.

    A reranker that fails leaves the order alone and is named in ``degraded``.
    """

    reranker: Reranker
    store: DocumentStore
    window: int = 20

    def apply(self, query: SearchQuery, found: Retrieval) -> Retrieval:
        first, rest = found.hits[: self.window], found.hits[self.window :]
        stored = self.store.hydrate([hit.chunk_id for hit in first])
        # A chunk that was removed since the legs ran has no text any more.
        first = tuple(hit for hit in first if hit.chunk_id in stored)
        if not first:
            return found
        watch = Stopwatch()
        try:
            scores = self._scores(query, [searchable_text(stored[hit.chunk_id]) for hit in first])
        except EngineError as error:
            note = Degradation("reranker", error.code, error.message, error.hint)
            return replace(found, degraded=(*found.degraded, note))
        ordered = _ordered(first, scores, model=self.reranker.model_id)
        watch.lap("rerank")
        trace = with_list(found.trace, "reranker", [_scored(hit) for hit in ordered], watch)
        if query.mode is SearchMode.HYBRID:
            ordered = _spread_out(ordered, stored)
        return replace(found, hits=_ranked([*ordered, *_below(ordered[-1].score, rest)]), trace=trace)

    def _scores(self, query: SearchQuery, texts: list[str]) -> list[float]:
        scores = self.reranker.score(query.text, texts)
        if len(scores) != len(texts) or not all(map(isfinite, scores)):
            raise ModelUnavailable(
                f"{self.reranker.model_id} did not give every text a finite score",
                hint="half-precision weights overflow on some machines: try the model in full precision",
            )
        return scores


def _ordered(hits: Sequence[SearchHit], scores: Sequence[float], *, model: str) -> list[SearchHit]:
    """Best score first; equal scores keep the order they had."""
    order = sorted(range(len(hits)), key=lambda place: (-scores[place], place))
    return [
        replace(
            hits[place],
            score=_squashed(scores[place]),
            score_kind=ScoreKind.RERANKER,
            rerank=RerankDetail(model, scores[place], rank=rank, rank_before=hits[place].rank),
            repeats=None,
        )
        for rank, place in enumerate(order, start=1)
    ]


def _scored(hit: SearchHit) -> tuple[ChunkId, float]:
    return hit.chunk_id, hit.rerank.raw_score if hit.rerank else 0.0


def _spread_out(hits: Sequence[SearchHit], stored: Mapping[ChunkId, StoredChunk]) -> list[SearchHit]:
    """What repeats a better hit goes last, with no better a score than the one above it."""
    shown: list[SearchHit] = []
    for hit, repeats in spread(hits, [stored[hit.chunk_id].chunk for hit in hits]):
        score = min(hit.score, shown[-1].score) if shown else hit.score
        shown.append(replace(hit, score=score, repeats=repeats))
    return shown


def _below(ceiling: float, rest: Sequence[SearchHit]) -> list[SearchHit]:
    """The others' scores are scaled under the last one's, so that the order stays the scores' order."""
    return [replace(hit, score=hit.score * ceiling, score_kind=ScoreKind.RERANKER) for hit in rest]


def _ranked(hits: Sequence[SearchHit]) -> tuple[SearchHit, ...]:
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1))


def _squashed(score: float) -> float:
    """Any number into [0, 1], in order: cross-encoders give logits."""
    if score < 0:
        return exp(score) / (1 + exp(score))
    return 1 / (1 + exp(-score))
