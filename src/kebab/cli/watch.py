"""``kebab watch``: stay, and index files as they change."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from threading import Event
from types import FrameType

import click

from kebab.cli.ingest import summary
from kebab.cli.session import Session, command
from kebab.domain.ingests import IngestReport

SIGNALS = (signal.SIGINT, signal.SIGTERM)
TICK_S = 1.0
"""How soon it is noticed that the watcher has ended by itself."""


@command("watch")
@click.option("--poll", is_flag=True, help="Look at the files every second: for network drives.")
def watch(session: Session, poll: bool) -> int:
    """Index files as they change.

    Brings everything up to date first. What is saved can be found within two seconds, and searches and
    questions from the shell are answered faster meanwhile. Ctrl-C stops after the current file.
    """
    from kebab.cli.staying import staying, warm_up
    from kebab.ingest.watch import Heard

    def ready() -> None:
        warm_up(session)
        session.say(f"watching; knowledge base: {session.place()}")

    heard = Heard(
        run=lambda report: put_run(session, report),
        note=lambda message: session.warn([message]),
        ready=ready,
    )
    follow = partial(session.kebab().watch, heard, poll=poll)
    with until_signal() as stop, staying(session, warm=False), follow() as watching:
        while not stop.is_set() and not watching.wait(0.0):
            stop.wait(TICK_S)
    return 0


def put_run(session: Session, report: IngestReport) -> None:
    """What one batch did: a line for people, an ``ingest_report.v1`` with ``--json``."""

    def shape() -> object:
        from kebab import wire

        return wire.ingest_report(report)

    session.put(shape, lambda: f"{datetime.now():%H:%M:%S}  {summary_of(session, report)}")


def summary_of(session: Session, report: IngestReport) -> str:
    return summary(report, screen=session.screen, dry_run=False, files=True)


@contextmanager
def until_signal() -> Iterator[Event]:
    """An event that Ctrl-C and a polite kill set; a second Ctrl-C interrupts."""
    stop = Event()

    def heard(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = [signal.signal(number, heard) for number in SIGNALS]
    try:
        yield stop
    finally:
        for number, handler in zip(SIGNALS, before, strict=True):
            signal.signal(number, handler)
