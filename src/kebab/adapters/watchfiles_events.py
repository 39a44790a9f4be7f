"""Changes in folders as the operating system tells of them, by watchfiles; by looking again where it cannot.

Tested on Linux (inotify). macOS and Windows have engines of their own behind the same calls, untested here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kebab.errors import StorageError

Told = Callable[[str], None]
Watch = Callable[..., Iterator[set[tuple[Any, str]]]]

QUIET_MS = 100
"""A batch ends when nothing happened for so long; also how often the engine looks at what it was told."""
LONGEST_MS = 500
"""A batch ends after so long, whatever happens."""
TICK_MS = 500
POLL_S = 1.0
POLL_SHARE = 20
"""Between two polls passes this many times the time that looking at everything took."""

LIMIT = (
    "the system does not let kebab watch all folders ({reason}); looking at the files every second instead. "
    "On Linux, raise the limits with sysctl: fs.inotify.max_user_watches=1048576 and "
    "fs.inotify.max_user_instances=1024"
)


def _unheard(_: str) -> None:
    pass


def _engine(*paths: str, **options: Any) -> Iterator[set[tuple[Any, str]]]:
    from watchfiles import watch

    return watch(*paths, **options)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchfilesEvents:
    """Watches folders and all below them."""

    told: Told = _unheard
    """Hears, in words, that folders can only be polled."""
    watch: Watch = _engine

    def batches(self, roots: Sequence[Path], *, stopped: Callable[[], bool]) -> Iterator[frozenset[str]]:
        for root in roots:
            if not root.is_dir():
                raise StorageError(f"{root} cannot be watched: there is no such folder")
        batches = self._batches(roots, stopped) if roots else _nothing(stopped)
        try:
            first = next(batches, None)
        except (RuntimeError, OSError) as error:
            self.told(LIMIT.format(reason=error))
            yield from PollingEvents().batches(roots, stopped=stopped)
            return
        if first is not None:
            yield frozenset()
            yield first
            yield from batches

    def _batches(self, roots: Sequence[Path], stopped: Callable[[], bool]) -> Iterator[frozenset[str]]:
        changes = self.watch(
            *map(str, roots),
            watch_filter=None,
            debounce=LONGEST_MS,
            step=QUIET_MS,
            rust_timeout=TICK_MS,
            yield_on_timeout=True,
            stop_event=_Stop(stopped),
            raise_interrupt=False,
            # The engine's own polling compares whole seconds: it would miss the second of two quick saves.
            force_polling=False,
            ignore_permission_denied=True,
        )
        for batch in changes:
            yield frozenset(path for _, path in batch)


@dataclass(frozen=True, slots=True, kw_only=True)
class PollingEvents:
    """Names the folders themselves, again and again: for drives whose changes the system does not tell."""

    seconds: float = POLL_S

    def batches(self, roots: Sequence[Path], *, stopped: Callable[[], bool]) -> Iterator[frozenset[str]]:
        yield frozenset()
        due = time.monotonic()
        while not stopped():
            began = time.monotonic()
            if began < due:
                yield frozenset()
                time.sleep(min(self.seconds, TICK_MS / 1000))
                continue
            yield frozenset(map(str, roots))
            due = time.monotonic() + max(self.seconds, POLL_SHARE * (time.monotonic() - began))


@dataclass(frozen=True, slots=True)
class _Stop:
    """What the engine asks whether to go on."""

    stopped: Callable[[], bool]

    def is_set(self) -> bool:
        return self.stopped()


def _nothing(stopped: Callable[[], bool]) -> Iterator[frozenset[str]]:
    while not stopped():
        yield frozenset()
        time.sleep(TICK_MS / 1000)
