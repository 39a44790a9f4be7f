"""The synchronous core, called from an event loop: bounded threads, and iterators read in them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any, TypeVar, cast

from anyio import CancelScope, CapacityLimiter, to_thread

T = TypeVar("T")

QUICK = 8
LASTING = 4


class Threads:
    """Two bounded sets of threads: what lasts never takes those that searches wait for."""

    def __init__(self) -> None:
        self._quick = CapacityLimiter(QUICK)
        self._lasting = CapacityLimiter(LASTING)

    async def run(self, call: Callable[[], T], *, lasting: bool = False) -> T:
        """Run in a thread. A caller who goes away does not stop it: the core has no half-done calls."""
        return await to_thread.run_sync(call, limiter=self._lasting if lasting else self._quick)

    async def each(self, items: Iterator[T]) -> AsyncIterator[T]:
        """The items of an iterator that blocks. It is closed at the end, also when the reader goes away."""
        last = object()
        try:
            while True:
                item = await self.run(partial(next, cast("Iterator[Any]", items), last), lasting=True)
                if item is last:
                    return
                yield cast("T", item)
        finally:
            # Shielded: closing stops the model and stores what had arrived, and must happen when cancelled.
            with CancelScope(shield=True):
                await self.run(getattr(items, "close", lambda: None), lasting=True)
