"""Fitting gate and selection to questions with known answers.

Selection is a conditional logit over the passages found for a question: those that hold the fact should come
first. The gate is a logistic regression on the gate's features. Weights never become negative, folders count
alike whatever their size, and in the gate so do questions with and without an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from kebab.answer.gate import GateWeights
from kebab.answer.measured import FEATURES
from kebab.domain.answers import GATE_FEATURES, GateFeatures
from kebab.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Key = TypeVar("Key")
SELECTION_RIDGE = 0.001
GATE_RIDGE = 0.0005
MOST_HOLDING = 0.25
"""A pattern that more of the passages meet names a page, not a sentence, and teaches nothing here."""
LEAST = 10
"""Questions of each kind that a fit needs."""


@dataclass(frozen=True, slots=True)
class Example:
    """One question as the answer room saw it."""

    folder: str
    answerable: bool
    passages: Sequence[tuple[float, ...]]
    """The features of each passage found."""
    holds: Sequence[bool]
    """Which of them hold the fact."""
    gate: GateFeatures | None


def fit_selection(
    examples: Sequence[Example],
    *,
    near: Mapping[str, float] | None = None,
    pull: float = SELECTION_RIDGE,
    least: int = LEAST,
) -> dict[str, float]:
    """What each feature of a passage counts. Raises InvalidInput when too few questions can teach it.

    ``pull`` is how strongly the weights are held to ``near``, or to 0 without it.
    """
    import numpy as np

    taught = [e for e in examples if 0 < sum(e.holds) <= len(e.holds) * MOST_HOLDING]
    _enough(len(taught), "questions whose fact was found", least)
    share = _shares([e.folder for e in taught])
    items = [(np.array(e.passages), np.array(e.holds, dtype=float), share[e.folder]) for e in taught]

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, slope = 0.0, np.zeros_like(weights)
        for x, y, each in items:
            scores = x @ weights
            raised = np.exp(scores - scores.max())
            right = raised * y
            total -= each * float(np.log(right.sum() / raised.sum() + 1e-12))
            slope -= each * (x.T @ (right / right.sum() - raised / raised.sum()))
        return total, slope

    held = np.array([near[name] for name in FEATURES]) if near else np.zeros(len(FEATURES))
    start = held if near else np.ones(len(FEATURES))
    found = _minimize(loss, start, held=held, ridge=pull * len(share), free=0)
    return _named(FEATURES, found)


def fit_gate(
    examples: Sequence[Example],
    *,
    near: GateWeights | None = None,
    pull: float = GATE_RIDGE,
    least: int = LEAST,
) -> tuple[float, dict[str, float], dict[str, float]]:
    """Bias, weights and means of the gate's features. Raises InvalidInput without enough of either kind.

    ``pull`` is how strongly the weights are held to ``near``, or to 0 without it.
    """
    import numpy as np

    seen = [e for e in examples if e.gate is not None]
    _enough(sum(e.answerable for e in seen), "questions with an answer", least)
    _enough(sum(not e.answerable for e in seen), "questions without one", least)
    x = np.array([[np.nan if v is None else v for v in _values(e)] for e in seen], dtype=float)
    means = np.nan_to_num(np.nanmean(x, axis=0))
    x = np.hstack([np.ones((len(seen), 1)), np.where(np.isnan(x), means, x)])
    y = np.array([float(e.answerable) for e in seen])
    share = _shares([(e.folder, e.answerable) for e in seen])
    weight = np.array([share[e.folder, e.answerable] / 2 for e in seen])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        z = x @ weights
        slope = weight * (1 / (1 + np.exp(-z)) - y)
        return float((weight * (np.logaddexp(0, z) - y * z)).sum()), x.T @ slope

    folders = len({e.folder for e in seen})
    known = [near.bias, *(near.weights[name] for name in GATE_FEATURES)] if near else [0.0] * x.shape[1]
    held = np.array(known)
    found = _minimize(loss, held, held=held, ridge=pull * folders, free=1)
    return round(float(found[0]), 3), _named(GATE_FEATURES, found[1:]), _named(GATE_FEATURES, means)


def _minimize(
    loss: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    start: NDArray[np.float64],
    *,
    held: NDArray[np.float64],
    ridge: float,
    free: int,
) -> NDArray[np.float64]:
    """The weights of least loss near ``held``, none negative; ``free`` of them are not held."""
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    def ridged(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = loss(weights)
        away = weights - held
        away[:free] = 0.0
        return value + ridge * float(away @ away) / 2, slope + ridge * away

    bounds = [(None, None)] * free + [(0.0, None)] * (len(start) - free)
    found: NDArray[np.float64] = minimize(ridged, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return found


def _values(example: Example) -> list[float | None]:
    return [getattr(example.gate, name) for name in GATE_FEATURES]


def _shares(keys: Sequence[Key]) -> Mapping[Key, float]:
    """One over how often each key occurs: every key weighs 1 in all."""
    counts: dict[Key, int] = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    return {key: 1 / count for key, count in counts.items()}


def _named(names: Sequence[str], values: NDArray[np.float64]) -> dict[str, float]:
    return {name: round(float(value), 3) for name, value in zip(names, values, strict=True)}


def _enough(count: int, what: str, least: int) -> None:
    if count < least:
        raise InvalidInput(
            f"{count} {what} are too few to learn from", hint=f"write at least {least} of them"
        )
