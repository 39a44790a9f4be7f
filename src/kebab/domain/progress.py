"""How a long job is watched, and how it is told to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from kebab.domain.ingests import IngestPhase, IngestProgress

T = TypeVar("T")

Progress = Callable[["IngestProgress"], None]
"""Hears each event of the job as it happens."""
EVERY_S = 0.1
Cancelled = Callable[[], bool]
"""Asked between steps; once it says yes, the job ends early and says so."""


def silent(_: IngestProgress) -> None:
    """Hears the events and says nothing."""


def never() -> bool:
    """Lets the job run to its end."""
    return False


def inside(progress: Progress) -> Progress:
    """Hears a part of a job: all but its beginning and its end, of which the whole job has its own."""

    def heard(event: IngestProgress) -> None:
        if event.kind not in ("started", "completed", "cancelled", "failed"):
            progress(event)

    return heard


def counted(items: Iterable[T], phase: IngestPhase, *, total: int, progress: Progress) -> Iterator[T]:
    """The items; ten times a second says how many were taken, and at last that all were."""
    from kebab.domain.ingests import IngestProgress

    def tell(done: int, spent: float) -> None:
        rate = done / spent if done and spent > 0 else None
        left = (total - done) / rate if rate else None
        progress(IngestProgress("progress", phase, done, total, rate=rate, eta_s=left))

    began = told = time.perf_counter()
    taken = 0
    tell(taken, 0)
    for item in items:
        yield item
        taken += 1
        if (now := time.perf_counter()) - told >= EVERY_S:
            told = now
            tell(taken, now - began)
    tell(taken, time.perf_counter() - began)
