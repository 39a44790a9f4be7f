"""How a long job is watched, and how it is told to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from kebab.errors import KebabError

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


@contextmanager
def whole_job(progress: Progress, phase: IngestPhase) -> Iterator[Progress]:
    """Says that a job begins and, once, how it ended; gives what hears its parts."""
    from kebab.domain.ingests import IngestPhase, IngestProgress

    progress(IngestProgress("started", phase))
    try:
        yield inside(progress)
    except KeyboardInterrupt:
        progress(IngestProgress("cancelled", phase))
        raise
    except BaseException as error:
        message = error.message if isinstance(error, KebabError) else str(error) or type(error).__name__
        progress(IngestProgress("failed", phase, message=message))
        raise
    progress(IngestProgress("completed", IngestPhase.FINISH))


class Teller:
    """Says of a phase how many of its items are done, how fast, and what time is left."""

    def __init__(
        self,
        phase: IngestPhase,
        progress: Progress,
        *,
        total: int = 0,
        path: str | None = None,
        unit: int = 1,
    ) -> None:
        """``total`` is 0 where nobody knows; it and what is added are told in units."""
        self._phase, self._progress = phase, progress
        self._total, self._path, self._unit = total, path, unit
        self._done = 0
        self._began = self._told = time.perf_counter()

    def add(self, count: int) -> None:
        """So many more are done: said ten times a second, and when it was the last."""
        self._done += count
        if time.perf_counter() - self._told >= EVERY_S or self._done == self._total:
            self.tell()

    def reach(self, done: int) -> None:
        """So many are done by now."""
        self.add(done - self._done)

    def tell(self) -> None:
        """Say it now."""
        from kebab.domain.ingests import IngestProgress

        self._told = time.perf_counter()
        spent = max(self._told - self._began, 1e-9)
        rate = self._done / spent if self._done else None
        left = max(self._total - self._done, 0) / rate if rate and self._total else None
        done, total = self._done // self._unit, self._total // self._unit
        told = rate / self._unit if rate else None
        self._progress(
            IngestProgress("progress", self._phase, done, total, self._path, rate=told, eta_s=left)
        )


def counted(
    items: Iterable[T], phase: IngestPhase, *, total: int, progress: Progress, path: str | None = None
) -> Iterator[T]:
    """The items; ten times a second says how many were taken, and at last that all were.

    ``path`` is what they are the items of.
    """
    teller = Teller(phase, progress, total=total, path=path)
    teller.tell()
    for item in items:
        yield item
        teller.add(1)
    teller.tell()
