"""The arithmetic of fusion, as the contract states it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.fusion import Fused, Ranked, convex, rrf

LEXICAL, VECTOR = "lexical", "vector"


def ranking(*ids: str) -> list[Ranked]:
    return [Ranked(item, 1.0 / rank) for rank, item in enumerate(ids, start=1)]


def ids(fused: Sequence[Fused]) -> list[str]:
    return [item.id for item in fused]


def test_ranks_one_and_two_give_the_contracts_value() -> None:
    fused = rrf({LEXICAL: ranking("a"), VECTOR: ranking("b", "a")})
    score = next(item.score for item in fused if item.id == "a")
    assert score == pytest.approx((1 / 61 + 1 / 62) / (2 / 61), abs=1e-15)


def test_first_everywhere_is_one_and_first_in_one_of_two_is_a_half() -> None:
    both = rrf({LEXICAL: ranking("a"), VECTOR: ranking("a")})
    one = rrf({LEXICAL: ranking("a"), VECTOR: ranking("b")})
    assert both[0].score == pytest.approx(1.0)
    assert [item.score for item in one] == pytest.approx([0.5, 0.5])


def test_first_in_both_lists_beats_first_in_one() -> None:
    """The absent list adds nothing. Counting it as rank 0 would give 1/61 + 1/60 > 2/61."""
    fused = rrf({LEXICAL: ranking("both", "x"), VECTOR: ranking("both", "y")})
    assert fused[0].id == "both"
    assert "vector" not in next(item for item in fused if item.id == "x").contributions


def test_ties_are_broken_by_lexical_rank_then_by_id() -> None:
    fused = rrf({LEXICAL: ranking("c", "b"), VECTOR: ranking("a", "d")})
    assert ids(fused) == ["c", "a", "b", "d"]


def test_disjoint_legs_give_all_of_both() -> None:
    assert set(ids(rrf({LEXICAL: ranking("a", "b"), VECTOR: ranking("c", "d")}))) == {"a", "b", "c", "d"}


def test_weights_shift_the_balance_and_are_normalised() -> None:
    weights = {LEXICAL: 3.0, VECTOR: 1.0}
    fused = rrf({LEXICAL: ranking("a"), VECTOR: ranking("b")}, weights=weights)
    assert ids(fused) == ["a", "b"]
    assert [item.score for item in fused] == pytest.approx([0.75, 0.25])


def test_convex_keeps_how_far_apart_the_scores_are() -> None:
    lexical = [Ranked("a", 10.0), Ranked("b", 9.0)]
    vector = [Ranked("b", 0.8), Ranked("c", 0.4)]
    fused = {
        item.id: item.score
        for item in convex({LEXICAL: lexical, VECTOR: vector}, weights={LEXICAL: 0.7, VECTOR: 0.3})
    }
    assert fused == {"a": pytest.approx(0.7), "b": pytest.approx(0.7 * 0.9 + 0.3), "c": pytest.approx(0.15)}


def test_an_empty_leg_or_a_weight_of_zero_leaves_the_other_legs_order() -> None:
    assert ids(rrf({LEXICAL: [], VECTOR: ranking("a", "b")})) == ["a", "b"]
    assert ids(convex({LEXICAL: [], VECTOR: ranking("a", "b")}, weights={LEXICAL: 1, VECTOR: 1})) == [
        "a",
        "b",
    ]
    assert rrf({}) == []
    assert convex({LEXICAL: ranking("a")}, weights={}) == []


RANKINGS = st.lists(st.text("abcdefgh", min_size=1, max_size=2), unique=True, max_size=12).map(
    lambda x: ranking(*x)
)


@given(RANKINGS, RANKINGS)
def test_the_fused_order_is_total_and_every_score_lies_in_the_unit_interval(
    lexical: list[Ranked], vector: list[Ranked]
) -> None:
    for fused in (
        rrf({LEXICAL: lexical, VECTOR: vector}),
        convex({LEXICAL: lexical, VECTOR: vector}, weights={LEXICAL: 0.7, VECTOR: 0.3}),
    ):
        assert len({item.id for item in fused}) == len(fused)
        assert {item.id for item in fused} == {r.id for r in lexical} | {r.id for r in vector}
        assert all(0 <= item.score <= 1 + 1e-12 for item in fused)
        assert [item.score for item in fused] == sorted((item.score for item in fused), reverse=True)


def test_what_lies_behind_the_query_keeps_the_order_of_its_cosines() -> None:
    behind = [Ranked("z", -0.1), Ranked("a", -0.2), Ranked("m", -0.3)]
    near = [Ranked("q", 0.5), *behind]
    for vector in (near, behind):
        fused = convex({LEXICAL: ranking("w"), VECTOR: vector}, weights={LEXICAL: 0.7, VECTOR: 0.3})
        assert ids(fused)[-3:] == ["z", "a", "m"]


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30, unique=True))
def test_one_leg_alone_keeps_its_order_whatever_the_sign_of_its_scores(scores: list[float]) -> None:
    best_first = sorted(scores, reverse=True)
    vector = [Ranked(f"{-rank % 7}-{rank}", score) for rank, score in enumerate(best_first)]
    assert ids(convex({LEXICAL: [], VECTOR: vector}, weights={LEXICAL: 0.5, VECTOR: 0.5})) == [
        item.id for item in vector
    ]
