"""How sure it is that a record is about what was asked: "never done before" must be an answer.

Ranks cannot say it: something is always first. What can be measured is how much of the query's rare words a
record holds, and how near the two are in meaning. The weights were fitted on known items against unrelated
questions in both languages: docs/decisions/0005-execution-memory.md has the rates.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import exp, log

from kebab.ports import Frequencies

DEFAULT_MIN_SCORE = 0.5
"""At this relevance a record is as likely about something else."""

CALIBRATED = "kebab-static"
"""The model whose cosines were fitted; those of another one have another scale."""

_BIAS, _COVERAGE, _COSINE = -9.7, 11.75, 8.0
_BIAS_WORDS, _COVERAGE_WORDS = -8.7, 16.0


def coverage(weights: Mapping[str, float], held: Collection[str], known: Frequencies) -> float:
    """The share of the query's terms that a record holds, rare ones counting more; 0 without terms."""
    worth = {term: weight * _rarity(known, term) for term, weight in weights.items()}
    total = sum(worth.values())
    return sum(worth[term] for term in held) / total if total else 0.0


def relevance(*, covered: float, cosine: float | None) -> float:
    """In [0, 1]. ``cosine`` is None where meaning did not take part or another model made the vectors."""
    if cosine is None:
        return _logistic(_BIAS_WORDS + _COVERAGE_WORDS * covered)
    return _logistic(_BIAS + _COVERAGE * covered + _COSINE * max(0.0, cosine))


def _rarity(known: Frequencies, term: str) -> float:
    if not known.records:
        return 1.0
    holding = known.holding.get(term, 0)
    return log(1 + (known.records - holding + 0.5) / (holding + 0.5))


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-value))
