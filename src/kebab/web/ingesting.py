"""One ingest at a time, which goes on when the page that started it is closed, and can be watched by many."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kebab import wire
from kebab.app import Kebab
from kebab.domain.ingests import IngestProgress
from kebab.errors import InvalidInput, KebabError
from kebab.wire.requests.library import IngestRequest
from kebab.wire.shape import Shape

WAITING = 512
"""Events that a slow reader may be behind; the oldest are dropped beyond that."""


class Ingesting:
    """The run that is going on, if any, and those who watch it."""

    def __init__(self, kebab: Kebab) -> None:
        self._kebab = kebab
        self._lock = threading.Lock()
        self._watchers: list[queue.Queue[Shape | None]] = []
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def watch(self, asked: IngestRequest | None) -> Iterator[Shape]:
        """Start a run, or join the one that is going on; its events, then its report or its error.

        Without a request nothing is started, and without a run there are no events.
        """
        paths = self._paths(asked) if asked is not None else ()
        events: queue.Queue[Shape | None] = queue.Queue()
        with self._lock:
            if not self.running:
                if asked is None:
                    return
                self._begin(asked, paths)
            self._watchers.append(events)
        try:
            while (event := events.get()) is not None:
                yield event
        finally:
            with self._lock:
                if events in self._watchers:
                    self._watchers.remove(events)

    def stop(self, *, wait: bool = False) -> bool:
        """Ask the run to end after the current file; False where none is going on."""
        running, thread = self.running, self._thread
        self._stopping.set()
        if wait and thread is not None:
            thread.join()
        return running

    def _paths(self, asked: IngestRequest) -> tuple[Path, ...]:
        """Only files of the sources: a caller from elsewhere must not have other files read."""
        roots = [Path(source.root).resolve() for source in self._kebab.settings.sources]
        paths = tuple(Path(path).resolve() for path in asked.paths)
        for given, path in zip(asked.paths, paths, strict=True):
            if not any(path.is_relative_to(root) for root in roots):
                raise InvalidInput(
                    f"{given!r} does not lie in a source", hint="name a file below one of the sources' roots"
                )
        return paths

    def _begin(self, asked: IngestRequest, paths: tuple[Path, ...]) -> None:
        self._stopping.clear()
        self._watchers = []
        self._thread = threading.Thread(target=self._run, args=(asked, paths), name="ingest", daemon=True)
        self._thread.start()

    def _run(self, asked: IngestRequest, paths: tuple[Path, ...]) -> None:
        flags: dict[str, Any] = {"dry_run": asked.dry_run, "force": asked.force}
        try:
            report = self._kebab.ingest(
                paths,
                **flags,
                allow_mass_delete=asked.allow_mass_delete,
                progress=self._tell,
                cancelled=self._stopping.is_set,
            )
            last: Shape = wire.ingest_report(report, dry_run=asked.dry_run)
        except KebabError as error:
            last = wire.error(error)
        self._send(last)
        self._end()

    def _tell(self, event: IngestProgress) -> None:
        self._send(wire.ingest_progress(event))

    def _send(self, event: Shape) -> None:
        with self._lock:
            watchers = list(self._watchers)
        for watcher in watchers:
            while watcher.qsize() >= WAITING:
                watcher.get_nowait()
            watcher.put(event)

    def _end(self) -> None:
        with self._lock:
            watchers, self._watchers = self._watchers, []
            self._thread = None
        for watcher in watchers:
            watcher.put(None)
