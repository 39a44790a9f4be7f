"""How likely it is that a search found what was meant: what its scores say beside the order.

A logistic model of five facts that every search knows, with weights at or above zero: more of any of them
never makes a search less likely to have succeeded. ``python -m training.ranking`` fits it; on what, and how
well the figures hold on collections that were left out, is in docs/decisions/0012-learned-ranking.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from kebab.domain.fusion import Ranked, Rankings
from kebab.domain.hits import Leg, ScoreKind, SearchHit
from kebab.search.fusion import QueryEvidence

WEAK = 0.2
"""Where even the best hit has less, a response says so: three in four queries about something else do."""

WRITTEN = 0.5
"""The least where one word, or what was quoted, stands there as typed: which text was meant, nobody knows."""


@dataclass(frozen=True, slots=True)
class Likelihood:
    """The likelihood that one of the first three hits is right."""

    start: float
    held: float
    """For the share of the query that the best hits by words hold."""
    cosine: float
    """For the cosine of the nearest; every model has its own scale."""
    margin: float
    """For how far the nearest stands out from the last candidate, of what there is to stand out."""
    lead: float
    """For how far the best hit by words is ahead of the next."""
    foreign: float
    """Where query and texts are in different languages, so that no word can be held."""
    strange: float
    """Taken off where no word of the query is known: the vectors of such words are made of scraps."""

    def of(self, rankings: Rankings, evidence: QueryEvidence) -> float:
        """Between 0 and 1; 1 where a leg did not take part, of which nothing is known."""
        words, nearest = rankings.get(Leg.LEXICAL.value), rankings.get(Leg.VECTOR.value)
        if words is None or nearest is None:
            return 1.0
        weights = (self.held, self.cosine, self.margin, self.lead, self.foreign)
        facts = facts_of(words, nearest, evidence)
        total = self.start + sum(weight * fact for weight, fact in zip(weights, facts, strict=True))
        total -= 0.0 if evidence.known else self.strange
        return max(1 / (1 + exp(-total)), WRITTEN if evidence.written else 0.0)


def facts_of(
    words: Sequence[Ranked], nearest: Sequence[Ranked], evidence: QueryEvidence
) -> tuple[float, ...]:
    """What is known of a search, in the order of the weights."""
    apart = evidence.languages_meet < 1 or bool(nearest and nearest[0].id in evidence.foreign)
    cosine = max(0.0, nearest[0].score) if nearest else 0.0
    return evidence.coverage, cosine, _margin(nearest), _lead(words), float(apart)


def is_weak(hits: Sequence[SearchHit]) -> bool:
    """Whether even the best of the hits is unlikely to be meant; False where scores say nothing of it."""
    likely = [hit.score for hit in hits if hit.score_kind is ScoreKind.LEARNED]
    return bool(likely) and len(likely) == len(hits) and max(likely) < WEAK


def _margin(nearest: Sequence[Ranked]) -> float:
    if not nearest or nearest[-1].score >= 1:
        return 0.0
    return (nearest[0].score - nearest[-1].score) / (1 - nearest[-1].score)


def _lead(words: Sequence[Ranked]) -> float:
    if not words or words[0].score <= 0:
        return 0.0
    return 1 - (words[1].score if len(words) > 1 else 0.0) / words[0].score


OWN_MODEL = Likelihood(start=-5.88, held=1.74, cosine=11.46, margin=0.0, lead=2.24, foreign=0.47, strange=2.0)
"""With the vectors of kebab-static."""
ANY_MODEL = Likelihood(start=-3.99, held=2.22, cosine=0.0, margin=11.08, lead=1.22, foreign=0.0, strange=0.0)
"""With those of another model, whose cosines have another scale."""
