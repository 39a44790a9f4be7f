"""What each leg said of a fused item, before its text is looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kebab.domain.fusion import Fused, Ranked
from kebab.domain.hits import Leg, LegEvidence, RetrievalDetail
from kebab.domain.ids import ChunkId
from kebab.domain.queries import SearchMode
from kebab.search.group import Placed
from kebab.search.lexical import lexical_score
from kebab.search.vector import vector_score

_LEGS = frozenset(Leg)

Places = dict[str, dict[str, tuple[int, float]]]
"""Leg → id → rank and raw score."""


def places_of(rankings: Mapping[str, Sequence[Ranked]]) -> Places:
    return {
        leg: {item.id: (rank, item.score) for rank, item in enumerate(ranking, start=1)}
        for leg, ranking in rankings.items()
    }


def placed(item: Fused, places: Places, candidates: int) -> Placed:
    found = {leg: by_id[item.id] for leg, by_id in places.items() if item.id in by_id}
    # A place deeper than the item's own tier took no part in its score, and a smaller k would not know it.
    tier_end = -(-min(rank for rank, _ in found.values()) // candidates) * candidates
    found = {leg: place for leg, place in found.items() if place[0] <= tier_end}
    lexical, vector = found.get(Leg.LEXICAL.value), found.get(Leg.VECTOR.value)
    return Placed(
        ChunkId(item.id),
        item.score,
        RetrievalDetail(
            SearchMode.HYBRID,
            item.score,
            lexical_score=lexical_score(lexical[1]) if lexical else None,
            lexical_rank=lexical[0] if lexical else None,
            vector_score=vector_score(vector[1]) if vector else None,
            vector_rank=vector[0] if vector else None,
        ),
        tuple(_evidence(Leg(leg), *place, item.contributions) for leg, place in found.items()),
    )


def _evidence(leg: Leg, rank: int, score: float, given: Mapping[str, float]) -> LegEvidence:
    """What a leg gave; to words belongs what a closer look at a chunk that they found gave."""
    if leg is not Leg.LEXICAL or given.keys() <= _LEGS:
        return LegEvidence(leg, rank, score, given.get(leg, 0.0))
    parts = {part: share for part, share in given.items() if part != Leg.VECTOR}
    return LegEvidence(leg, rank, score, sum(parts.values()), parts=parts)
