"""Recalling: records found again by meaning, by words, and by both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import sqrt
from typing import TypedDict

from kebab.domain.executions import Execution, ExecutionFilters, TaskRecord
from kebab.domain.fusion import Fused, Ranked
from kebab.domain.recalls import HybridSearchResult, Prefer, Recalled, RecalledTasks, TaskHit
from kebab.errors import InvalidInput
from kebab.memory.legs import LEXICAL, SEMANTIC, Cue, Found, Legs
from kebab.memory.relevance import CALIBRATED, DEFAULT_MIN_SCORE, coverage, relevance
from kebab.ports import Analyzer, Embedder, ExecutionIndex, ExecutionStore

FAILURE_WEIGHT = 0.5
"""With Prefer.SUCCESS a failed run must be twice as good a match to stand before a successful one."""

NO_FILTERS = ExecutionFilters()


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Recall:
    """Searches the memory.

    The first hits do not depend on how many are wanted. A leg that cannot take part is named in ``degraded``;
    when none can, the first one's error is raised. Records that have expired are not found. What is less
    relevant than ``min_score`` (None: the calibrated default) is withheld and counted; without an analyzer
    relevance is not judged. An empty memory gives no hits.
    """

    store: ExecutionStore
    executions: ExecutionIndex
    tasks: ExecutionIndex
    embedder: Embedder | None
    analyzer: Analyzer | None = None
    clock: Callable[[], datetime] = field(default=now)

    def find_similar_executions(
        self,
        text: str = "",
        *,
        embedding: Sequence[float] | None = None,
        embedding_model: str | None = None,
        limit: int = 10,
        filters: ExecutionFilters = NO_FILTERS,
        prefer: Prefer = Prefer.NOTHING,
        half_life_days: float | None = None,
        min_score: float | None = None,
    ) -> Recalled:
        """Executions by meaning alone. Raises ModelUnavailable for a text where no model can embed it."""
        cue = Cue.of(text, embedding, embedding_model)
        weighing = Weighing.of(prefer, half_life_days, self.clock())
        return self._recalled(
            cue, (SEMANTIC,), limit=limit, filters=filters, weighing=weighing, min_score=min_score
        )

    def search_words(
        self,
        text: str,
        *,
        limit: int = 10,
        filters: ExecutionFilters = NO_FILTERS,
        prefer: Prefer = Prefer.NOTHING,
        half_life_days: float | None = None,
        min_score: float | None = None,
    ) -> Recalled:
        """Executions by words alone."""
        weighing = Weighing.of(prefer, half_life_days, self.clock())
        return self._recalled(
            Cue(text), (LEXICAL,), limit=limit, filters=filters, weighing=weighing, min_score=min_score
        )

    def hybrid_search(
        self,
        text: str = "",
        *,
        embedding: Sequence[float] | None = None,
        embedding_model: str | None = None,
        limit: int = 10,
        filters: ExecutionFilters = NO_FILTERS,
        prefer: Prefer = Prefer.NOTHING,
        half_life_days: float | None = None,
        min_score: float | None = None,
    ) -> Recalled:
        """Executions by words and meaning.

        Without ``embedding`` the text is embedded; an empty one means that there is none, and words answer
        alone. Without a text, meaning answers alone. Either case is named in ``degraded``. With
        ``half_life_days`` a run of that age counts three quarters, and a very old one half.
        """
        cue = Cue.of(text, embedding, embedding_model)
        weighing = Weighing.of(prefer, half_life_days, self.clock())
        return self._recalled(
            cue, (LEXICAL, SEMANTIC), limit=limit, filters=filters, weighing=weighing, min_score=min_score
        )

    def find_similar_rlm_tasks(
        self,
        text: str = "",
        *,
        embedding: Sequence[float] | None = None,
        embedding_model: str | None = None,
        limit: int = 10,
        min_score: float | None = None,
    ) -> RecalledTasks:
        """Free-form task records by words and meaning; one without a vector is found by its words."""
        cue = Cue.of(text, embedding, embedding_model)
        found = Legs(self.tasks, self.embedder).run(
            cue, (LEXICAL, SEMANTIC), limit=_checked(limit), filters=NO_FILTERS
        )
        loaded = self.store.load_tasks([item.id for item in found.fused[:limit]])
        judged = self._judged(self.tasks, cue, found, loaded)
        hits = [
            TaskHit(task=loaded[item.id], relevance=judged.get(item.id), **_signals(item, found.ranked))
            for item in found.fused
            if item.id in loaded
        ]
        shown = [hit for hit in hits if _passes(hit.relevance, min_score)]
        return RecalledTasks(tuple(shown), found.notes, len(hits) - len(shown))

    def _recalled(
        self,
        cue: Cue,
        names: tuple[str, ...],
        *,
        limit: int,
        filters: ExecutionFilters,
        weighing: Weighing,
        min_score: float | None,
    ) -> Recalled:
        valid = replace(filters, valid_at=self.clock())
        found = Legs(self.executions, self.embedder).run(cue, names, limit=_checked(limit), filters=valid)
        # All candidates are weighed, not only the first few: a good success may stand further down.
        wanted = found.fused if weighing else found.fused[:limit]
        loaded = self.store.load([item.id for item in wanted])
        hits = [
            weighing.applied(_result(item, loaded[item.id], found.ranked))
            for item in wanted
            if item.id in loaded
        ]
        hits = sorted(hits, key=lambda hit: -hit.hybrid_score)[:limit] if weighing else hits
        judged = self._judged(self.executions, cue, found, {hit.execution.id: hit.execution for hit in hits})
        hits = [replace(hit, relevance=judged.get(hit.execution.id)) for hit in hits]
        shown = [hit for hit in hits if _passes(hit.relevance, min_score)]
        return Recalled(tuple(shown), found.notes, len(hits) - len(shown))

    def _judged(
        self,
        index: ExecutionIndex,
        cue: Cue,
        found: Found,
        records: Mapping[str, Execution] | Mapping[str, TaskRecord],
    ) -> dict[str, float]:
        """How relevant each record is; empty where that cannot be judged."""
        if self.analyzer is None or not cue.text.strip() or not records:
            return {}
        weights = self.analyzer.query_weights(cue.text)
        known = index.frequencies(list(weights))
        held = index.held({key: item.searched_text for key, item in records.items()}, list(weights))
        return {
            key: relevance(covered=coverage(weights, held.get(key, ()), known), cosine=_cosine(found, record))
            for key, record in records.items()
        }


@dataclass(frozen=True, slots=True)
class Weighing:
    """What else weighs on the place of a run; false where nothing does."""

    prefer: Prefer = Prefer.NOTHING
    half_life: timedelta | None = None
    moment: datetime = datetime(1970, 1, 1, tzinfo=UTC)

    @classmethod
    def of(cls, prefer: Prefer, half_life_days: float | None, moment: datetime) -> Weighing:
        if half_life_days is not None and not 0 < half_life_days < 1e6:
            raise InvalidInput(f"half_life_days is {half_life_days:g}; it must be positive")
        return cls(prefer, None if half_life_days is None else timedelta(days=half_life_days), moment)

    def __bool__(self) -> bool:
        return self.prefer is not Prefer.NOTHING or self.half_life is not None

    def applied(self, hit: HybridSearchResult) -> HybridSearchResult:
        failed = self.prefer is Prefer.SUCCESS and not hit.execution.success
        outcome, recency = FAILURE_WEIGHT if failed else 1.0, self._recency(hit.execution)
        told = [f"a failed run counts ×{outcome:g}"] if failed else []
        told += [f"its age counts ×{recency:.2f}"] if self.half_life else []
        return replace(
            hit,
            hybrid_score=hit.hybrid_score * outcome * recency,
            outcome_weight=outcome,
            recency_weight=recency,
            reason="; ".join((hit.reason, *told)),
        )

    def _recency(self, execution: Execution) -> float:
        """From 1 for a run of now to 0.5 for one of long ago: age shades a match, it does not hide it."""
        if self.half_life is None:
            return 1.0
        age = max(self.moment - execution.finished_at, timedelta())
        return float(0.5 + 0.5 * 0.5 ** (age / self.half_life))


Rankings = Mapping[str, Sequence[Ranked]]


class _Signals(TypedDict):
    hybrid_score: float
    lexical_rank: int | None
    lexical_score: float | None
    semantic_rank: int | None
    semantic_score: float | None
    reason: str


def _result(item: Fused, execution: Execution, ranked: Rankings) -> HybridSearchResult:
    return HybridSearchResult(execution=execution, **_signals(item, ranked))


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


def _cosine(found: Found, record: Execution | TaskRecord) -> float | None:
    """Of query and record, where the model is the one that relevance was fitted on."""
    if found.space is None or found.vector is None or not found.space.model.startswith(CALIBRATED):
        return None
    listed = _place(record.id, found.ranked.get(SEMANTIC, ()))
    if listed is not None:
        return listed[1]
    if record.embedding is None or record.embedding_model != found.space.model:
        return 0.0
    dot = sum(one * other for one, other in zip(found.vector, record.embedding, strict=True))
    return dot / (_length(found.vector) * _length(record.embedding) or 1.0)


def _length(vector: Sequence[float]) -> float:
    return sqrt(sum(value * value for value in vector))


def _passes(judged: float | None, min_score: float | None) -> bool:
    return judged is None or judged >= (DEFAULT_MIN_SCORE if min_score is None else min_score)


def _checked(limit: int) -> int:
    if not 1 <= limit <= 1000:
        raise InvalidInput(f"limit is {limit}; it must lie between 1 and 1000")
    return limit
