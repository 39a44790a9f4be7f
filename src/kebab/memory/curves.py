"""Learning curves: what the days of an agent say about where it is going. Pure arithmetic over outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from math import sqrt

from kebab.domain.learning import DailyAggregation, LearningCurve, Outcome, RetiredDay, Trend

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


def learning_curve(
    outcomes: Sequence[Outcome], retired: Sequence[RetiredDay] = (), *, agent_id: str, task_type: str | None
) -> LearningCurve:
    """The days of one agent, oldest first, those that retention removed included, and the trend over all."""
    totals = day_totals(outcomes, retired)
    slope = fitted_slope(totals)
    return LearningCurve(
        agent_id=agent_id,
        task_type=task_type,
        days=tuple(_daily(outcomes, retired, totals, agent_id=agent_id, task_type=task_type or "*")),
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
        found += _daily(runs, (), day_totals(runs), agent_id=agent_id, task_type=task_type)
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


def day_totals(outcomes: Iterable[Outcome], retired: Iterable[RetiredDay] = ()) -> list[DayTotals]:
    """Runs by the day (UTC) they finished, oldest first. A failure counts 0, a success its quality."""
    found: dict[date, DayTotals] = {}
    for outcome in outcomes:
        value = outcome.quality_score if outcome.success else 0.0
        _add(found, DayTotals(outcome.finished_at.date(), 1, value, value * value))
    for day in retired:
        _add(found, DayTotals(day.day, day.runs, day.total, day.squares))
    return [totals for _, totals in sorted(found.items())]


def _add(found: dict[date, DayTotals], more: DayTotals) -> None:
    held = found.get(more.day, DayTotals(more.day, 0, 0.0, 0.0))
    found[more.day] = DayTotals(
        more.day, held.runs + more.runs, held.total + more.total, held.squares + more.squares
    )


def _daily(
    outcomes: Iterable[Outcome],
    retired: Iterable[RetiredDay],
    totals: Sequence[DayTotals],
    *,
    agent_id: str,
    task_type: str,
) -> list[DailyAggregation]:
    runs: dict[date, list[Outcome]] = {}
    for outcome in outcomes:
        runs.setdefault(outcome.finished_at.date(), []).append(outcome)
    gone: dict[date, list[RetiredDay]] = {}
    for day in retired:
        gone.setdefault(day.day, []).append(day)
    days = []
    for each in sorted(runs.keys() | gone.keys()):
        recent = [total for total in totals if each - TREND_WINDOW < total.day <= each]
        sums = _Sums.of(runs.get(each, ()), gone.get(each, ()))
        days.append(sums.aggregated(each, trend_of(recent), agent_id=agent_id, task_type=task_type))
    return days


@dataclass(frozen=True, slots=True)
class _Sums:
    runs: int
    successes: int
    quality: float
    latency_ms: float
    cost_cents: float

    @classmethod
    def of(cls, runs: Sequence[Outcome], gone: Sequence[RetiredDay]) -> _Sums:
        return cls(
            len(runs) + sum(day.runs for day in gone),
            sum(run.success for run in runs) + sum(day.successes for day in gone),
            sum(run.quality_score for run in runs) + sum(day.quality for day in gone),
            sum(run.latency_ms for run in runs) + sum(day.latency_ms for day in gone),
            sum(run.cost_cents for run in runs) + sum(day.cost_cents for day in gone),
        )

    def aggregated(self, day: date, trend: Trend, *, agent_id: str, task_type: str) -> DailyAggregation:
        return DailyAggregation(
            agent_id=agent_id,
            task_type=task_type,
            day=day,
            execution_count=self.runs,
            success_count=self.successes,
            success_rate=self.successes / self.runs,
            avg_quality=self.quality / self.runs,
            avg_latency_ms=self.latency_ms / self.runs,
            total_cost_cents=self.cost_cents,
            trend=trend,
        )
