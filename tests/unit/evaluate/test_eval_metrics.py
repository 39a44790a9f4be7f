"""The numbers of a report, against values worked out by hand."""

from __future__ import annotations

from math import log2

import pytest

from kebab.evaluate import metrics


def test_a_target_at_the_third_place_scores_by_its_place() -> None:
    scored = metrics.score({"q": {"a": 1}}, {"q": ["x", "y", "a"]})["q"]
    assert scored["nDCG@10"] == pytest.approx(1 / log2(4))
    assert scored["MRR@10"] == pytest.approx(1 / 3)
    assert (scored["hit@1"], scored["hit@3"], scored["hit@10"]) == (0, 1, 1)
    assert scored["P@10"] == pytest.approx(0.1)
    assert scored["R@100"] == 1


def test_graded_targets_want_the_better_one_first() -> None:
    judged = {"q": {"good": 1, "best": 3}}
    right = metrics.score(judged, {"q": ["best", "good"]})["q"]["nDCG@10"]
    wrong = metrics.score(judged, {"q": ["good", "best"]})["q"]["nDCG@10"]
    assert right == pytest.approx(1)
    assert wrong == pytest.approx((1 / log2(2) + 3 / log2(3)) / (3 / log2(2) + 1 / log2(3)))


def test_a_query_without_any_result_counts_as_zero_and_is_not_left_out() -> None:
    scored = metrics.score({"found": {"a": 1}, "lost": {"b": 1}}, {"found": ["a"], "lost": []})
    assert metrics.mean(list(scored.values()))["hit@1"] == pytest.approx(0.5)


def test_order_is_by_place_even_where_ids_would_break_ties_otherwise() -> None:
    first = metrics.score({"q": {"a": 1}}, {"q": ["a", "z"]})["q"]["hit@1"]
    second = metrics.score({"q": {"z": 1}}, {"q": ["z", "a"]})["q"]["hit@1"]
    assert first == second == 1


def test_ids_may_hold_any_characters() -> None:
    strange = "finance - 지방은행 시중은행.pdf - 4\t#|"
    assert metrics.score({"q 1": {strange: 1}}, {"q 1": [strange]})["q 1"]["nDCG@10"] == pytest.approx(1)


def test_a_constant_improvement_is_beyond_noise() -> None:
    found = metrics.difference("nDCG@10", before=[0.1, 0.2, 0.3, 0.4], after=[0.2, 0.3, 0.4, 0.5])
    assert found.difference == pytest.approx(0.1)
    assert found.beyond_noise
    assert found.low <= found.difference <= found.high


def test_one_win_and_one_loss_of_the_same_size_are_noise() -> None:
    found = metrics.difference("nDCG@10", before=[0.0, 1.0, 0.5, 0.5], after=[1.0, 0.0, 0.5, 0.5])
    assert not found.beyond_noise
    assert found.low < 0 < found.high


def test_the_interval_is_the_same_every_time() -> None:
    values = {"before": [0.1, 0.9, 0.3, 0.2, 0.8], "after": [0.3, 0.7, 0.5, 0.2, 0.9]}
    assert metrics.difference("nDCG@10", **values) == metrics.difference("nDCG@10", **values)


@pytest.mark.parametrize("values", [[], [0.5]])
def test_too_few_queries_have_an_interval_of_no_width(values: list[float]) -> None:
    found = metrics.difference("nDCG@10", before=values, after=values)
    assert found.low == found.high == 0
    assert not found.beyond_noise


def test_percentiles_of_nothing_are_zero() -> None:
    assert metrics.percentiles([]) == {"p50_ms": 0.0, "p95_ms": 0.0}
    assert metrics.percentiles([1.0, 2.0, 3.0])["p50_ms"] == pytest.approx(2.0)
