"""Something that is done while something else goes on for too long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer


@contextmanager
def later(seconds: float, act: Callable[[], object]) -> Iterator[None]:
    """Calls ``act`` once, in a thread of its own, if the block is not left within so many seconds."""
    timer = Timer(seconds, act)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
