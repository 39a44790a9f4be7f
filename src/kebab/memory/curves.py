"""Learning curves: what the days of an agent say about where it is going. Pure arithmetic over outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from math import sqrt

from kebab.domain.executions import DailyAggregation, LearningCurve, Outcome, Trend

TREND_WINDOW = timedelta(days=14)
MIN_RUNS = 5
"""Fewer runs than this tell nothing about a direction."""
SIGNIFICANT = 1.96
"""Standard errors a slope must lie from zero to be called one: chance alone passes this once in twenty."""


@dataclass(frozen=True, slots=True)
class DayTotals:
    """Enough of a day to fit a line through its runs without keeping them."""

    day: date
    runs: int
    total: float
    squares: float


def learning_curve(outcomes: Sequence[Outcome], *, agent_id: str, task_type: str | None) -> LearningCurve:
    """The days of one agent, oldest first, with the trend over all of them."""
    totals = day_totals(outcomes)
    slope = fitted_slope(totals)
    return LearningCurve(
        agent_id=agent_id,
        task_type=task_type,
        days=tuple(_daily(outcomes, totals, agent_id=agent_id, task_type=task_type or "*")),
        trend=trend_of(totals),
        slope_per_day=None if slope is None else slope[0],
    )


def daily_aggregations(outcomes: Iterable[Outcome]) -> list[DailyAggregation]:
    """Every agent's days for every type of task, in order of agent, type and day."""

    def owner(outcome: Outcome) -> tuple[str, str]:
        return outcome.agent_id, outcome.task_type

    found: list[DailyAggregation] = []
    for (agent_id, task_type), group in groupby(sorted(outcomes, key=owner), key=owner):
        runs = list(group)
        found += _daily(runs, day_totals(runs), agent_id=agent_id, task_type=task_type)
    return found


def trend_of(totals: Sequence[DayTotals]) -> Trend:
    """Where the mean outcome is going: a slope counts when it is clear of chance."""
    slope = fitted_slope(totals)
    if slope is None:
        return Trend.UNKNOWN
    value, error = slope
    if abs(value) <= SIGNIFICANT * error or value == 0:
        return Trend.STABLE
    return Trend.IMPROVING if value > 0 else Trend.DECLINING


def fitted_slope(totals: Sequence[DayTotals]) -> tuple[float, float] | None:
    """Least squares of outcome over day: change a day and its standard error; None for too little data."""
    runs = sum(day.runs for day in totals)
    if runs < MIN_RUNS or len(totals) < 2:
        return None
    start = totals[0].day
    placed = [((day.day - start).days, day) for day in totals]
    mean_x = sum(x * day.runs for x, day in placed) / runs
    mean_y = sum(day.total for day in totals) / runs
    spread = sum(day.runs * (x - mean_x) ** 2 for x, day in placed)
    slope = sum((x - mean_x) * (day.total - mean_y * day.runs) for x, day in placed) / spread
    variation = sum(day.squares for day in totals) - runs * mean_y**2
    residual = max(0.0, variation - slope**2 * spread)
    return slope, sqrt(residual / (runs - 2) / spread)


def day_totals(outcomes: Iterable[Outcome]) -> list[DayTotals]:
    """Runs by the day (UTC) they finished, oldest first. A failure counts 0, a success its quality."""
    values: dict[date, list[float]] = {}
    for outcome in outcomes:
        value = outcome.quality_score if outcome.success else 0.0
        values.setdefault(outcome.finished_at.date(), []).append(value)
    return [
        DayTotals(day, len(runs), sum(runs), sum(run * run for run in runs))
        for day, runs in sorted(values.items())
    ]


def _daily(
    outcomes: Iterable[Outcome], totals: Sequence[DayTotals], *, agent_id: str, task_type: str
) -> list[DailyAggregation]:
    runs: dict[date, list[Outcome]] = {}
    for outcome in outcomes:
        runs.setdefault(outcome.finished_at.date(), []).append(outcome)
    days = []
    for day, group in sorted(runs.items()):
        recent = [total for total in totals if day - TREND_WINDOW < total.day <= day]
        days.append(_aggregated(day, group, trend_of(recent), agent_id=agent_id, task_type=task_type))
    return days


def _aggregated(
    day: date, runs: Sequence[Outcome], trend: Trend, *, agent_id: str, task_type: str
) -> DailyAggregation:
    count = len(runs)
    successes = sum(run.success for run in runs)
    return DailyAggregation(
        agent_id=agent_id,
        task_type=task_type,
        day=day,
        execution_count=count,
        success_count=successes,
        success_rate=successes / count,
        avg_quality=sum(run.quality_score for run in runs) / count,
        avg_latency_ms=sum(run.latency_ms for run in runs) / count,
        total_cost_cents=sum(run.cost_cents for run in runs),
        trend=trend,
    )
