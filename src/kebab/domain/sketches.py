"""Comparing texts by their sketches, a few numbers each: which are near-copies of each other?

A sketch holds the smallest of the hashes of a text (Broder 1997); the share that two have in common of the
smallest of both tells how much of the texts is the same. docs/decisions/0013-near-copies.md has the figures.
"""

from __future__ import annotations

from struct import unpack
from typing import NamedTuple

NUMBERS = 64
"""Of a sketch, at most; a text of a hundred letters or more has as many."""
SKETCH_BYTES = 4 * NUMBERS
ALIKE = 0.7
"""The share from which on two texts are copies. Texts too short for a whole sketch must agree wholly."""
KEYS = 6
"""Of two copies at least one of so many of the smallest numbers is nearly always in both."""


class Sketch(NamedTuple):
    """The numbers of a text, in order and as a set; none where it has no sketch."""

    numbers: tuple[int, ...]
    every: frozenset[int]

    @classmethod
    def of(cls, stored: bytes) -> Sketch:
        numbers = unpack(f"<{len(stored) // 4}I", stored[: len(stored) // 4 * 4])
        return cls(numbers, frozenset(numbers))


def alike(one: Sketch, other: Sketch) -> bool:
    """Whether two texts are near-copies, as far as their sketches tell."""
    if len(one.numbers) < NUMBERS or len(other.numbers) < NUMBERS:
        return bool(one.numbers) and one.numbers == other.numbers
    # Most of the texts that share a number are no copies, and have too few in common: that is seen at once.
    return len(one.every & other.every) >= ALIKE * NUMBERS and resemblance(one, other) >= ALIKE


def resemblance(one: Sketch, other: Sketch) -> float:
    """The share of what both texts hold in all that either holds, as estimated; 0 to 1."""
    smallest = sorted(one.every | other.every)[:NUMBERS]
    return len((one.every & other.every).intersection(smallest)) / max(1, len(smallest))
