"""ExecutionMemory: everything one can do with the memory, in one object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from kebab.domain.advice import Advice
from kebab.domain.executions import Execution, ExecutionFilters, Feedback, TaskRecord
from kebab.domain.learning import AgentRank, DailyAggregation, LearningCurve
from kebab.domain.recalls import Cause, HelpfulDocument, ImportReport, MemoryStats, Pruned
from kebab.errors import InvalidInput, RecordNotFound
from kebab.memory import advise, agents, curves, trace
from kebab.memory.life import Life
from kebab.memory.recall import NO_FILTERS, Recall
from kebab.memory.record import Recorder

if TYPE_CHECKING:
    from kebab.memory.transfer import Transfer

SIMILAR_RUNS = 50
"""How many similar runs are asked which documents they used."""


@dataclass(frozen=True, slots=True)
class ExecutionMemory(Recall):
    """What agents did: a Recall that also records, judges, counts, advises and walks the graph."""

    readonly: bool = False
    redact: bool = True

    @property
    def recorder(self) -> Recorder:
        return Recorder(self.store, self.executions, self.tasks, self.embedder, self.readonly, self.redact)

    @property
    def life(self) -> Life:
        return Life(self.recorder, self.store)

    def record(self, execution: Execution) -> Execution:
        """Store one execution, in place of the agent's own with the same id; returns it as stored.

        Raises Conflict where another agent's record has this id.
        """
        return self.recorder.record(execution)

    def record_many(self, executions: Iterable[Execution]) -> int:
        """Store executions in batches; returns how many different ones there were."""
        return self.recorder.record_many(executions)

    def record_task(self, task: TaskRecord) -> TaskRecord:
        return self.recorder.record_task(task)

    def get(self, key: str) -> Execution | TaskRecord:
        """Raises RecordNotFound."""
        return self.life.get(key)

    def update(self, key: str, changes: Mapping[str, Any]) -> Execution:
        """Set fields of an execution; returns it as it is now."""
        return self.life.update(key, changes)

    def feedback(self, key: str, given: Feedback, changes: Mapping[str, Any] | None = None) -> Execution:
        """Say how a run turned out later; its outcome and quality follow."""
        return self.life.judge(key, given, changes)

    def delete(self, ids: Sequence[str]) -> int:
        """Forget records; returns how many there were."""
        return self.life.delete(ids)

    def link(self, cause: str, effect: str) -> None:
        """State that one execution led to another. Raises RecordNotFound where there is no such execution.

        An import does not ask: it may bring a link before what it joins.
        """
        self.recorder.refuse_if_readonly("memory link")
        known = self.store.load([cause, effect])
        for key in (cause, effect):
            if key not in known:
                raise RecordNotFound(f"there is no execution {key}", details={"id": key})
        self.recorder.link(cause, effect)

    def embed_missing(self) -> int:
        """Give every record a vector of the configured model; returns how many lacked one."""
        return self.recorder.embed_missing()

    def executions_for_task_type(self, task_type: str, *, limit: int | None = 100) -> list[Execution]:
        """Newest first."""
        return self.store.select(ExecutionFilters(task_type=(task_type,)), limit=limit)

    def executions_of_agent(self, agent_id: str, *, limit: int | None = 100) -> list[Execution]:
        """Newest first."""
        return self.store.select(ExecutionFilters(agent=(agent_id,)), limit=limit)

    def select(
        self, filters: ExecutionFilters = NO_FILTERS, *, limit: int | None = 100, offset: int = 0
    ) -> list[Execution]:
        """Newest first."""
        return self.store.select(filters, limit=limit, offset=offset)

    def learning_curve(self, agent_id: str, task_type: str | None = None) -> LearningCurve:
        """The agent's days at one type of task, or at all of them, with the trend."""
        filters = ExecutionFilters(agent=(agent_id,), task_type=(task_type,) if task_type else ())
        retired = [
            day
            for day in self.store.retired()
            if day.agent_id == agent_id and task_type in (None, day.task_type)
        ]
        return curves.learning_curve(
            self.store.outcomes(filters), retired, agent_id=agent_id, task_type=task_type
        )

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

    def trace_effects(self, execution_id: str) -> list[Cause]:
        """What an execution led to, nearest first."""
        return trace.trace_effects(self.store, execution_id)

    def users_of(self, document: str) -> list[Execution]:
        """The executions that used a document, newest first."""
        found = self.store.load(self.store.users_of(document))
        return sorted(found.values(), key=lambda run: (-run.finished_at.timestamp(), run.id))

    def documents_of(self, execution_id: str) -> tuple[str, ...]:
        """The documents that an execution used, sorted."""
        return self.store.documents_of([execution_id])[execution_id]

    def advise(
        self,
        task: str,
        *,
        max_tokens: int = advise.MAX_TOKENS,
        filters: ExecutionFilters = NO_FILTERS,
        min_score: float | None = None,
    ) -> Advice:
        """What was tried before, what worked and what to do differently, within a token budget."""
        if self.analyzer is None:
            raise InvalidInput("advice needs an analyzer")
        found = self.hybrid_search(task, limit=advise.SIMILAR_RUNS, filters=filters, min_score=min_score)
        return advise.Adviser(self.analyzer).advise(task, found, max_tokens=max_tokens)

    def documents_that_helped(self, task: str, *, limit: int = 10) -> list[HelpfulDocument]:
        """Documents that runs of similar tasks used, best first."""
        hits = self.hybrid_search(task, limit=SIMILAR_RUNS).hits
        used = self.store.documents_of([hit.execution.id for hit in hits])
        return trace.helpful_documents(hits, used, limit=limit)

    def prune(self, *, older_than: timedelta, dry_run: bool = False) -> Pruned:
        """Retire records older than this, and what has expired; curves keep their days."""
        moment = self.clock()
        return self.life.prune(before=moment - older_than, moment=moment, dry_run=dry_run)

    def import_lines(self, lines: Iterable[str | bytes]) -> ImportReport:
        return self._transfer(self.recorder).import_lines(lines)

    def import_from(
        self, form: str, files: Iterable[Iterable[bytes]], *, dry_run: bool = False, redact: bool = True
    ) -> ImportReport:
        """Record what files hold: kebab (ndjson), claude-code and codex (session logs) or otel (spans)."""
        recorder = replace(self.recorder, redact=redact and self.redact)
        return self._transfer(recorder).import_files(form, files, dry_run=dry_run)

    def export_lines(self, *, vectors: bool = True) -> Iterator[str]:
        return self._transfer(self.recorder).export_lines(vectors=vectors)

    def _transfer(self, recorder: Recorder) -> Transfer:
        # Imported here: a search is over before all readers of logs are loaded.
        from kebab.memory.transfer import Transfer

        return Transfer(recorder, self.store)

    def stats(self) -> MemoryStats:
        return self.store.stats()

    def close(self) -> None:
        self.store.close()
