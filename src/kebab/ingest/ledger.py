"""The run's own record: counts, items, stage times, and the events that tell people how far it is."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from uuid import uuid4

from kebab.domain.ingests import (
    IngestItem,
    IngestPhase,
    IngestProgress,
    IngestReport,
    IngestRun,
    Outcome,
    RunStatus,
)
from kebab.domain.progress import Progress
from kebab.domain.turns import ALONE, Turns
from kebab.ingest.parse.formats import extension
from kebab.ports import Ledger

_ITEMS_A_NOTE = 500
RUNS_KEPT = 1000
"""A watcher adds a run with every batch: without a bound the ledger would outgrow the documents."""


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(slots=True)
class RunLog:
    """Counts what becomes of each file. ``finish`` or ``fail`` ends it, once, with its one terminal event."""

    progress: Progress
    ledger: Ledger | None
    """None for a dry run, which leaves no trace."""
    turns: Turns = ALONE
    run: IngestRun = field(
        default_factory=lambda: IngestRun(
            f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid4().hex[:8]}", utc_now(), RunStatus.RUNNING
        )
    )
    items: list[IngestItem] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    embedded: int = 0
    after_killed: bool = False
    """Whether a run before this one never came to its end."""
    _counts: Counter[Outcome] = field(default_factory=Counter)
    _chunks: int = 0
    _noted: int = 0
    _stages: Counter[str] = field(default_factory=Counter)
    _began: float = field(default_factory=time.perf_counter)
    _phase: IngestPhase = IngestPhase.SCAN
    _phase_began: float = field(default_factory=time.perf_counter)
    _done: int = 0
    _total: int = 0

    def begin(self) -> None:
        """Open the record. Whoever is in charge closes those of killed runs, and drops the oldest."""
        if self.ledger:
            alone = self.turns.take_charge()
            with self.turns.turn():
                for killed in self.ledger.running() if alone else ():
                    self.after_killed = True
                    self.ledger.finish(killed.cut_off(self.run.started_at))
                if alone:
                    self.ledger.prune(keep=RUNS_KEPT - 1)
                self.ledger.begin(self.run)
        self._send("started")

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time spent inside to the stage's account."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._stages[name] += round((time.perf_counter() - began) * 1_000_000)

    def enter(self, phase: IngestPhase, *, total: int = 0, message: str | None = None) -> None:
        self._phase, self._phase_began = phase, time.perf_counter()
        self._done, self._total = 0, total
        self._send("progress", message=message)

    def advance(self, done: int) -> None:
        """Say how far the phase is."""
        self._done = done
        self._total = max(self._total, done)
        self._send("progress")

    def unchanged(self, count: int, *, of_phase: bool = False) -> None:
        """Unchanged files are counted only: a ledger that lists them all would be mostly that."""
        self._counts[Outcome.UNCHANGED] += count
        if of_phase:
            self._done += count
            self._send("progress")

    def item(self, item: IngestItem, *, of_phase: bool = True) -> None:
        """What became of one file; ``of_phase`` when it is one of the files the phase is counting."""
        self.items.append(item)
        self._counts[item.outcome] += 1
        if item.outcome is Outcome.INDEXED:
            self._chunks += item.chunks
        self._done += of_phase
        self._send("item", item=item)
        if len(self.items) - self._noted >= _ITEMS_A_NOTE:
            self._note()

    def skipped(self, items: Iterable[IngestItem]) -> None:
        for item in items:
            self.item(item, of_phase=False)

    def fail(self, error: BaseException) -> None:
        """End the run for an error that ends the run; the error itself is the caller's to raise on."""
        stopped = isinstance(error, KeyboardInterrupt)
        message = "interrupted" if stopped else str(error) or type(error).__name__
        self.finish(RunStatus.CANCELLED if stopped else RunStatus.FAILED, message)

    def finish(self, status: RunStatus, error: str | None = None) -> IngestReport:
        """Close the record and report; ``error`` is what ended a run that failed."""
        self.run = replace(
            self.run,
            status=status,
            finished_at=utc_now(),
            indexed=self._counts[Outcome.INDEXED],
            unchanged=self._counts[Outcome.UNCHANGED],
            skipped=self._counts[Outcome.SKIPPED],
            failed=self._counts[Outcome.FAILED],
            removed=self._counts[Outcome.REMOVED],
            chunks=self._chunks,
            embedded=self.embedded,
            duration_ms=round((time.perf_counter() - self._began) * 1000),
            error=error,
        )
        try:
            self._note()
            if self.ledger:
                with self.turns.turn():
                    self.ledger.finish(self.run)
        finally:
            self._phase = IngestPhase.FINISH
            self._send(status.value, run=self.run, message=error)
        return self._report()

    def _report(self) -> IngestReport:
        skipped = [item for item in self.items if item.outcome is Outcome.SKIPPED]
        files = [item.path for item in skipped if not item.path.endswith("/")]
        return IngestReport(
            run=self.run,
            items=tuple(self.items),
            skipped_by_reason=_tally(item.reason or "" for item in skipped),
            skipped_by_extension=_tally(extension(path) for path in files),
            stage_ms={stage: round(spent / 1000) for stage, spent in self._stages.items()},
            degraded=tuple(self.degraded),
        )

    def _note(self) -> None:
        fresh = self.items[self._noted :]
        self._noted = len(self.items)
        if self.ledger and fresh:
            with self.turns.turn():
                self.ledger.note(self.run.run_id, fresh)

    def _send(
        self,
        kind: str,
        *,
        item: IngestItem | None = None,
        run: IngestRun | None = None,
        message: str | None = None,
    ) -> None:
        spent = time.perf_counter() - self._phase_began
        rate = self._done / spent if self._done and spent > 0 else None
        left = max(self._total - self._done, 0)
        self.progress(
            IngestProgress(
                kind=kind,
                phase=self._phase,
                done=self._done,
                total=self._total,
                path=item.path if item else None,
                rate=rate,
                eta_s=left / rate if rate else None,
                item=item,
                run=run,
                message=message,
            )
        )


def _tally(values: Iterable[str]) -> dict[str, int]:
    """Most frequent first, then by name."""
    return dict(sorted(Counter(values).items(), key=lambda entry: (-entry[1], entry[0])))
