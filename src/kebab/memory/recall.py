"""Recalling: records found again by meaning, by words, and by both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from kebab.domain.executions import (
    Execution,
    ExecutionFilters,
    HybridSearchResult,
    Prefer,
    Recalled,
    RecalledTasks,
    TaskHit,
)
from kebab.domain.fusion import Fused, Ranked
from kebab.errors import InvalidInput
from kebab.memory.legs import LEXICAL, SEMANTIC, Cue, Legs
from kebab.ports import Embedder, ExecutionIndex, ExecutionStore, MemoryKind

FAILURE_WEIGHT = 0.5
"""With Prefer.SUCCESS a failed run must be twice as good a match to stand before a successful one."""

NO_FILTERS = ExecutionFilters()


@dataclass(frozen=True, slots=True)
class Recall:
    """Searches the memory.

    Both legs give equally many candidates, at least 100, so that the first five of ``limit`` 5 and 50 are the
    same. A leg that cannot take part is named in ``degraded``; when none can, the first one's error is
    raised. An empty memory gives no hits.
    """

    store: ExecutionStore
    executions: ExecutionIndex
    tasks: ExecutionIndex
    embedder: Embedder | None

    def find_similar_executions(
        self,
        text: str = "",
        *,
        embedding: Sequence[float] | None = None,
        embedding_model: str | None = None,
        limit: int = 10,
        filters: ExecutionFilters = NO_FILTERS,
        prefer: Prefer = Prefer.NOTHING,
    ) -> Recalled:
        """Executions by meaning alone. Raises ModelUnavailable for a text where no model can embed it."""
        cue = Cue.of(text, embedding, embedding_model)
        return self._recalled(cue, (SEMANTIC,), limit=limit, filters=filters, prefer=prefer)

    def search_words(
        self,
        text: str,
        *,
        limit: int = 10,
        filters: ExecutionFilters = NO_FILTERS,
        prefer: Prefer = Prefer.NOTHING,
    ) -> Recalled:
        """Executions by words alone."""
        return self._recalled(Cue(text), (LEXICAL,), limit=limit, filters=filters, prefer=prefer)

    def hybrid_search(
        self,
        text: str = "",
        *,
        embedding: Sequence[float] | None = None,
        embedding_model: str | None = None,
        limit: int = 10,
        filters: ExecutionFilters = NO_FILTERS,
        prefer: Prefer = Prefer.NOTHING,
    ) -> Recalled:
        """Executions by words and meaning.

        Without ``embedding`` the text is embedded; an empty one means that there is none, and words answer
        alone. Without a text, meaning answers alone. Either case is named in ``degraded``.
        """
        cue = Cue.of(text, embedding, embedding_model)
        return self._recalled(cue, (LEXICAL, SEMANTIC), limit=limit, filters=filters, prefer=prefer)

    def find_similar_rlm_tasks(
        self,
        text: str = "",
        *,
        embedding: Sequence[float] | None = None,
        embedding_model: str | None = None,
        limit: int = 10,
    ) -> RecalledTasks:
        """Free-form task records by words and meaning; one without a vector is found by its words."""
        cue = Cue.of(text, embedding, embedding_model)
        legs = self._legs(self.tasks, MemoryKind.TASKS)
        fused, ranked, notes = legs.run(cue, (LEXICAL, SEMANTIC), limit=_checked(limit), filters=NO_FILTERS)
        loaded = self.store.load_tasks([item.id for item in fused[:limit]])
        hits = [
            TaskHit(task=loaded[item.id], **_signals(item, ranked)) for item in fused if item.id in loaded
        ]
        return RecalledTasks(tuple(hits), notes)

    def _recalled(
        self, cue: Cue, names: tuple[str, ...], *, limit: int, filters: ExecutionFilters, prefer: Prefer
    ) -> Recalled:
        legs = self._legs(self.executions, MemoryKind.EXECUTIONS)
        fused, ranked, notes = legs.run(cue, names, limit=_checked(limit), filters=filters)
        # All candidates are weighed, not only the first few: a good success may stand further down.
        wanted = fused[:limit] if prefer is Prefer.NOTHING else fused
        loaded = self.store.load([item.id for item in wanted])
        hits = [_result(item, loaded[item.id], ranked, prefer) for item in wanted if item.id in loaded]
        if prefer is not Prefer.NOTHING:
            hits.sort(key=lambda hit: -hit.hybrid_score)
        return Recalled(tuple(hits[:limit]), notes)

    def _legs(self, index: ExecutionIndex, kind: MemoryKind) -> Legs:
        return Legs(self.store, index, kind, self.embedder)


Rankings = Mapping[str, Sequence[Ranked]]


class _Signals(TypedDict):
    hybrid_score: float
    lexical_rank: int | None
    lexical_score: float | None
    semantic_rank: int | None
    semantic_score: float | None
    reason: str


def _result(item: Fused, execution: Execution, ranked: Rankings, prefer: Prefer) -> HybridSearchResult:
    weight = FAILURE_WEIGHT if prefer is Prefer.SUCCESS and not execution.success else 1.0
    signals = _signals(item, ranked)
    if weight != 1.0:
        signals["hybrid_score"] *= weight
        signals["reason"] += f"; a failed run counts ×{weight:g}"
    return HybridSearchResult(execution=execution, outcome_weight=weight, **signals)


def _signals(item: Fused, ranked: Rankings) -> _Signals:
    """The scores and ranks of one hit, and the sentence that tells them."""
    lexical = _place(item.id, ranked.get(LEXICAL, ()))
    semantic = _place(item.id, ranked.get(SEMANTIC, ()))
    lexical_score = None if lexical is None else lexical[1] / (1 + lexical[1])
    semantic_score = None if semantic is None else max(0.0, semantic[1])
    told = [f"words: place {lexical[0]}, bm25 {lexical[1]:.2f}"] if lexical else []
    told += [f"meaning: place {semantic[0]}, cosine {semantic[1]:.2f}"] if semantic else []
    # One leg alone has nothing to fuse: its own score says more than a rank.
    alone = lexical_score if semantic_score is None else semantic_score
    return {
        "hybrid_score": item.score if len(ranked) > 1 else alone or 0.0,
        "lexical_rank": lexical[0] if lexical else None,
        "lexical_score": lexical_score,
        "semantic_rank": semantic[0] if semantic else None,
        "semantic_score": semantic_score,
        "reason": "; ".join(told),
    }


def _place(key: str, ranking: Sequence[Ranked]) -> tuple[int, float] | None:
    return next(((rank, item.score) for rank, item in enumerate(ranking, 1) if item.id == key), None)


def _checked(limit: int) -> int:
    if not 1 <= limit <= 1000:
        raise InvalidInput(f"limit is {limit}; it must lie between 1 and 1000")
    return limit
