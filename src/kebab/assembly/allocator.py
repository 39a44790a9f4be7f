"""How the C library hands out memory to threads."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

_M_ARENA_MAX = -8  # from glibc's malloc.h
ARENAS = 1


@cache
def few_arenas() -> bool:
    """Let all threads share their freed memory; returns whether the C library was told.

    glibc gives each thread an arena of its own and keeps what is freed in it: an ingest of 54 MB of notes
    peaked at 395 MB that way, and at 284 MB with one arena. Other C libraries share it by themselves.
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_M_ARENA_MAX, ARENAS))
