"""ExecutionMemory: everything one can do with the memory, in one object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from kebab.domain.executions import (
    AgentRank,
    Cause,
    DailyAggregation,
    Execution,
    ExecutionFilters,
    HelpfulDocument,
    ImportReport,
    LearningCurve,
    MemoryStats,
    TaskRecord,
)
from kebab.errors import InvalidInput
from kebab.memory import agents, curves, trace
from kebab.memory.recall import Recall
from kebab.memory.record import Recorder
from kebab.memory.transfer import Transfer

SIMILAR_RUNS = 50
"""How many similar runs are asked which documents they used."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class ExecutionMemory(Recall):
    """What agents did: a Recall that also records, counts and walks the graph.

    Reading where nothing was ever recorded raises NotIndexed; a memory that is empty gives empty results.
    """

    readonly: bool = False
    clock: Callable[[], datetime] = field(default=_now)

    @property
    def recorder(self) -> Recorder:
        return Recorder(self.store, self.executions, self.tasks, self.embedder, self.readonly)

    def record(self, execution: Execution) -> Execution:
        """Store one execution, in place of one with the same id; returns it as stored."""
        return self.recorder.record(execution)

    def record_many(self, executions: Iterable[Execution]) -> int:
        """Store executions in batches; returns how many different ones there were."""
        return self.recorder.record_many(executions)

    def record_task(self, task: TaskRecord) -> TaskRecord:
        return self.recorder.record_task(task)

    def link(self, cause: str, effect: str) -> None:
        """State that one execution led to another."""
        self.recorder.link(cause, effect)

    def embed_missing(self) -> int:
        """Give every execution a vector of the configured model; returns how many lacked one."""
        return self.recorder.embed_missing()

    def executions_for_task_type(self, task_type: str, *, limit: int | None = 100) -> list[Execution]:
        """Newest first."""
        return self.store.select(ExecutionFilters(task_type=(task_type,)), limit=limit)

    def executions_of_agent(self, agent_id: str, *, limit: int | None = 100) -> list[Execution]:
        """Newest first."""
        return self.store.select(ExecutionFilters(agent=(agent_id,)), limit=limit)

    def select(self, filters: ExecutionFilters, *, limit: int | None = 100) -> list[Execution]:
        """Newest first."""
        return self.store.select(filters, limit=limit)

    def learning_curve(self, agent_id: str, task_type: str | None = None) -> LearningCurve:
        """The agent's days at one type of task, or at all of them, with the trend."""
        filters = ExecutionFilters(agent=(agent_id,), task_type=(task_type,) if task_type else ())
        return curves.learning_curve(self.store.outcomes(filters), agent_id=agent_id, task_type=task_type)

    def daily(self, filters: ExecutionFilters) -> list[DailyAggregation]:
        """Days by agent and type of task."""
        return curves.daily_aggregations(self.store.outcomes(filters))

    def rank_agents(
        self, task_type: str | None = None, *, half_life_days: float = agents.HALF_LIFE.days
    ) -> list[AgentRank]:
        """Who does this type of task best; see agents.rank_agents for what best means."""
        if not half_life_days > 0:
            raise InvalidInput(f"half_life_days is {half_life_days:g}; it must be positive")
        filters = ExecutionFilters(task_type=(task_type,) if task_type else ())
        half_life = timedelta(days=half_life_days)
        return agents.rank_agents(self.store.outcomes(filters), now=self.clock(), half_life=half_life)

    def trace_causes(self, execution_id: str) -> list[Cause]:
        """What led to an execution, nearest first."""
        return trace.trace_causes(self.store, execution_id)

    def documents_that_helped(self, task: str, *, limit: int = 10) -> list[HelpfulDocument]:
        """Documents that runs of similar tasks used, best first."""
        hits = self.hybrid_search(task, limit=SIMILAR_RUNS).hits
        used = self.store.documents_of([hit.execution.id for hit in hits])
        return trace.helpful_documents(hits, used, limit=limit)

    def prune(self, *, older_than: timedelta, dry_run: bool = False) -> int:
        """Remove executions that finished longer ago than this; returns how many."""
        return self.recorder.prune(before=self.clock() - older_than, dry_run=dry_run)

    def import_lines(self, lines: Iterable[str | bytes]) -> ImportReport:
        return Transfer(self.recorder, self.store).import_lines(lines)

    def export_lines(self) -> Iterator[str]:
        return Transfer(self.recorder, self.store).export_lines()

    def stats(self) -> MemoryStats:
        return self.store.stats()

    def close(self) -> None:
        self.store.close()
