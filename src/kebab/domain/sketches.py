"""Comparing texts by their sketches, a few numbers each: which are near-copies of each other?

A sketch holds the smallest of the hashes of a text (Broder 1997); the share that two have in common of the
smallest of both tells how much of the texts is the same. docs/decisions/0013-near-copies.md has the figures.
"""

from __future__ import annotations

from struct import unpack

NUMBERS = 64
"""Of a sketch, at most; a text of a hundred letters or more has as many."""
SKETCH_BYTES = 4 * NUMBERS
ALIKE = 0.7
"""The share from which on two texts are copies. Texts too short for a whole sketch must agree wholly."""
KEYS = 6
"""Of two copies at least one of so many of the smallest numbers is nearly always in both."""


def numbers_of(sketch: bytes) -> tuple[int, ...]:
    """In order; empty where there is no sketch."""
    return unpack(f"<{len(sketch) // 4}I", sketch[: len(sketch) // 4 * 4])


def alike(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two texts are near-copies, as far as their sketches tell."""
    if len(one) < NUMBERS or len(other) < NUMBERS:
        return bool(one) and one == other
    return resemblance(one, other) >= ALIKE


def resemblance(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """The share of what both texts hold in all that either holds, as estimated; 0 to 1."""
    left, right = frozenset(one), frozenset(other)
    smallest = sorted(left | right)[:NUMBERS]
    return sum(number in left and number in right for number in smallest) / max(1, len(smallest))
