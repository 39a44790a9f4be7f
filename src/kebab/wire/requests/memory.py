"""Requests to the execution memory. What is recorded is an ``execution.v1`` or a ``task.v1`` itself."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Annotated, Any

from msgspec import Meta, field

from kebab.domain.executions import Execution, ExecutionFilters
from kebab.domain.ids import digest
from kebab.domain.queries import utc_time
from kebab.domain.recalls import Prefer
from kebab.wire.requests import Count, Request, Values, checked_time, not_empty, several

Score = Annotated[float, Meta(ge=0, le=1)] | None
"""The least relevance; None for the calibrated default."""
Whole = Annotated[int, Meta(ge=-(1 << 53), le=(1 << 53))]
Real = Annotated[float, Meta(ge=-1e300, le=1e300)]
HalfLife = Annotated[float, Meta(gt=0, le=365_000)] | None
"""Days after which age has taken half of its weight; None where age does not weigh."""


class RunFilters(Request, frozen=True, kw_only=True):
    """Which runs count: AND across the keys, OR inside one."""

    agent: Values = ()
    role: Values = ()
    task_type: Values = ()
    provider: Values = ()
    success: bool | None = None
    after: str | None = None
    """Finished at this ISO 8601 time or later."""
    before: str | None = None
    """Finished earlier than this."""
    max_cost_cents: Annotated[int, Meta(ge=0, le=(1 << 53))] | None = None
    tag: Values = ()
    scope: dict[str, str] = field(default_factory=dict)
    """Each of project, user and session must be the run's own."""
    metadata: dict[str, str] = field(default_factory=dict)
    """Each must be the run's own, compared as text: 2 and true are written so."""

    def __post_init__(self) -> None:
        for name in ("after", "before"):
            if (text := getattr(self, name)) is not None:
                checked_time(name, text)

    @property
    def filters(self) -> ExecutionFilters:
        return ExecutionFilters(
            agent=several(self.agent),
            role=several(self.role),
            task_type=several(self.task_type),
            provider=several(self.provider),
            success=self.success,
            after=_moment(self.after),
            before=_moment(self.before),
            max_cost_cents=self.max_cost_cents,
            tag=several(self.tag),
            scope=self.scope,
            metadata=dict(self.metadata),
        )


class MemorySearchRequest(
    RunFilters, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_search_request.v1"
):
    """Runs like this one, by words and by meaning; with ``words``, by words alone."""

    text: str
    limit: Count = 10
    prefer: Prefer = Prefer.NOTHING
    words: bool = False
    min_score: Score = None
    half_life_days: HalfLife = None

    def __post_init__(self) -> None:
        super().__post_init__()
        not_empty("text", self.text)


class MemorySimilarRequest(
    RunFilters, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_similar_request.v1"
):
    """Runs that mean the same, by a text or by an embedding of the recorded runs' model."""

    text: str = ""
    embedding: tuple[float, ...] | None = None
    model: str | None = None
    limit: Count = 10
    prefer: Prefer = Prefer.NOTHING
    min_score: Score = None
    half_life_days: HalfLife = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.text.strip() and not self.embedding:
            raise ValueError("text and embedding are both empty")
        if not all(map(math.isfinite, self.embedding or ())):
            raise ValueError("embedding holds a number that is not finite")


class MemoryListRequest(
    RunFilters, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_list_request.v1"
):
    """Runs, newest first."""

    limit: Count = 10
    offset: Annotated[int, Meta(ge=0, le=1_000_000)] = 0


class MemoryTasksRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_tasks_request.v1"
):
    """Free-form task records, by words and by meaning."""

    text: str
    limit: Count = 10
    min_score: Score = None

    def __post_init__(self) -> None:
        not_empty("text", self.text)


class MemoryDocumentsRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_documents_request.v1"
):
    """Documents that helped with tasks like this one."""

    task: str
    limit: Count = 10

    def __post_init__(self) -> None:
        not_empty("task", self.task)


class MemoryAgentsRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_agents_request.v1"
):
    """Agents by what they achieve at the least; a run of ``half_life_days`` ago counts half."""

    task_type: str | None = None
    half_life_days: Annotated[float, Meta(gt=0, le=365_000)] = 30.0


class MemoryCurveRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_curve_request.v1"
):
    """An agent's days at one type of task, or at all of them."""

    agent: str
    task_type: str | None = None


class MemoryAdviseRequest(
    RunFilters, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_advise_request.v1"
):
    """What was tried before, what worked and what to do differently, within a token budget."""

    task: str
    max_tokens: Annotated[int, Meta(ge=20, le=100_000)] = 400
    min_score: Score = None

    def __post_init__(self) -> None:
        super().__post_init__()
        not_empty("task", self.task)


class MemoryGetRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_get_request.v1"
):
    """One record by its id."""

    id: str


class MemoryUpdateRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_update_request.v1"
):
    """Set fields of an execution, named as in ``execution.v1``; null clears what may be absent."""

    id: str
    changes: dict[str, Any]


class MemoryDeleteRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_delete_request.v1"
):
    """Forget records with their edges."""

    ids: Annotated[tuple[str, ...], Meta(min_length=1, max_length=1000)]


class MemoryFeedbackRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_feedback_request.v1"
):
    """How a run turned out later."""

    id: str
    success: bool | None = None
    quality_score: Annotated[float, Meta(ge=0, le=1)] | None = None
    note: str = ""
    by: str = ""


class MemoryRecordRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_record_request.v1"
):
    """A run to record, as an ``execution.v1`` with what can be left out left out.

    Without times it ended now; without ``task_id`` runs of the same description are of the same task.
    """

    task_description: str
    success: bool
    approach: str | None = None
    result: str | None = None
    lesson: str | None = None
    error: str | None = None
    task_type: str = "task"
    quality_score: Annotated[float, Meta(ge=0, le=1)] | None = None
    documents_used: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    scope: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str | bool | Whole | Real] = field(default_factory=dict)
    agent_id: str | None = None
    agent_role: str | None = None
    provider: str | None = None
    latency_ms: Annotated[int, Meta(ge=0, le=(1 << 53))] = 0
    cost_cents: Annotated[float, Meta(ge=0, le=(1 << 53))] = 0
    tokens: dict[str, Whole] = field(default_factory=dict)
    parent: str | None = None
    id: str | None = None
    task_id: str | None = None
    started_at: str | None = None
    finished_at: str | None = None

    def __post_init__(self) -> None:
        not_empty("task_description", self.task_description)
        for name in ("started_at", "finished_at"):
            if (text := getattr(self, name)) is not None:
                checked_time(name, text)

    def execution(self, *, by: str) -> Execution:
        """The run to record; ``by`` is the agent where the request names none. Raises InvalidInput."""
        from kebab.memory.shape import from_json

        given = {key: value for key, value in self.arguments.items() if value not in (None, (), {})}
        ended = self.finished_at or (None if self.started_at else datetime.now(UTC).isoformat())
        times = {"started_at": self.started_at or ended, "finished_at": ended}
        values = {
            "agent_id": by,
            "quality_score": float(self.success),
            "task_id": digest("task description", self.task_description),
            "latency_ms": self.latency_ms,
            **given,
            **{name: utc_time(moment) for name, moment in times.items() if moment is not None},
        }
        if self.started_at and self.finished_at and not self.latency_ms:
            del values["latency_ms"]
        lists = {name: list(value) for name, value in values.items() if isinstance(value, tuple)}
        record = from_json({**values, **lists})
        if not isinstance(record, Execution):
            raise TypeError("what is recorded is an execution")
        return record


class MemoryPruneRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_prune_request.v1"
):
    """Remove runs that finished longer ago than so many days."""

    older_than_days: Annotated[float, Meta(ge=0, le=365_000)]
    dry_run: bool = False


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(utc_time(text)) if text else None


MEMORY_REQUESTS = (
    MemoryAdviseRequest,
    MemoryAgentsRequest,
    MemoryCurveRequest,
    MemoryDeleteRequest,
    MemoryDocumentsRequest,
    MemoryFeedbackRequest,
    MemoryGetRequest,
    MemoryListRequest,
    MemoryPruneRequest,
    MemoryRecordRequest,
    MemorySearchRequest,
    MemorySimilarRequest,
    MemoryTasksRequest,
    MemoryUpdateRequest,
)
