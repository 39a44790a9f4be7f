"""Weights for one person's questions: fitted near those that ship, judged on questions they never saw."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kebab.answer.measured import FEATURES
from kebab.answer.weights import Fitted, fitted
from kebab.evaluate.fit import LEAST, Example, fit_gate, fit_selection

FOLDS = 5
PULL = 0.05
"""How strongly a few questions are held to the weights that ship: those saw hundreds."""


@dataclass(frozen=True, slots=True)
class Judged:
    """How weights do on questions."""

    sorted: float
    """Share of the questions that are answered or refused as they should be, both kinds counting alike."""
    first: float
    """Share of the questions whose fact was found where the best passage holds it."""

    def better_than(self, other: Judged) -> bool:
        """Better at one, and not worse at the other."""
        gains = (self.sorted - other.sorted, self.first - other.first)
        return min(gains) >= 0 and max(gains) > 0


@dataclass(frozen=True, slots=True)
class OwnWeights:
    weights: Fitted
    before: Judged
    after: Judged
    """Both on questions that took no part in the fit that judged them."""

    @property
    def better(self) -> bool:
        return self.after.better_than(self.before)


def own_weights(examples: Sequence[Example], *, shipped: Fitted, threshold: float) -> OwnWeights:
    """Weights fitted to all the examples, with what such a fit is worth. Raises InvalidInput for too few."""
    weights = _fit(examples, shipped, least=LEAST)
    # In the order of their kinds, so that every part has some of each.
    ordered = sorted(examples, key=lambda e: (e.answerable, any(e.holds), e.folder))
    parts = [ordered[n::FOLDS] for n in range(FOLDS)]
    others = [[e for m, part in enumerate(parts) if m != n for e in part] for n in range(FOLDS)]
    known = [_fit(each, shipped, least=1) for each in others]
    by_part = {id(e): fit for part, fit in zip(parts, known, strict=True) for e in part}
    return OwnWeights(
        weights,
        judged(examples, lambda _: shipped, threshold=threshold),
        judged(examples, lambda e: by_part[id(e)], threshold=threshold),
    )


def judged(examples: Sequence[Example], weights: Callable[[Example], Fitted], *, threshold: float) -> Judged:
    seen = [e for e in examples if e.gate is not None]
    right = [e for e in seen if _passes(e, weights(e), threshold) == e.answerable]
    recalls = [
        sum(e.answerable is kind for e in right) / max(1, sum(e.answerable is kind for e in seen))
        for kind in (True, False)
    ]
    found = [e for e in examples if e.answerable and any(e.holds)]
    first = sum(_first(e, weights(e)) for e in found) / max(1, len(found))
    return Judged(sum(recalls) / 2, first)


def _fit(examples: Sequence[Example], shipped: Fitted, *, least: int) -> Fitted:
    bias, gate, means = fit_gate(examples, near=shipped.gate_weights, pull=PULL, least=least)
    selection = fit_selection(examples, near=shipped.selection, pull=PULL, least=least)
    return fitted(selection=selection, bias=bias, gate=gate, means=means)


def _passes(example: Example, weights: Fitted, threshold: float) -> bool:
    return example.gate is not None and weights.gate_weights.probability(example.gate) >= threshold


def _first(example: Example, weights: Fitted) -> bool:
    worth = [
        math.fsum(weights.selection[name] * value for name, value in zip(FEATURES, values, strict=True))
        for values in example.passages
    ]
    return example.holds[worth.index(max(worth))]
