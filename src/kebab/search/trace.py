"""What a search leaves for ``--trace``: the lists before fusion and where the time went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from kebab.domain.fusion import Ranked
from kebab.domain.hits import SearchTrace, TraceCandidate
from kebab.domain.ids import ChunkId


@dataclass(slots=True)
class Stopwatch:
    """Names the time since it was last asked."""

    timings_ms: dict[str, float] = field(default_factory=dict)
    _started: float = field(default_factory=perf_counter)

    def lap(self, name: str) -> None:
        now = perf_counter()
        self.timings_ms[f"{name}_ms"] = (now - self._started) * 1000
        self._started = now


def with_list(
    trace: SearchTrace, name: str, scores: Sequence[tuple[ChunkId, float]], watch: Stopwatch
) -> SearchTrace:
    """The trace with what a later stage said of the hits it saw, in the order it saw them, and its time."""
    seen = tuple(TraceCandidate(key, rank, score) for rank, (key, score) in enumerate(scores, start=1))
    return SearchTrace({**trace.legs, name: seen}, {**trace.timings_ms, **watch.timings_ms})


def trace_of(rankings: Mapping[str, Sequence[Ranked]], watch: Stopwatch) -> SearchTrace:
    legs = {
        leg: tuple(
            TraceCandidate(ChunkId(item.id), rank, item.score) for rank, item in enumerate(ranking, start=1)
        )
        for leg, ranking in rankings.items()
    }
    return SearchTrace(legs, watch.timings_ms)
