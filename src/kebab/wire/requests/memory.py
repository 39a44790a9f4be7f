"""Requests to the execution memory. What is recorded is an ``execution.v1`` or a ``task.v1`` itself."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Annotated

from msgspec import Meta

from kebab.domain.executions import ExecutionFilters, Prefer
from kebab.domain.queries import utc_time
from kebab.wire.requests import Count, Request, Values, checked_time, not_empty, several


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
        )


class MemorySearchRequest(
    RunFilters, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_search_request.v1"
):
    """Runs like this one, by words and by meaning; with ``words``, by words alone."""

    text: str
    limit: Count = 10
    prefer: Prefer = Prefer.NOTHING
    words: bool = False

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


class MemoryTasksRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_tasks_request.v1"
):
    """Free-form task records, by words and by meaning."""

    text: str
    limit: Count = 10

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


class MemoryPruneRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="memory_prune_request.v1"
):
    """Remove runs that finished longer ago than so many days."""

    older_than_days: Annotated[float, Meta(ge=0, le=365_000)]
    dry_run: bool = False


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(utc_time(text)) if text else None


MEMORY_REQUESTS = (
    MemoryAgentsRequest,
    MemoryCurveRequest,
    MemoryDocumentsRequest,
    MemoryListRequest,
    MemoryPruneRequest,
    MemorySearchRequest,
    MemorySimilarRequest,
    MemoryTasksRequest,
)
