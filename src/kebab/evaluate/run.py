"""Running judged queries through a search and scoring what comes back, by unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Protocol

from kebab.domain.chunks import StoredChunk
from kebab.domain.evaluations import EvalQuery, EvalReport, QueryScore, QuerySet, RefusalScore
from kebab.domain.fusion import Ranked
from kebab.domain.hits import Retrieval
from kebab.domain.ids import ChunkId, digest, nfc
from kebab.domain.ingests import IngestPhase
from kebab.domain.progress import Progress, counted, silent
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.evaluate import metrics
from kebab.ports import DocumentStore

PAGE = 10
"""What a person sees first: latency, ``must_contain`` and ``forbidden`` look at this many."""
DEPTH = 100
"""Units that R@100 needs."""


class Subject(Protocol):
    """The search that is measured, in one configuration."""

    @property
    def index_version(self) -> str: ...

    def search(self, query: SearchQuery) -> Retrieval:
        """The search as a person gets it, snippets and all; its time is what counts as latency."""
        ...

    def rank(self, query: SearchQuery) -> list[Ranked]:
        """The same order without presentation, at least ``query.k`` deep where that many match."""
        ...


@dataclass(frozen=True, slots=True)
class Units:
    """Names what a chunk counts as. ``keys`` renames paths to a collection's own document ids."""

    keys: Mapping[str, str] = field(default_factory=dict)

    def names(self, stored: StoredChunk) -> list[str]:
        """Every target that the chunk would meet, the narrowest first."""
        path = self.keys.get(stored.path, stored.path)
        sections = [f"{path}#{heading}" for heading in reversed(stored.chunk.heading_path)]
        return [str(stored.chunk.chunk_id), *sections, path]

    def unit(self, stored: StoredChunk, query: EvalQuery) -> str:
        """The target the chunk meets; else its section where sections are asked for, or its document."""
        names = self.names(stored)
        met = next((name for name in names if name in query.targets), None)
        if met is not None:
            return met
        by_section = bool(stored.chunk.heading_path) and any("#" in target for target in query.targets)
        return names[1] if by_section else names[-1]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Runs a query set against a subject."""

    subject: Subject
    store: DocumentStore
    units: Units = Units()
    fusion: str | None = None
    embedding_model: str | None = None
    read: Callable[[str], SearchQuery] = SearchQuery
    """How a query's text is understood: as plain text, or as a person's input with quotes and filters."""
    refuses: Callable[[str, SearchMode], bool] | None = None
    """Whether asking a question ends in a refusal."""

    def run(self, queries: QuerySet, *, mode: SearchMode, progress: Progress = silent) -> EvalReport:
        """Score every judged query. The first search is repeated untimed, so that loading is not latency."""
        judged = queries.judged
        started = perf_counter()
        if judged:
            self.subject.search(self._query(judged[0], mode, PAGE))
        asked = counted(judged, IngestPhase.MEASURE, total=len(judged), progress=progress)
        observed = [self._observe(query, mode) for query in asked]
        scores = _scored(judged, observed)
        seconds = {"search": round(perf_counter() - started, 3)}
        return EvalReport(
            run_id=_run_id(queries.name, mode),
            created_at=_now(),
            name=queries.name,
            mode=mode,
            fusion=self.fusion if mode is SearchMode.HYBRID else None,
            index_version=self.subject.index_version,
            embedding_model=None if mode is SearchMode.LEXICAL else self.embedding_model,
            documents=self.store.counts()[0],
            metrics=metrics.mean([s.metrics for s in scores])
            | metrics.percentiles([s.latency_ms for s in scores]),
            scores=scores,
            groups=_groups(scores),
            refusal=self._refusal(queries, mode),
            degraded=tuple(sorted({message for item in observed for message in item.degraded})),
            seconds=seconds,
        )

    def _observe(self, query: EvalQuery, mode: SearchMode) -> _Observed:
        asked = self._query(query, mode, PAGE)
        started = perf_counter()
        page = self.subject.search(asked)
        latency = (perf_counter() - started) * 1000
        stored, units = self.ranking(query, lambda depth: self.subject.rank(replace(asked, k=depth)))
        faults = _faults(query, stored[:PAGE], self.units)
        return _Observed(units, latency, faults, tuple(f"{d.part}: {d.message}" for d in page.degraded))

    def _query(self, query: EvalQuery, mode: SearchMode, k: int) -> SearchQuery:
        return replace(self.read(query.text), mode=mode, k=k)

    def ranking(
        self, query: EvalQuery, rank: Callable[[int], list[Ranked]]
    ) -> tuple[list[StoredChunk], list[str]]:
        """The chunks in order and the units they make, each once; deep enough for ``DEPTH`` units."""
        depth = 2 * DEPTH
        while True:
            ids = [ChunkId(item.id) for item in rank(depth)]
            found = self.store.hydrate(ids)
            stored = [found[chunk_id] for chunk_id in ids if chunk_id in found]
            units = list(dict.fromkeys(self.units.unit(item, query) for item in stored))
            if len(units) >= DEPTH or len(ids) < depth:
                return stored, units[:DEPTH]
            depth *= 4

    def _refusal(self, queries: QuerySet, mode: SearchMode) -> RefusalScore | None:
        if self.refuses is None or not any(query.refuse for query in queries.queries):
            return None
        refused = {query.query_id: self.refuses(query.text, mode) for query in queries.queries}
        should = {query.query_id: query.refuse for query in queries.queries}
        return RefusalScore(
            refused=sum(refused.values()),
            should_refuse=sum(should.values()),
            rightly_refused=sum(refused[key] and should[key] for key in should),
            wrong=tuple(key for key in should if refused[key] != should[key]),
        )


@dataclass(frozen=True, slots=True)
class _Observed:
    units: list[str]
    latency_ms: float
    faults: tuple[str, ...]
    degraded: tuple[str, ...]


def _scored(judged: Sequence[EvalQuery], observed: Sequence[_Observed]) -> tuple[QueryScore, ...]:
    rankings = {query.query_id: seen.units for query, seen in zip(judged, observed, strict=True)}
    values = metrics.score({query.query_id: dict(query.targets) for query in judged}, rankings)
    return tuple(
        QueryScore(
            query_id=query.query_id,
            text=query.text,
            metrics=values[query.query_id],
            first_rank=_first(seen.units, query),
            found=tuple(seen.units[:PAGE]),
            latency_ms=round(seen.latency_ms, 3),
            group=query.group,
            lang=query.lang,
            faults=seen.faults,
        )
        for query, seen in zip(judged, observed, strict=True)
    )


def _first(units: Sequence[str], query: EvalQuery) -> int | None:
    return next((rank for rank, unit in enumerate(units, start=1) if unit in query.targets), None)


def _faults(query: EvalQuery, page: Sequence[StoredChunk], units: Units) -> tuple[str, ...]:
    texts = [nfc(stored.chunk.text) for stored in page]
    missing = [text for text in query.must_contain if not any(text in found for found in texts)]
    shown = {name for stored in page for name in units.names(stored)}
    return (
        *(f"missing: {text}" for text in missing),
        *(f"forbidden: {target}" for target in query.forbidden if target in shown),
    )


def _groups(scores: Iterable[QueryScore]) -> dict[str, dict[str, float]]:
    members: dict[str, list[Mapping[str, float]]] = {}
    for score in scores:
        for label in (
            f"group:{score.group}" if score.group else "",
            f"lang:{score.lang}" if score.lang else "",
        ):
            if label:
                members.setdefault(label, []).append(score.metrics)
    return {label: metrics.mean(rows) | {"queries": len(rows)} for label, rows in sorted(members.items())}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _run_id(name: str, mode: SearchMode) -> str:
    return digest("eval", name, mode.value, _now())[:12]
