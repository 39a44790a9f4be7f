"""Weights fitted to one person's questions: near those that ship, and judged on questions they never saw."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

import pytest

from kebab.answer.measured import FEATURES
from kebab.answer.weights import load_weights
from kebab.domain.answers import GATE_FEATURES, GateFeatures
from kebab.errors import InvalidInput
from kebab.evaluate.fit import Example, fit_selection
from kebab.evaluate.own_weights import Judged, judged, own_weights

SHIPPED = load_weights()
THRESHOLD = 0.42


def gate(value: float) -> GateFeatures:
    return GateFeatures(**dict.fromkeys(GATE_FEATURES, value))


def example(answerable: bool, *, signal: float, telling: str) -> Example:
    """Ten passages; the one that holds the fact is told by one feature alone."""
    flat = dict.fromkeys(FEATURES, 0.3)
    told = tuple({**flat, telling: 1.0}.values())
    rows = [told, *[tuple(flat.values())] * 9]
    return Example("own", answerable, rows, [answerable, *[False] * 9], gate(signal))


def questions(*, high: float, low: float, count: int = 20) -> list[Example]:
    return [example(n % 2 == 0, signal=high if n % 2 == 0 else low, telling="own") for n in range(2 * count)]


def test_weights_that_sort_new_questions_better_are_better() -> None:
    """In this folder everything looks weak, and what is answerable looks only a little stronger."""
    found = own_weights(questions(high=0.30, low=0.20), shipped=SHIPPED, threshold=THRESHOLD)
    assert found.before.sorted == 0.5
    assert found.after.sorted > 0.9
    assert found.better


def test_chance_is_not_sold_as_learning() -> None:
    random = Random(7)
    noise = [example(n % 2 == 0, signal=random.random(), telling="own") for n in range(40)]
    found = own_weights(noise, shipped=SHIPPED, threshold=THRESHOLD)
    assert found.after.sorted < 0.75, "judged on what it learned from"


def test_where_the_weights_that_ship_are_right_nothing_is_better() -> None:
    found = own_weights(questions(high=0.95, low=0.02), shipped=SHIPPED, threshold=THRESHOLD)
    assert found.before == Judged(1.0, 1.0)
    assert not found.better


def test_a_few_questions_stay_near_the_weights_that_ship() -> None:
    few = questions(high=0.95, low=0.02, count=12)
    own = own_weights(few, shipped=SHIPPED, threshold=THRESHOLD).weights.selection
    free = fit_selection(few)
    assert away(own) < away(free) / 2


def away(selection: dict[str, float]) -> float:
    return math.dist(*([weights[name] for name in FEATURES] for weights in (selection, SHIPPED.selection)))


def test_too_few_questions_are_an_error() -> None:
    with pytest.raises(InvalidInput, match="too few to learn from"):
        own_weights(questions(high=0.9, low=0.1, count=5), shipped=SHIPPED, threshold=THRESHOLD)


def test_both_kinds_of_questions_count_alike() -> None:
    many = questions(high=0.95, low=0.95)
    assert judged(many, lambda _: SHIPPED, threshold=THRESHOLD).sorted == 0.5


def test_weights_that_are_not_there_are_told_with_the_setting_that_names_them(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"gone\.json holds no weights: No such file") as caught:
        load_weights(tmp_path / "gone.json")
    assert caught.value.hint is not None
    assert "rag.weights" in caught.value.hint
