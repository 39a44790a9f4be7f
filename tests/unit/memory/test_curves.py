from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.executions import ExecutionFilters
from kebab.domain.intervals import wilson_interval
from kebab.domain.learning import Outcome, Trend
from kebab.memory.agents import rank_agents
from kebab.memory.curves import daily_aggregations, day_totals, fitted_slope, learning_curve
from tests.memory_fakes import NOON, run
from tests.unit.memory.conftest import Bench


def outcome(day: float, *, agent: str = "a", success: bool = True, quality: float = 1.0) -> Outcome:
    return Outcome(
        agent_id=agent,
        task_type="fix",
        success=success,
        quality_score=quality,
        latency_ms=100,
        cost_cents=2,
        finished_at=NOON + timedelta(days=day),
    )


def test_a_day_counts_its_runs_their_success_quality_latency_and_cost() -> None:
    (day,) = daily_aggregations([outcome(0), outcome(0.1, success=False, quality=0.5)])

    assert (day.day, day.execution_count, day.success_count, day.success_rate) == (NOON.date(), 2, 1, 0.5)
    assert (day.avg_quality, day.avg_latency_ms, day.total_cost_cents) == (0.75, 100.0, 4)
    assert day.trend is Trend.UNKNOWN


def test_days_are_utc_and_in_order() -> None:
    days = daily_aggregations([outcome(3), outcome(0.6), outcome(1)])

    assert [(day.day - NOON.date()).days for day in days] == [1, 3]
    assert [day.execution_count for day in days] == [2, 1]


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (lambda day: 0.1 + 0.04 * day, Trend.IMPROVING),
        (lambda day: 0.9 - 0.04 * day, Trend.DECLINING),
        (lambda day: 0.6, Trend.STABLE),
    ],
)
def test_the_trend_follows_the_outcomes(rate: Callable[[int], float], expected: Trend) -> None:
    dice = random.Random(7)
    runs = [outcome(day, success=dice.random() < rate(day)) for day in range(20) for _ in range(20)]
    curve = learning_curve(runs, agent_id="a", task_type="fix")

    assert curve.trend is expected
    assert len(curve.days) == 20


def test_chance_alone_is_called_stable_nearly_always() -> None:
    dice = random.Random(1)
    wrong = 0
    for _ in range(200):
        runs = [outcome(day, success=dice.random() < 0.7) for day in range(10) for _ in range(5)]
        wrong += learning_curve(runs, agent_id="a", task_type=None).trend is not Trend.STABLE
    assert wrong <= 24  # five percent of 200 are ten; twice that and a little is bad luck


def test_too_few_runs_or_days_tell_nothing() -> None:
    assert learning_curve([], agent_id="a", task_type=None).trend is Trend.UNKNOWN
    assert learning_curve([outcome(d) for d in range(4)], agent_id="a", task_type=None).trend is Trend.UNKNOWN
    assert learning_curve([outcome(0)] * 50, agent_id="a", task_type=None).trend is Trend.UNKNOWN


def test_rising_quality_of_successes_is_improvement_too() -> None:
    runs = [outcome(day, quality=0.2 + 0.05 * day) for day in range(10) for _ in range(3)]
    curve = learning_curve(runs, agent_id="a", task_type=None)

    assert curve.trend is Trend.IMPROVING
    assert curve.slope_per_day == pytest.approx(0.05)


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans(), st.floats(0, 1)), min_size=5, max_size=60))
def test_the_slope_from_daily_totals_is_the_one_from_the_single_runs(
    runs: list[tuple[int, bool, float]],
) -> None:
    outcomes = [outcome(day, success=success, quality=quality) for day, success, quality in runs]
    slope = fitted_slope(day_totals(outcomes))
    xs = [day for day, _, _ in runs]
    ys = [quality if success else 0.0 for _, success, quality in runs]
    if slope is None:
        assert len(set(xs)) < 2
        return
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    direct = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    direct /= sum((x - mean_x) ** 2 for x in xs)
    assert slope[0] == pytest.approx(direct, abs=1e-9)
    assert slope[1] >= 0


def test_three_lucky_runs_do_not_beat_fifty_good_ones() -> None:
    lucky = [outcome(0, agent="lucky") for _ in range(3)]
    steady = [outcome(0, agent="steady", success=number % 10 != 0) for number in range(50)]
    ranks = rank_agents(lucky + steady, now=NOON)

    assert [rank.agent_id for rank in ranks] == ["steady", "lucky"]
    assert ranks[1].success_rate == 1.0
    assert ranks[1].high - ranks[1].low > ranks[0].high - ranks[0].low


def test_a_run_of_a_half_life_ago_counts_half_and_no_run_counts_more_than_one() -> None:
    (rank,) = rank_agents([outcome(-30), outcome(0), outcome(5)], now=NOON, half_life=timedelta(days=30))

    assert rank.effective_executions == pytest.approx(2.5)
    assert rank.executions == 3


def test_recent_failures_weigh_more_than_old_ones() -> None:
    was_bad = [outcome(-200, agent="was", success=False)] * 20 + [outcome(0, agent="was")] * 20
    is_bad = [outcome(-200, agent="is")] * 20 + [outcome(0, agent="is", success=False)] * 20

    assert [rank.agent_id for rank in rank_agents(was_bad + is_bad, now=NOON)] == ["was", "is"]


@given(st.integers(0, 50), st.integers(1, 50))
def test_the_interval_holds_the_rate_and_stays_between_0_and_1(won: int, lost: int) -> None:
    low, high = wilson_interval(won, won + lost)

    assert 0.0 <= low <= won / (won + lost) <= high <= 1.0


def test_no_runs_say_nothing() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert rank_agents([], now=NOON) == []


def test_the_memory_offers_curves_days_and_ranks(bench: Bench) -> None:
    bench.memory.record_many(run(number, success=number % 3 != 0) for number in range(12))

    assert bench.memory.learning_curve("agent-1", "fix").days[0].success_rate == 1.0
    assert bench.memory.learning_curve("agent-1", "other").days == ()
    assert [rank.agent_id for rank in bench.memory.rank_agents("fix")][-1] == "agent-0"
    assert {day.agent_id for day in bench.memory.daily(bench_filters())} == {"agent-0", "agent-1", "agent-2"}


def bench_filters() -> ExecutionFilters:
    return ExecutionFilters(task_type=("fix",))
