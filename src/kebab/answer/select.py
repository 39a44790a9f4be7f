"""Which of the ranked passages make the answer: as many as it needs, best first, none twice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from kebab.answer.rank import FEATURES, Scored
from kebab.domain.chunks import StoredChunk
from kebab.domain.ids import ChunkId

MOST = 4
NEAR = 1.6
"""How much less a further passage may be worth than the best one."""
PART = 0.4
"""How much less a part of the best passage may be worth to stand for it."""
_SAME = 0.7
"""Passages that share this much of their terms say the same."""
_ABOUT = 0.75
"""Share of the best passage's coverage that a passage of another document needs."""
_CONTEXT = FEATURES.index("context")


def select(ranked: Sequence[Scored], *, most: int = MOST) -> list[Scored]:
    """The best passage and those that are nearly as good and say something else, in this order."""
    chosen = [_shortest(ranked)] if ranked and most else []
    for one in ranked:
        if len(chosen) == most or one.worth < ranked[0].worth - NEAR:
            break
        if _adds(one, chosen):
            chosen.append(one)
    return chosen


def _shortest(ranked: Sequence[Scored]) -> Scored:
    """The best passage, or a part of it that is as good but for a little: one line when one line answers."""
    best = ranked[0]
    parts = [
        one
        for one in ranked
        if one.worth >= best.worth - PART
        and one.chunk.chunk.chunk_id == best.chunk.chunk.chunk_id
        and one.passage.text in best.passage.text
    ]
    return min(parts, key=lambda one: len(one.passage.text))


def _adds(one: Scored, chosen: Sequence[Scored]) -> bool:
    best = chosen[0]
    if one.chunk.path != best.chunk.path and one.features[_CONTEXT] < _ABOUT * best.features[_CONTEXT]:
        return False
    return not any(_overlap(one, other) or _alike(one.terms, other.terms) for other in chosen)


def _overlap(one: Scored, other: Scored) -> bool:
    """True when one holds the other, or shares a quoted sentence with it."""
    if one.chunk.chunk.chunk_id != other.chunk.chunk.chunk_id:
        return False
    apart = one.passage.last < other.passage.first or other.passage.last < one.passage.first
    if apart:
        return False
    return (
        one.passage.text in other.passage.text
        or other.passage.text in one.passage.text
        or (one.passage.first == other.passage.first and one.passage.text[:40] == other.passage.text[:40])
    )


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other:
        return True
    return len(one & other) / min(len(one), len(other)) >= _SAME


def interleaved(lists: Sequence[Sequence[Scored]]) -> list[Scored]:
    """The first of each list, then the second of each, every passage once: no part starves another."""
    found: dict[tuple[ChunkId, str], Scored] = {}
    for row in zip_longest(*lists):
        for one in row:
            if one is not None:
                found.setdefault((one.chunk.chunk.chunk_id, one.passage.text), one)
    return list(found.values())


def in_order(passages: Sequence[Scored], chunks: Sequence[StoredChunk]) -> list[StoredChunk]:
    """The chunks as evidence: by the order of their first passage, then those that no passage is of."""
    order = {c.chunk.chunk_id: c for c in (*(one.chunk for one in passages), *chunks)}
    return list(order.values())
