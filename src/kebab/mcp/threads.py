"""Calls in worker threads: the core is synchronous, and a server must go on listening.

So many run at once and no more. The thread of a cancelled call ends between two steps; its place is free
again when it has ended, and not before, so that cancelled calls cannot pile up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread

from kebab.domain.progress import Cancelled
from kebab.mcp.tool import Report

T = TypeVar("T")

AT_ONCE = 8
"""Calls that run at the same time; others wait for their turn."""
REPORT_EVERY_S = 0.1

Tell = Callable[[float, float | None, str], Coroutine[Any, Any, None]]


@dataclass
class Threads:
    """Runs calls, ``AT_ONCE`` at a time."""

    at_once: int = AT_ONCE
    _limiter: anyio.CapacityLimiter | None = field(default=None, init=False)

    async def run(self, work: Callable[[Report, Cancelled], T], *, tell: Tell) -> T:
        """What the work returns or raises. ``tell`` hears its progress, a few times a second at most."""
        stopped = threading.Event()
        if self._limiter is None:  # made inside the event loop that it belongs to
            self._limiter = anyio.CapacityLimiter(self.at_once)
        report = _reporter(tell, stopped)
        async with anyio.create_task_group() as group:
            group.start_soon(_stop_when_cancelled, stopped)
            made = await _outcome(partial(work, report, stopped.is_set), self._limiter)
            group.cancel_scope.cancel()
        if isinstance(made, _Raised):
            raise made.error
        return made


@dataclass(frozen=True, slots=True)
class _Raised:
    """Carried out of the task group, which would wrap the error in a group of errors."""

    error: Exception


async def _outcome(work: Callable[[], T], limiter: anyio.CapacityLimiter) -> T | _Raised:
    try:
        return await anyio.to_thread.run_sync(work, limiter=limiter)
    except Exception as error:  # noqa: BLE001 - raised again outside of the task group
        return _Raised(error)


async def _stop_when_cancelled(stopped: threading.Event) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        stopped.set()


def _reporter(tell: Tell, stopped: threading.Event) -> Report:
    last = 0.0

    def report(done: float, total: float | None, message: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < REPORT_EVERY_S or stopped.is_set():
            return
        last = now
        anyio.from_thread.run(tell, done, total, message)

    return report
