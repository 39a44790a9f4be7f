"""The calls that run on a shared object, counted, so that closing it can wait for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from kebab.errors import Closed

P = ParamSpec("P")
R = TypeVar("R")


class Counting(Protocol):
    @property
    def calls(self) -> Calls: ...


Owner = TypeVar("Owner", bound=Counting)


def call(method: Callable[Concatenate[Owner, P], R]) -> Callable[Concatenate[Owner, P], R]:
    """A method that counts as a call while it runs. Raises Closed once its object was closed."""

    @wraps(method)
    def counted(owner: Owner, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with owner.calls:
            return method(owner, *args, **kwargs)

    return counted


class Calls:
    """A gate: ``with calls:`` around each call. Calls may nest in a thread, and run in many at once."""

    def __init__(self, before: Callable[[], None] = lambda: None) -> None:
        """``before`` runs before each call that is not made by another one."""
        self._before = before
        self._changed = threading.Condition()
        self._running = 0
        self._closed = False
        self._own = threading.local()

    def __enter__(self) -> None:
        if not self._depth and not self._closed:
            self._before()
        with self._changed:
            # A call that runs when closing begins is let finish, with the calls that it makes itself.
            if self._closed and not self._depth:
                raise Closed("this knowledge base was closed", hint="open it again: Kebab.open(…)")
            self._running += 1
            self._own.depth = self._depth + 1

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._running -= 1
            self._own.depth -= 1
            self._changed.notify_all()

    def each(self, items: Generator[R, None, None]) -> Iterator[R]:
        """The items, each a call of its own: a stream that is not read on must not keep ``close`` waiting."""
        try:
            while True:
                with self:
                    item = next(items, None)
                if item is None:
                    return
                yield item
        finally:
            items.close()

    def close(self) -> bool:
        """Let no more calls in and wait for those of other threads; False when that was done before."""
        with self._changed:
            first, self._closed = not self._closed, True
            self._changed.wait_for(lambda: self._running == self._depth)
            return first

    def is_idle(self) -> bool:
        """Whether no call runs."""
        return not self._running

    def is_closed(self) -> bool:
        return self._closed

    @property
    def _depth(self) -> int:
        depth: int = getattr(self._own, "depth", 0)
        return depth
