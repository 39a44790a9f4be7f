"""A whole copy of the file, as of one moment, and how far it is."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kebab.domain.ingests import IngestPhase, IngestProgress
from kebab.domain.progress import EVERY_S, Progress

_STEPS = 100_000
"""Of the engine's machine, between two looks: some milliseconds."""
_MB = 1_000_000


def copy_into(connection: sqlite3.Connection, target: Path, progress: Progress) -> None:
    """Write a compact copy into a new file. Ctrl-C stops it at once."""
    with _watched(connection, target, progress):
        connection.execute("VACUUM INTO ?", (str(target),))


@contextmanager
def _watched(connection: sqlite3.Connection, target: Path, progress: Progress) -> Iterator[None]:
    """Lets a statement say how large the file has become that it writes."""
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    told, stopped = time.perf_counter(), False

    def look() -> int:
        nonlocal told, stopped
        try:
            if (now := time.perf_counter()) - told >= EVERY_S:
                told = now
                done = target.stat().st_size // _MB if target.exists() else 0
                progress(IngestProgress("progress", IngestPhase.COPY, done, pages * size // _MB))
        except KeyboardInterrupt:
            # Raised inside a callback of the engine, it would only be known as a statement that was stopped.
            stopped = True
        return int(stopped)

    connection.set_progress_handler(look, _STEPS)
    try:
        yield
    except sqlite3.OperationalError:
        if stopped:
            raise KeyboardInterrupt from None
        raise
    finally:
        connection.set_progress_handler(None, 0)
