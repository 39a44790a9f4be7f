"""A watcher in a thread of its own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kebab.app.calls import Calls
    from kebab.assembly.rooms import Rooms
    from kebab.domain.progress import Cancelled
    from kebab.ingest.refresh import Refreshed
    from kebab.ingest.targets import Target
    from kebab.ingest.watch import Heard, Watcher

NICENESS = 5


class Watching:
    """Keeps a knowledge base up to date until it is closed. Closing lets the current file be finished."""

    def __init__(self, build: Callable[[Cancelled], Watcher], *, closed: Cancelled) -> None:
        self._stop = threading.Event()
        self._closed = closed
        self._watcher = build(self.stopped)
        self._thread = threading.Thread(target=self._run, name="kebab-watch", daemon=True)
        self._failure: BaseException | None = None
        self._thread.start()

    def stopped(self) -> bool:
        return self._stop.is_set() or self._closed()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until it has ended; False when it goes on after ``timeout_s``. Raises what ended it."""
        self._thread.join(timeout_s)
        if self._failure is not None:
            raise self._failure
        return not self._thread.is_alive()

    def close(self) -> None:
        """Stop, and wait for the file that is being read; closing twice is fine."""
        self._stop.set()
        self._thread.join()

    def __enter__(self) -> Watching:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        _step_back()
        try:
            self._watcher.run(self.stopped)
        except BaseException as error:  # noqa: BLE001 - whoever waits for the thread gets it
            self._failure = error


def watching(rooms: Rooms, calls: Calls, heard: Heard | None, *, poll: bool) -> Watching:
    """Follow the files of an open knowledge base; each look is one of its calls."""

    def build(stopped: Cancelled) -> Watcher:
        def refresh(targets: Sequence[Target]) -> Refreshed:
            with calls, rooms.ingesting(dry_run=False) as pipeline:
                return pipeline.refresh(targets, cancelled=stopped)

        return rooms.watcher(refresh, poll=poll, heard=heard)

    return Watching(build, closed=calls.is_closed)


def _step_back() -> None:
    """Let searches go first: this thread, and the processes that it starts, get the processor after them."""
    # Linux has a priority for each thread; elsewhere the whole process would step back.
    if hasattr(os, "setpriority") and os.uname().sysname == "Linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
