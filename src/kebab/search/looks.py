"""A closer look at the best hits by words: what of the query stands in their names, in them, and together.

BM25 adds up words wherever they stand. Whether a section's own heading names what was asked, how much of the
query it holds at all, and whether words that are neighbours in the query are neighbours in the text too says
more; docs/decisions/0012-learned-ranking.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from kebab.domain.chunks import StoredChunk, known_text
from kebab.domain.names import stands_in
from kebab.ports import Analyzer
from kebab.search.fusion import Look

FAR = 8
"""Words further apart than this many terms have nothing to do with each other."""


def look(
    stored: StoredChunk, mass: Mapping[str, float], *, analyzer: Analyzer, word: str | None = None
) -> tuple[Look, Collection[str]]:
    """Read one chunk, and say which terms of the query it holds.

    ``mass`` is what each term of the query says, by rarity, in the query's order; ``word`` is the query where
    it is a single word of two scripts.
    """
    names = analyzer.terms("\n".join([stored.title, *stored.chunk.heading_path]))
    text = known_text(stored)
    places = _places(analyzer.index_text(text), mass)
    seen = Look(
        name=_share(set(names), mass),
        coverage=_share(places, mass),
        nearness=_nearness(places, mass),
        typed=float(word is not None and stands_in(word, text)),
    )
    return seen, places.keys()


def _places(terms: str, wanted: Collection[str]) -> dict[str, list[int]]:
    """Where each wanted term stands among the terms, which one space joins; in order of the first places."""
    held = f" {terms} "
    found = ((term, _places_of(f" {term} ", held)) for term in wanted)
    return dict(sorted((pair for pair in found if pair[1]), key=lambda pair: pair[1][0]))


def _places_of(term: str, held: str) -> list[int]:
    """The places of one term, each the number of terms before it: most texts hold few of a query's."""
    places: list[int] = []
    place, before, at = 0, 0, held.find(term)
    while at >= 0:
        place += held.count(" ", before, at)
        places.append(place)
        before, at = at, held.find(term, at + 1)
    return places


def _share(found: Collection[str], mass: Mapping[str, float]) -> float:
    total = sum(mass.values())
    # In the query's order: a set has none, and sums depend on it in their last digit.
    return sum(share for term, share in mass.items() if term in found) / total if total else 0.0


def _nearness(places: Mapping[str, list[int]], mass: Mapping[str, float]) -> float:
    """The share of the query's neighbours that are neighbours in the text; less, the further apart."""
    near = total = 0.0
    for one, other in pairwise(mass):
        weight = min(mass[one], mass[other])
        total += weight
        if one in places and other in places:
            distance = _distance(places[one], places[other])
            near += weight / distance if distance <= FAR else 0.0
    return near / total if total else 0.0


def _distance(one: Sequence[int], other: Sequence[int]) -> int:
    """The least distance between two places, one of each ascending list."""
    least, at, to = abs(one[0] - other[0]), 0, 0
    while least > 1 and at < len(one) and to < len(other):
        least = min(least, abs(one[at] - other[to]))
        if one[at] < other[to]:
            at += 1
        else:
            to += 1
    return max(least, 1)
