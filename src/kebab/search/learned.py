"""The fusion that has learned: adaptive fusion, a closer look at the best, and scores that mean something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from kebab.domain.fusion import Fused, Rankings, Shares, summed, with_parts
from kebab.domain.hits import FusionNote, Leg, ScoreKind
from kebab.search.fusion import (
    LOOKED_AT,
    Adaptive,
    Convex,
    FusionPolicy,
    Look,
    QueryEvidence,
    Rrf,
    WeightedRrf,
    put_first,
)
from kebab.search.likelihood import OWN_MODEL, Likelihood

TYPED = 1.5
"""More than all else that a chunk can earn: who types one word as it stands in a text means that text."""
PAGE = 10
SUREST = 2
"""So many of the best of each leg stand on the first page, whatever the other leg says."""


@dataclass(frozen=True, slots=True)
class Learned:
    """A sum of evidence with weights at or above zero: more of any never places a chunk lower.

    To what adaptive fusion gives a chunk comes what a closer look at the best by words found. How much it
    counts follows how much words count at all: nothing where the languages do not meet. Scores are relative
    to the first, which has the likelihood that the search found what was meant; a note that is called what
    was asked has 1.
    """

    adaptive: Adaptive = field(default_factory=lambda: Adaptive())
    name: float = 0.15
    """What a chunk earns whose title and headings hold the whole query."""
    coverage: float = 0.0
    """What a chunk earns that holds the whole query; nothing, unless tuning on your own queries says so."""
    nearness: float = 0.15
    """What a chunk earns in which words stand beside each other as they do in the query."""
    whole: float = 0.1
    """Weight of meaning where the best by words hold all of several words: who types them remembers them."""
    likelihood: Likelihood = OWN_MODEL
    looks: int = field(default=LOOKED_AT, init=False)
    kind: ScoreKind = field(default=ScoreKind.LEARNED, init=False)

    def fuse(self, rankings: Rankings, evidence: QueryEvidence) -> tuple[list[Fused], FusionNote]:
        shares, note = self.adaptive.shared(rankings, evidence, whole=self.whole)
        if not shares:
            return [], note
        shares |= self._looked(rankings, evidence)
        likely = 1.0 if evidence.named else self.likelihood.of(rankings, evidence)
        _scale(shares, top=likely)
        reason = f"{note.reason}; {likely:.0%} likely to be among the first three"
        if put_first(shares, rankings, evidence.named):
            reason = f"a note is called what was asked and comes first; otherwise {note.reason}"
        scores = summed(shares, rankings)
        if self._lift(shares, scores, rankings, evidence):
            scores = summed(shares, rankings)
        return with_parts(scores, shares), FusionNote("learned", note.weights, reason)

    def _lift(
        self, shares: Shares, scores: Mapping[str, float], rankings: Rankings, evidence: QueryEvidence
    ) -> bool:
        """Give the best of each leg what lifts them to the first page; whether any lacked it.

        A leg that is right alone must not be overruled altogether. Words have no say where the languages do
        not meet: there they meet by accident.
        """
        legs = [leg for leg in rankings if leg != Leg.LEXICAL.value or self.adaptive.trust(evidence) > 0]
        best = {item.id: leg for leg in legs for item in rankings[leg][:SUREST]}
        below = {key: scores[key] for key in islice(scores, PAGE, None) if key in best}
        bar = next(islice(scores.values(), PAGE - len(below) - 1, None)) if below else 0.0
        for key, score in below.items():
            shares[best[key]][key] = shares[best[key]].get(key, 0.0) + bar - score
        return bool(below)

    def _looked(self, rankings: Rankings, evidence: QueryEvidence) -> Shares:
        """What the closer look gives, by part and chunk."""
        trusted = self.adaptive.trust(evidence)
        present = {item.id for ranking in rankings.values() for item in ranking}
        looks = {key: one for key, one in evidence.looks.items() if key in present}

        def part(weight: float, of: Callable[[Look], float]) -> dict[str, float]:
            return {key: weight * trusted * of(one) for key, one in looks.items()}

        parts = {
            "name": part(self.name, lambda one: one.name),
            "coverage": part(self.coverage, lambda one: one.coverage),
            "nearness": part(self.nearness, lambda one: one.nearness),
            "typed": {key: TYPED * one.typed for key, one in looks.items()},
        }
        return {name: shares for name, shares in parts.items() if any(shares.values())}


def _scale(shares: Shares, *, top: float) -> None:
    """Scale all shares alike, so that the best sum is ``top``."""
    sums: dict[str, float] = {}
    for part in shares.values():
        for key, share in part.items():
            sums[key] = sums.get(key, 0.0) + share
    best = max(sums.values(), default=0.0)
    factor = top / best if best > 0 else 0.0
    for part in shares.values():
        part.update({key: share * factor for key, share in part.items()})


def policies(
    *,
    k: int,
    lexical: float,
    vector: float,
    adaptive: Adaptive | None = None,
    learned: Learned | None = None,
) -> dict[str, FusionPolicy]:
    """Every policy by the name that settings and ``--fusion`` use."""
    weights = {Leg.LEXICAL.value: lexical, Leg.VECTOR.value: vector}
    return {
        "rrf": Rrf(k),
        "weighted_rrf": WeightedRrf(weights, k),
        "convex": Convex(weights),
        "adaptive": adaptive or Adaptive(),
        "learned": learned or Learned(),
    }
