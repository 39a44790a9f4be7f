"""Which agent to ask: success weighed by recency, ranked by what it achieves at the least."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from kebab.domain.intervals import wilson_interval
from kebab.domain.learning import AgentRank, Outcome

HALF_LIFE = timedelta(days=30)


def rank_agents(
    outcomes: Iterable[Outcome], *, now: datetime, half_life: timedelta = HALF_LIFE
) -> list[AgentRank]:
    """Agents by the lower end of the interval of their success rate, then quality, then id.

    Three lucky runs have a wide interval and do not pass fifty good ones. A run of ``half_life`` ago counts
    half, and none counts more than 1: yesterday's luck cannot outweigh twenty older runs.
    """
    by_agent: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_agent.setdefault(outcome.agent_id, []).append(outcome)
    ranks = [_rank(agent, runs, now=now, half_life=half_life) for agent, runs in by_agent.items()]
    return sorted(ranks, key=lambda rank: (-rank.low, -rank.avg_quality, rank.agent_id))


def _rank(agent_id: str, runs: Sequence[Outcome], *, now: datetime, half_life: timedelta) -> AgentRank:
    weights = [0.5 ** (max(now - run.finished_at, timedelta()) / half_life) for run in runs]
    total = sum(weights)
    won = sum(weight for weight, run in zip(weights, runs, strict=True) if run.success)
    low, high = wilson_interval(won, total)

    def mean(values: Iterable[float]) -> float:
        return sum(w * value for w, value in zip(weights, values, strict=True)) / total if total else 0.0

    return AgentRank(
        agent_id=agent_id,
        executions=len(runs),
        effective_executions=total,
        success_rate=won / total if total else 0.0,
        low=low,
        high=high,
        avg_quality=mean(run.quality_score for run in runs),
        avg_latency_ms=mean(run.latency_ms for run in runs),
        avg_cost_cents=mean(run.cost_cents for run in runs),
        last_finished_at=max(run.finished_at for run in runs),
    )
