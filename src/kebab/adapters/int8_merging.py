"""Which segments of an int8 vector index become one, and when: few to search, and no row written often."""

from __future__ import annotations

from collections.abc import Sequence

from kebab.adapters.int8_segments import Segment, dead_rows

# More segments than this, or a larger share of rows that are gone, call for a merge when nothing else waits.
_MAX_SEGMENTS = 8
_MAX_DEAD = 0.1
# While an ingest goes on, so many of about one size become one. A row is then written once for each tier.
_A_TIER = 16


def full_tier(named: Sequence[Segment]) -> tuple[Segment, ...]:
    """Segments of about one size, where there are enough of them to make one of the next."""
    tiers: dict[int, list[Segment]] = {}
    for one in named:
        tiers.setdefault(one.rows.bit_length() // 4, []).append(one)
    full = [tier for tier in sorted(tiers) if len(tiers[tier]) >= _A_TIER]
    return tuple(tiers[full[0]]) if full else ()


def due(named: Sequence[Segment]) -> tuple[Segment, ...]:
    """The segments to merge: all when one of them is large with gaps, otherwise the smaller ones when many.

    What a merge writes is at least as much as what it leaves alone is not: a row is rewritten rarely.
    """
    gaps = {one.name: int(dead_rows(one).sum()) for one in named}
    holed = [one for one in named if gaps[one.name] > _MAX_DEAD * one.rows]
    if holed:
        largest = max(one.rows for one in holed)
        return tuple(one for one in named if one.rows <= largest)
    if len(named) <= _MAX_SEGMENTS:
        return ()
    by_size = sorted(named, key=lambda one: one.rows, reverse=True)
    rest = sum(one.rows for one in by_size)
    for at, one in enumerate(by_size):
        rest -= one.rows
        if one.rows <= rest or at:
            chosen = {each.name for each in by_size[at:]}
            return tuple(each for each in named if each.name in chosen)
    return tuple(named)
