"""What a search leaves for ``--trace``: the lists before fusion and where the time went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

from kebab.domain.fusion import Ranked
from kebab.domain.hits import SearchTrace
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

    def note(self, name: str, spent_ms: float) -> None:
        """Name a time that was taken elsewhere; the next lap begins now."""
        self.timings_ms[f"{name}_ms"] = spent_ms
        self._started = perf_counter()


def with_list(
    trace: SearchTrace, name: str, scores: Sequence[tuple[ChunkId, float]], watch: Stopwatch
) -> SearchTrace:
    """The trace with what a later stage said of the hits it saw, in the order it saw them, and its time."""
    seen = [Ranked(key, score) for key, score in scores]
    return SearchTrace({**trace.legs, name: seen}, {**trace.timings_ms, **watch.timings_ms})
