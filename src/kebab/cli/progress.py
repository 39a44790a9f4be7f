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
from kebab.cli.output import bare
from kebab.cli.screen import clip_start, pad
from kebab.domain.controls import harmless_line
from kebab.domain.ingests import IngestPhase, IngestProgress

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from kebab.cli.session import Session

PHASES = {
    IngestPhase.SCAN: "scanning",
    IngestPhase.INDEX: "indexing",
    IngestPhase.EMBED: "embedding",
    IngestPhase.PUBLISH: "sending",
    IngestPhase.COPY: "copying",
    IngestPhase.PACK: "packing",
    IngestPhase.UNPACK: "unpacking",
    IngestPhase.CHECK: "checking",
    IngestPhase.WORDS: "words",
    IngestPhase.VECTORS: "vectors",
    IngestPhase.MEASURE: "measuring",
    IngestPhase.FINISH: "finishing",
}
UNITS = {
    IngestPhase.EMBED: "chunks",
    IngestPhase.WORDS: "chunks",
    IngestPhase.VECTORS: "chunks",
    IngestPhase.PUBLISH: "docs",
    IngestPhase.COPY: "MB",
    IngestPhase.PACK: "MB",
    IngestPhase.UNPACK: "MB",
    IngestPhase.CHECK: "rows",
    IngestPhase.MEASURE: "queries",
}
FIXED_COLUMNS = 44
"""What phase, counts, rate, remaining time and gaps take; bar and file name share the rest."""

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
    """Show progress as the session asks. The first Ctrl-C asks the run to end, the second stops at once."""
    with reporting(session) as report:
        watch = Watch(report)
        with _interruptible(watch):
            yield watch


@contextmanager
def reporting(session: Session, *, lines: bool = True) -> Iterator[Report]:
    """Show progress as the session asks; Ctrl-C stops at once.

    Without ``lines`` none is written beside what a command prints as JSON.
    """
    if session.json and lines:
        from kebab import wire

        yield lambda event: session.put_json(wire.ingest_progress(event))
    elif session.json or session.quiet or not sys.stderr.isatty():
        yield lambda event: None
    else:
        from rich.console import Console

        with bar_on(Console(file=bare(sys.stderr))) as bar:
            yield bar.show


@contextmanager
def _interruptible(watch: Watch) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        if watch.stopping:
            # Not KeyboardInterrupt: unwinding would wait for workers. Every write is a transaction, so
            # leaving here is as safe as a power cut.
            bare(sys.stderr).write("\x1b[?25h" if sys.stderr.isatty() else "")
            sys.stderr.flush()
            os._exit(INTERRUPTED)
        watch.stopping = True
        click.echo("\nfinishing the current file; press Ctrl-C again to stop at once", err=True)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def path_columns(columns: int) -> int:
    """How much of a terminal's width a file name gets: enough to know it by, never all that the bar needs."""
    return max(8, min(32, (columns - FIXED_COLUMNS) // 2))


class _Bar:
    """One rich progress line, a new one for each phase."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.phase: IngestPhase | None = None
        self.task: TaskID | None = None
        self.path_columns = path_columns(progress.console.width)

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
            path=pad(clip_start(harmless_line(event.path or ""), self.path_columns), self.path_columns),
        )


@contextmanager
def bar_on(console: Console) -> Iterator[_Bar]:
    """A progress line at the foot of the console, gone when the run ends."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:<9}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[path]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True, expand=True) as progress:
        yield _Bar(progress)
