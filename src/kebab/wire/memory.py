"""Shapes of the execution memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from kebab.domain import advice, executions, learning, recalls
from kebab.wire.search import Degradation
from kebab.wire.shape import Shape, of


class Feedback(Shape, frozen=True):
    at: datetime
    by: str
    success: bool | None
    quality_score: float | None
    note: str


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
    approach: str | None = None
    result: str | None = None
    lesson: str | None = None
    exact_cost_cents: float | None = None
    """Where the cost is a fraction; ``cost_cents`` is rounded then."""
    tokens: dict[str, int] = msgspec.field(default_factory=dict)
    scope: dict[str, str] = msgspec.field(default_factory=dict)
    tags: tuple[str, ...] = ()
    metadata: dict[str, str | int | float | bool] = msgspec.field(default_factory=dict)
    expires_at: datetime | None = None
    feedback: tuple[Feedback, ...] = ()


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
    recency_weight: float = 1.0
    relevance: float | None = None


class ExecutionSearch(Shape, frozen=True, tag_field="schema_version", tag="execution_search.v1"):
    """What a search of the memory found; ``degraded`` names what could not take part."""

    query: str
    mode: str
    hits: tuple[ExecutionHit, ...]
    degraded: tuple[Degradation, ...]
    withheld: int = 0
    """How many more were near, but below the least relevance."""


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
    relevance: float | None = None


class TaskSearch(Shape, frozen=True, tag_field="schema_version", tag="task_search.v1"):
    query: str
    hits: tuple[TaskHit, ...]
    degraded: tuple[Degradation, ...]
    withheld: int = 0


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


class EffectTrace(Shape, frozen=True, tag_field="schema_version", tag="effect_trace.v1"):
    """What an execution led to, nearest first."""

    execution_id: str
    effects: tuple[Cause, ...]


class Difference(Shape, frozen=True):
    """A value that runs of one outcome share: how many of those that worked and failed have it."""

    field: str
    value: str
    succeeded: int
    failed: int


class Lesson(Shape, frozen=True):
    execution_id: str
    lesson: str


class TaskGroup(Shape, frozen=True):
    """Runs of one task, newest first."""

    description: str
    headline: str
    relevance: float
    tried: int
    worked: int
    last_failure: Execution | None
    last_success: Execution | None
    differences: tuple[Difference, ...]
    documents: tuple[str, ...]
    lessons: tuple[Lesson, ...]
    executions: tuple[str, ...]


class Advice(Shape, frozen=True, tag_field="schema_version", tag="memory_advice.v1"):
    """What was tried before; ``text`` is the summary for a prompt, empty where nothing like it was done."""

    task: str
    text: str
    tokens: int
    groups: tuple[TaskGroup, ...]
    left_out: int
    withheld: int
    degraded: tuple[Degradation, ...]


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
    new: int = 0
    replaced: int = 0
    same: int = 0
    links: int = 0
    redacted: int = 0
    dry_run: bool = False


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
    """What an upkeep command did: ``pruned``, ``embedded``, ``deleted`` or ``linked`` so many records."""

    action: str
    executions: int
    dry_run: bool = False
    tasks: int = 0


MEMORY_SHAPES: tuple[type[Shape], ...] = (
    Advice,
    AgentRanking,
    CauseTrace,
    EffectTrace,
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


def execution(item: executions.Execution, *, embedding: bool = False) -> Execution:
    exact = None if isinstance(item.cost_cents, int) else item.cost_cents
    shaped = of(item, Execution, cost_cents=round(item.cost_cents), exact_cost_cents=exact)
    return shaped if embedding else msgspec.structs.replace(shaped, embedding=None)


def execution_list(items: Sequence[executions.Execution]) -> ExecutionList:
    return ExecutionList(executions=tuple(execution(item) for item in items))


def execution_search(query: str, mode: str, found: recalls.Recalled) -> ExecutionSearch:
    hits = tuple(
        of(hit, ExecutionHit, rank=rank, execution=execution(hit.execution))
        for rank, hit in enumerate(found.hits, start=1)
    )
    return ExecutionSearch(
        query=query, mode=mode, hits=hits, degraded=_degraded(found.degraded), withheld=found.withheld
    )


def task(item: executions.TaskRecord) -> Task:
    return msgspec.structs.replace(of(item, Task), embedding=None)


def task_search(query: str, found: recalls.RecalledTasks) -> TaskSearch:
    hits = tuple(
        of(hit, TaskHit, rank=rank, task=task(hit.task)) for rank, hit in enumerate(found.hits, start=1)
    )
    return TaskSearch(query=query, hits=hits, degraded=_degraded(found.degraded), withheld=found.withheld)


def learning_curve(curve: learning.LearningCurve) -> LearningCurve:
    days = tuple(
        of(day, Day, day=day.day.isoformat(), total_cost_cents=round(day.total_cost_cents))
        for day in curve.days
    )
    return of(curve, LearningCurve, days=days)


def agent_ranking(task_type: str | None, agents: Sequence[learning.AgentRank]) -> AgentRanking:
    return AgentRanking(task_type=task_type, agents=tuple(of(agent, AgentStanding) for agent in agents))


def cause_trace(execution_id: str, causes: Sequence[recalls.Cause]) -> CauseTrace:
    shaped = tuple(Cause(distance=item.distance, execution=execution(item.execution)) for item in causes)
    return CauseTrace(execution_id=execution_id, causes=shaped)


def helpful_documents(task_text: str, documents: Sequence[recalls.HelpfulDocument]) -> HelpfulDocuments:
    return HelpfulDocuments(task=task_text, documents=tuple(of(item, HelpfulDocument) for item in documents))


def effect_trace(execution_id: str, effects: Sequence[recalls.Cause]) -> EffectTrace:
    shaped = tuple(Cause(distance=item.distance, execution=execution(item.execution)) for item in effects)
    return EffectTrace(execution_id=execution_id, effects=shaped)


def memory_advice(found: advice.Advice) -> Advice:
    return of(found, Advice, groups=tuple(map(_group, found.groups)), degraded=_degraded(found.degraded))


def memory_import(report: recalls.ImportReport, *, dry_run: bool = False) -> MemoryImport:
    return of(report, MemoryImport, dry_run=dry_run)


def memory_stats(stats: recalls.MemoryStats) -> MemoryStats:
    return of(stats, MemoryStats, total_cost_cents=round(stats.total_cost_cents))


def _degraded(notes: Sequence[object]) -> tuple[Degradation, ...]:
    return tuple(of(note, Degradation) for note in notes)


def _group(group: advice.TaskGroup) -> TaskGroup:
    failed, done = group.last_failure, group.last_success
    return of(
        group,
        TaskGroup,
        last_failure=None if failed is None else execution(failed),
        last_success=None if done is None else execution(done),
        lessons=tuple(Lesson(execution_id=key, lesson=lesson) for key, lesson in group.lessons),
    )
