"""Watching a long run: a bar on a terminal, ndjson with ``--json``, and what Ctrl-C does."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

import click

from kebab.cli.errors import INTERRUPTED
from kebab.cli.screen import clip_start, pad
from kebab.domain.ingests import IngestPhase, IngestProgress

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from kebab.cli.session import Session

PHASES = {
    IngestPhase.SCAN: "scanning",
    IngestPhase.INDEX: "indexing",
    IngestPhase.EMBED: "embedding",
    IngestPhase.FINISH: "finishing",
}
UNITS = {IngestPhase.EMBED: "chunks"}
PATH_COLUMNS = 32

Report = Callable[[IngestProgress], None]


class Watch:
    """What a run is given: where to report, and how to learn that the user wants it to stop."""

    def __init__(self, report: Report) -> None:
        self.progress = report
        self.stopping = False

    def cancelled(self) -> bool:
        return self.stopping


@contextmanager
def watching(session: Session) -> Iterator[Watch]:
    """Show progress as the session asks. The first Ctrl-C asks the run to end, the second leaves at once."""
    with _reporting(session) as report:
        watch = Watch(report)
        with _interruptible(watch):
            yield watch


@contextmanager
def _reporting(session: Session) -> Iterator[Report]:
    if session.json:
        from kebab import wire

        yield lambda event: session.put_json(wire.ingest_progress(event))
    elif session.quiet or not sys.stderr.isatty():
        yield lambda event: None
    else:
        with _bar() as bar:
            yield bar.show


@contextmanager
def _interruptible(watch: Watch) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        if watch.stopping:
            # Not KeyboardInterrupt: unwinding would wait for workers. Every write is a transaction, so
            # leaving here is as safe as a power cut.
            click.echo("\x1b[?25h" if sys.stderr.isatty() else "", err=True, nl=False)
            os._exit(INTERRUPTED)
        watch.stopping = True
        click.echo("\nfinishing the current file; Ctrl-C again leaves at once", err=True)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Bar:
    """One rich progress line, a new one for each phase."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.phase: IngestPhase | None = None
        self.task: TaskID | None = None

    def show(self, event: IngestProgress) -> None:
        if event.phase is not self.phase or self.task is None:
            self.phase = event.phase
            if self.task is not None:
                self.progress.remove_task(self.task)
            self.task = self.progress.add_task(PHASES[event.phase], total=None, rate="", path="")
        self.progress.update(
            self.task,
            completed=event.done,
            total=event.total or None,
            rate=f"{event.rate:,.0f} {UNITS.get(event.phase, 'files')}/s" if event.rate else "",
            path=pad(clip_start(event.path or "", PATH_COLUMNS), PATH_COLUMNS),
        )


@contextmanager
def _bar() -> Iterator[_Bar]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:<9}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[path]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, expand=True) as progress:
        yield _Bar(progress)
