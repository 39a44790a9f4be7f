"""How the C library hands out memory to threads, and when it gives back what was freed."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

_M_ARENA_MAX = -8  # from glibc's malloc.h
ARENAS = 1


@cache
def few_arenas() -> bool:
    """Let all threads share their freed memory; returns whether the C library was told.

    glibc gives each thread an arena of its own and keeps what is freed in it: an ingest of 54 MB of notes
    peaked at 395 MB that way, and at 284 MB with one arena. Other C libraries share it by themselves.
    """
    mallopt = _function("mallopt")
    return mallopt is not None and bool(mallopt(_M_ARENA_MAX, ARENAS))


def give_back() -> bool:
    """Return freed memory to the system, in some milliseconds; returns whether there was any to return.

    glibc does so by itself for what lies at the end of its heap alone: after 42,000 chunks a third of the
    heap of the process that writes was free and held all the same.
    """
    malloc_trim = _function("malloc_trim")
    return malloc_trim is not None and bool(malloc_trim(0))


@cache
def _function(name: str) -> Any | None:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
