"""What is concluded from many runs: outcomes, days, learning curves, the standing of agents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The part of an execution that statistics need."""

    agent_id: str
    task_type: str
    success: bool
    quality_score: float
    latency_ms: int
    cost_cents: float
    finished_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RetiredDay:
    """The sums of one day's runs that retention removed, enough to keep the learning curve."""

    agent_id: str
    task_type: str
    day: date
    runs: int
    successes: int
    quality: float
    latency_ms: float
    cost_cents: float
    total: float
    """Sum of the outcomes: quality of a success, 0 for a failure."""
    squares: float

    @property
    def key(self) -> tuple[str, str, str]:
        return self.agent_id, self.task_type, self.day.isoformat()


class Trend(StrEnum):
    IMPROVING = "improving"
    STABLE = "stable"
    DECLINING = "declining"
    UNKNOWN = "unknown"
    """Too few runs or days to tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyAggregation:
    """One day (UTC) of one agent's runs of one type; ``trend`` looks back over the two weeks up to it."""

    agent_id: str
    task_type: str
    day: date
    execution_count: int
    success_count: int
    success_rate: float
    avg_quality: float
    avg_latency_ms: float
    total_cost_cents: float
    trend: Trend


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningCurve:
    agent_id: str
    task_type: str | None
    """None where the runs of all types are taken together."""
    days: tuple[DailyAggregation, ...]
    trend: Trend
    slope_per_day: float | None
    """Change of the mean outcome (quality of a success, 0 for a failure) in a day; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRank:
    """An agent's standing at a type of task. Ranked by ``low``, what it achieves at the least."""

    agent_id: str
    executions: int
    effective_executions: float
    """Runs weighted by recency: one of today counts 1, one of a half-life ago counts 0.5."""
    success_rate: float
    low: float
    high: float
    avg_quality: float
    avg_latency_ms: float
    avg_cost_cents: float
    last_finished_at: datetime
