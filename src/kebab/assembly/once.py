"""Parts that are built at their first use, and once, however many threads come together."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, TypeVar, overload

Owner = TypeVar("Owner")
Part = TypeVar("Part")


class Once(Generic[Owner, Part]):
    """What ``once`` makes of a method. Found in the object itself from the second use on."""

    def __init__(self, build: Callable[[Owner], Part]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    def __set_name__(self, owner: type[Owner], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, owner: None, kind: type[Owner]) -> Once[Owner, Part]: ...

    @overload
    def __get__(self, owner: Owner, kind: type[Owner]) -> Part: ...

    def __get__(self, owner: Owner | None, kind: type[Owner]) -> Once[Owner, Part] | Part:
        if owner is None:
            return self
        parts = vars(owner)
        # One lock for all parts of an object: they are built from each other, in any order.
        with parts.setdefault("_building", RLock()):
            if self._name not in parts:
                parts[self._name] = self._build(owner)
        built: Part = parts[self._name]
        return built


def once(build: Callable[[Owner], Part]) -> Once[Owner, Part]:
    """A property that is computed at its first use and then kept; one that raises is tried again.

    ``functools.cached_property`` does not do it: from Python 3.12 on, two threads may each build their own.
    """
    return Once(build)


def is_built(owner: Any, name: str) -> bool:
    """Whether a part has been used yet."""
    return name in vars(owner)
