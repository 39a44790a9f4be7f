"""Comparing two runs and learning a policy: both only from what was measured."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from kebab.domain.evaluations import METRICS, EvalQuery, EvalReport, QueryScore
from kebab.domain.fusion import Fused, Ranked, Rankings, convex
from kebab.domain.hits import FusionNote, ScoreKind
from kebab.domain.queries import SearchMode
from kebab.errors import InvalidInput
from kebab.evaluate.compare import compare
from kebab.evaluate.tune import LegResults, split, tune
from kebab.search.fusion import QueryEvidence
from kebab.search.grid import GridPoint


def report(values: dict[str, float], mode: SearchMode = SearchMode.LEXICAL) -> EvalReport:
    scores = tuple(QueryScore(key, key, dict.fromkeys(METRICS, v), 1, (), 1.0) for key, v in values.items())
    return EvalReport("r", "now", "small", mode, None, "v", None, 3, dict.fromkeys(METRICS, 0.5), scores)


def test_wins_and_losses_are_named_largest_first() -> None:
    found = compare(
        report({"a": 0.1, "b": 0.5, "c": 0.9, "d": 0.3}), report({"a": 1.0, "b": 0.6, "c": 0.2, "d": 0.3})
    )
    assert [change.query_id for change in found.better] == ["a", "b"]
    assert [change.query_id for change in found.worse] == ["c"]
    assert found.unchanged == 1
    assert found.differences[0].difference == pytest.approx((0.9 + 0.1 - 0.7) / 4)


def test_runs_over_other_queries_cannot_be_compared() -> None:
    with pytest.raises(InvalidInput, match="different queries: b, c"):
        compare(report({"a": 1, "b": 1}), report({"a": 1, "c": 1}))


def test_an_unknown_metric_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="bleu"):
        compare(report({"a": 1}), report({"a": 1}), metric="bleu")


@dataclass(frozen=True)
class Weighted:
    vector: float
    kind: ScoreKind = ScoreKind.CONVEX
    looks: int = 0

    def fuse(self, rankings: Rankings, evidence: QueryEvidence) -> tuple[list[Fused], FusionNote]:
        weights = {"lexical": 1 - self.vector, "vector": self.vector}
        return convex(rankings, weights=weights), FusionNote("convex", weights, "")


def results(number: int, *, right: str, collection: str = "small") -> LegResults:
    """Both legs find two chunks; only the leg called ``right`` has the relevant one first."""
    good_first = [Ranked("good", 2.0), Ranked("bad", 1.0)]
    bad_first = [Ranked("bad", 2.0), Ranked("good", 1.0)]
    rankings = {leg: good_first if leg == right else bad_first for leg in ("lexical", "vector")}
    query = EvalQuery(f"q{number}", f"q{number}", {"doc": 1})
    return LegResults(collection, query, rankings, QueryEvidence(), {"good": "doc", "bad": "other"})


GRID = {f"convex:{vector}": GridPoint(Weighted(vector), {"w": vector}) for vector in (0.0, 0.25, 0.75, 1.0)}


def test_the_leg_that_is_right_is_learned_and_confirmed_on_unseen_queries() -> None:
    cached = [results(number, right="vector") for number in range(40)]
    found = tune(cached, grid=GRID, current="convex:0.25")
    assert found.best.policy == "convex:0.75"
    assert found.best.test == 1
    assert found.settings == {"w": 0.75}
    assert found.gain.beyond_noise
    assert found.gain.difference > 0
    assert {leg.policy: leg.test for leg in found.legs} == {
        "lexical": pytest.approx(0.6309, abs=1e-4),
        "vector": 1,
    }
    assert found.train_queries + found.test_queries == 40


def test_what_is_no_better_on_unseen_queries_is_not_recommended() -> None:
    cached = [results(number, right="vector") for number in range(40)]
    train = {item.key for item in split(cached, share=0.5)[0]}
    # What helps the queries that choose harms the others.
    misleading = [item if item.key in train else results(n, right="lexical") for n, item in enumerate(cached)]
    found = tune(misleading, grid=GRID, current="convex:0.25")
    assert found.best.policy == "convex:0.75"
    assert found.gain.difference < 0
    assert found.settings == {}


def test_the_present_policy_is_not_recommended_against_itself() -> None:
    cached = [results(number, right="vector") for number in range(40)]
    assert tune(cached, grid=GRID, current="convex:0.75").settings == {}


def test_the_split_of_a_query_does_not_depend_on_the_others() -> None:
    few = tune([results(n, right="vector") for n in range(20)], grid=GRID, current="convex:0.0")
    many = tune([results(n, right="vector") for n in range(40)], grid=GRID, current="convex:0.0")
    assert few.train_queries < many.train_queries
    assert few.test_queries < many.test_queries


def test_collections_count_alike_whatever_their_size() -> None:
    large = [results(n, right="vector", collection="large") for n in range(90)]
    small = [results(n, right="lexical", collection="small") for n in range(20)]
    found = tune(large + small, grid=GRID, current="convex:0.0")
    by_name = {policy.policy: policy.train for policy in found.tried}
    assert by_name["convex:1.0"] == pytest.approx(by_name["convex:0.0"])


def test_the_gain_is_the_difference_of_the_means_that_are_shown() -> None:
    large = [results(n, right="vector", collection="large") for n in range(90)]
    small = [results(n, right="lexical", collection="small") for n in range(20)]
    found = tune(large + small, grid=GRID, current="convex:0.25")
    assert found.gain.after == pytest.approx(found.best.test)
    assert found.gain.difference == pytest.approx(found.best.test - found.current.test)


def test_too_few_queries_to_split_are_an_error() -> None:
    with pytest.raises(InvalidInput, match="too few"):
        tune([results(1, right="vector")], grid=GRID, current="convex:0.0")


def test_a_tie_keeps_the_earlier_policy_of_the_grid() -> None:
    cached = [replace(results(n, right="vector"), units={"good": "doc", "bad": "doc"}) for n in range(20)]
    assert tune(cached, grid=GRID, current="convex:1.0").best.policy == "convex:0.0"
