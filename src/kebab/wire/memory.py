"""Shapes of the execution memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from kebab.domain import executions as domain
from kebab.wire.search import Degradation
from kebab.wire.shape import Shape, of


class Execution(Shape, frozen=True, tag_field="schema_version", tag="execution.v1"):
    """One recorded run. ``embedding`` is null unless it was asked for."""

    id: str
    agent_id: str
    agent_role: str | None
    task_id: str
    task_type: str
    task_description: str
    success: bool
    error: str | None
    quality_score: float
    latency_ms: int
    cost_cents: int
    provider: str
    started_at: datetime
    finished_at: datetime
    documents_used: tuple[str, ...]
    parent: str | None
    embedding_model: str | None
    embedding: tuple[float, ...] | None = None


class ExecutionHit(Shape, frozen=True, tag_field="schema_version", tag="execution_hit.v1"):
    """A run found again; the side that did not find it is null. ``reason`` says whence the score."""

    rank: int
    hybrid_score: float
    semantic_score: float | None
    lexical_score: float | None
    semantic_rank: int | None
    lexical_rank: int | None
    outcome_weight: float
    reason: str
    execution: Execution


class ExecutionSearch(Shape, frozen=True, tag_field="schema_version", tag="execution_search.v1"):
    """What a search of the memory found; ``degraded`` names what could not take part."""

    query: str
    mode: str
    hits: tuple[ExecutionHit, ...]
    degraded: tuple[Degradation, ...]


class Task(Shape, frozen=True, tag_field="schema_version", tag="task.v1"):
    """A free-form task record."""

    id: str
    description: str
    recorded_at: datetime
    details: dict[str, Any]
    embedding_model: str | None
    embedding: tuple[float, ...] | None = None


class TaskHit(Shape, frozen=True):
    rank: int
    hybrid_score: float
    semantic_score: float | None
    lexical_score: float | None
    semantic_rank: int | None
    lexical_rank: int | None
    reason: str
    task: Task


class TaskSearch(Shape, frozen=True, tag_field="schema_version", tag="task_search.v1"):
    query: str
    hits: tuple[TaskHit, ...]
    degraded: tuple[Degradation, ...]


class ExecutionList(Shape, frozen=True, tag_field="schema_version", tag="execution_list.v1"):
    """Newest first."""

    executions: tuple[Execution, ...]


class Day(Shape, frozen=True):
    agent_id: str
    task_type: str
    day: str
    execution_count: int
    success_count: int
    success_rate: float
    avg_quality: float
    avg_latency_ms: float
    total_cost_cents: int
    trend: str


class LearningCurve(Shape, frozen=True, tag_field="schema_version", tag="learning_curve.v1"):
    """Days (UTC), oldest first; ``trend`` is improving, stable, declining or unknown."""

    agent_id: str
    task_type: str | None
    trend: str
    slope_per_day: float | None
    days: tuple[Day, ...]


class AgentStanding(Shape, frozen=True):
    agent_id: str
    executions: int
    effective_executions: float
    success_rate: float
    low: float
    high: float
    avg_quality: float
    avg_latency_ms: float
    avg_cost_cents: float
    last_finished_at: datetime


class AgentRanking(Shape, frozen=True, tag_field="schema_version", tag="agent_ranking.v1"):
    """Best first by ``low``, the lower end of the 95 % interval of the success rate."""

    task_type: str | None
    agents: tuple[AgentStanding, ...]


class Cause(Shape, frozen=True):
    distance: int
    execution: Execution


class CauseTrace(Shape, frozen=True, tag_field="schema_version", tag="cause_trace.v1"):
    """What led to an execution, nearest first."""

    execution_id: str
    causes: tuple[Cause, ...]


class HelpfulDocument(Shape, frozen=True):
    document: str
    score: float
    succeeded: int
    failed: int
    executions: tuple[str, ...]


class HelpfulDocuments(Shape, frozen=True, tag_field="schema_version", tag="helpful_documents.v1"):
    """Documents that runs of similar tasks used, best first."""

    task: str
    documents: tuple[HelpfulDocument, ...]


class LineFailure(Shape, frozen=True):
    line: int
    message: str


class MemoryImport(Shape, frozen=True, tag_field="schema_version", tag="memory_import.v1"):
    recorded: int
    failures: tuple[LineFailure, ...]


class MemoryStats(Shape, frozen=True, tag_field="schema_version", tag="memory_stats.v1"):
    executions: int
    successes: int
    tasks: int
    agents: int
    task_types: int
    providers: int
    documents: int
    first_started_at: datetime | None
    last_finished_at: datetime | None
    total_cost_cents: int
    models: dict[str, int]


class MemoryChange(Shape, frozen=True, tag_field="schema_version", tag="memory_change.v1"):
    """What an upkeep command did: ``pruned`` or ``embedded`` so many executions."""

    action: str
    executions: int
    dry_run: bool = False


MEMORY_SHAPES: tuple[type[Shape], ...] = (
    AgentRanking,
    CauseTrace,
    Execution,
    ExecutionHit,
    ExecutionList,
    ExecutionSearch,
    HelpfulDocuments,
    LearningCurve,
    MemoryChange,
    MemoryImport,
    MemoryStats,
    Task,
    TaskSearch,
)


def execution(item: domain.Execution, *, embedding: bool = False) -> Execution:
    shaped = of(item, Execution)
    return shaped if embedding else msgspec.structs.replace(shaped, embedding=None)


def execution_list(items: Sequence[domain.Execution]) -> ExecutionList:
    return ExecutionList(executions=tuple(execution(item) for item in items))


def execution_search(query: str, mode: str, found: domain.Recalled) -> ExecutionSearch:
    hits = tuple(
        of(hit, ExecutionHit, rank=rank, execution=execution(hit.execution))
        for rank, hit in enumerate(found.hits, start=1)
    )
    return ExecutionSearch(query=query, mode=mode, hits=hits, degraded=_degraded(found.degraded))


def task(item: domain.TaskRecord) -> Task:
    return msgspec.structs.replace(of(item, Task), embedding=None)


def task_search(query: str, found: domain.RecalledTasks) -> TaskSearch:
    hits = tuple(
        of(hit, TaskHit, rank=rank, task=task(hit.task)) for rank, hit in enumerate(found.hits, start=1)
    )
    return TaskSearch(query=query, hits=hits, degraded=_degraded(found.degraded))


def learning_curve(curve: domain.LearningCurve) -> LearningCurve:
    days = tuple(of(day, Day, day=day.day.isoformat()) for day in curve.days)
    return of(curve, LearningCurve, days=days)


def agent_ranking(task_type: str | None, agents: Sequence[domain.AgentRank]) -> AgentRanking:
    return AgentRanking(task_type=task_type, agents=tuple(of(agent, AgentStanding) for agent in agents))


def cause_trace(execution_id: str, causes: Sequence[domain.Cause]) -> CauseTrace:
    shaped = tuple(Cause(distance=item.distance, execution=execution(item.execution)) for item in causes)
    return CauseTrace(execution_id=execution_id, causes=shaped)


def helpful_documents(task_text: str, documents: Sequence[domain.HelpfulDocument]) -> HelpfulDocuments:
    return HelpfulDocuments(task=task_text, documents=tuple(of(item, HelpfulDocument) for item in documents))


def memory_import(report: domain.ImportReport) -> MemoryImport:
    return of(report, MemoryImport)


def memory_stats(stats: domain.MemoryStats) -> MemoryStats:
    return of(stats, MemoryStats)


def _degraded(notes: Sequence[object]) -> tuple[Degradation, ...]:
    return tuple(of(note, Degradation) for note in notes)
