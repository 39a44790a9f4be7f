"""What the columns of the words index say of hits: which chunks and documents they are."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import chain
from typing import Any

Hits = Sequence[tuple[float, Any]]
"""A score and an address each, as the engine gives them."""


def chunk_ids(searcher: Any, hits: Hits) -> list[str]:
    return ids(list(zip(*chunk_numbers(searcher, hits), strict=True)))


def chunk_numbers(searcher: Any, hits: Hits) -> tuple[list[int], list[int]]:
    """The two halves of each chunk's id, which sort as the ids do."""
    return column(searcher, "chunk_high", hits), column(searcher, "chunk_low", hits)


def column(searcher: Any, name: str, hits: Hits) -> list[int]:
    """The number that each hit has there; every chunk was written with one."""
    values: list[int] = searcher.fast_field_values(name, [address for _, address in hits])
    if None in values:
        raise ValueError(f"a chunk has no {name}")
    return values


def ids(halves: Sequence[tuple[int, int]]) -> list[str]:
    """Ids of chunks from the two halves of each, all at once: in half the time that one by one takes."""
    digits = struct.pack(f">{2 * len(halves)}Q", *chain.from_iterable(halves)).hex()
    return [digits[at : at + 32] for at in range(0, len(digits), 32)]
