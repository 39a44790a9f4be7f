"""Fusing ranked lists: the one piece of arithmetic behind document search and execution memory.

Every function takes rankings by leg and gives ``Fused`` items in a total order: fused score descending,
then the rank in each leg in turn, ascending (absent last), then id ascending. All of it in double precision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

RRF_K = 60


class Ranked(NamedTuple):
    """One entry of a leg's list, best first in that list; ``score`` is the engine's raw score."""

    id: str
    score: float


class Fused(NamedTuple):
    """An id with its fused score in [0, 1] and what each leg added to it."""

    id: str
    score: float
    contributions: Mapping[str, float]


Rankings = Mapping[str, Sequence[Ranked]]
"""Leg name → its list. The order of the keys is the order of the tie-break."""

Shares = dict[str, dict[str, float]]
"""Leg name → id → what the leg adds to the fused score."""


def rrf(rankings: Rankings, *, k: int = RRF_K, weights: Mapping[str, float] | None = None) -> list[Fused]:
    """Fuse by reciprocal rank (Cormack, Clarke & Büttcher 2009), best first.

    Ranks, not scores: BM25 and cosine share no scale. A leg that lacks an id adds nothing to it. Divided by
    what first place in every leg would give, so that first everywhere is 1.0 and first in one of two legs
    of equal weight is 0.5.
    """
    weight = {leg: 1.0 if weights is None else weights.get(leg, 0.0) for leg in rankings}
    best = sum(weight.values()) / (k + 1)
    if best <= 0:
        return []
    parts = {
        leg: {item.id: weight[leg] / (k + rank) / best for rank, item in enumerate(ranking, start=1)}
        for leg, ranking in rankings.items()
    }
    return ordered(parts, rankings)


def convex(rankings: Rankings, *, weights: Mapping[str, float]) -> list[Fused]:
    """Fuse by a convex combination of scores, each divided by its list's best (Bruch et al. 2023).

    Keeps how far apart the hits of one leg are, which ranks throw away. Scores at or below zero add nothing;
    what only they found keeps its leg's order, at the end.
    """
    return ordered(convex_shares(rankings, weights=weights), rankings)


def convex_shares(rankings: Rankings, *, weights: Mapping[str, float]) -> Shares:
    """What each leg adds to each id in a convex combination; empty when no leg has a weight."""
    total = sum(weights.get(leg, 0.0) for leg in rankings)
    shares: Shares = {}
    for leg, ranking in rankings.items():
        top = max((item.score for item in ranking), default=0.0)
        share = weights.get(leg, 0.0) / total if total > 0 else 0.0
        counts = top > 0 and total > 0
        shares[leg] = {item.id: share * max(item.score, 0.0) / top for item in ranking} if counts else {}
    return shares if total > 0 else {}


def summed(shares: Mapping[str, Mapping[str, float]], rankings: Rankings) -> dict[str, float]:
    """Every ranked id with the sum of its shares, in the total order that the module promises."""
    if not shares:
        return {}
    # In the order of the ranks, leg by leg: sorting by score alone keeps it where scores are equal.
    # Cosines below zero add nothing, and must not leave their order to the ids.
    scores = {item.id: 0.0 for ranking in rankings.values() for item in ranking}
    for own in shares.values():
        for key, share in own.items():
            scores[key] += share
    return {key: scores[key] for key in sorted(scores, key=scores.__getitem__, reverse=True)}


def ordered(shares: Mapping[str, Mapping[str, float]], rankings: Rankings) -> list[Fused]:
    """The same with what each leg added."""
    return with_parts(summed(shares, rankings), shares)


def with_parts(scores: Mapping[str, float], shares: Mapping[str, Mapping[str, float]]) -> list[Fused]:
    """What was summed, in its order, with what each leg added."""
    parts: dict[str, dict[str, float]] = {key: {} for key in scores}
    for leg, own in shares.items():
        for key, share in own.items():
            parts[key][leg] = share
    return [Fused(key, score, parts[key]) for key, score in scores.items()]
