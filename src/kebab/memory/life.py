"""The life of a record after it was made: looked up, changed, judged later, removed, retired by age."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from kebab.domain.executions import Execution, Feedback, TaskRecord
from kebab.domain.learning import RetiredDay
from kebab.domain.recalls import Pruned
from kebab.errors import InvalidInput, RecordNotFound
from kebab.memory.record import Recorder, batches
from kebab.ports import ExecutionStore, MemoryKind

CHANGEABLE = frozenset(field.name for field in fields(Execution)) - {
    "id", "embedding", "embedding_model", "feedback",
}  # fmt: skip
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Life:
    recorder: Recorder
    store: ExecutionStore

    def get(self, key: str) -> Execution | TaskRecord:
        """Raises RecordNotFound."""
        found = self.store.load([key]).get(key) or self.store.load_tasks([key]).get(key)
        if found is None:
            raise RecordNotFound(f"there is no record {key}", details={"id": key})
        return found

    def update(self, key: str, changes: Mapping[str, Any]) -> Execution:
        """Set fields of an execution; returns it as it is now. Raises RecordNotFound and InvalidInput."""
        if unknown := sorted(set(changes) - CHANGEABLE):
            raise InvalidInput(f"{unknown[0]} cannot be changed", details={"field": unknown[0]})
        with self.store.writing():
            execution = self._execution(key)
            if "task_description" in changes and changes["task_description"] != execution.task_description:
                changes = {**changes, "embedding": None, "embedding_model": None}
            return self.recorder.replace(replace(execution, **changes))

    def judge(self, key: str, feedback: Feedback, changes: Mapping[str, Any] | None = None) -> Execution:
        """Add what is known of a run now: outcome and quality follow it, and the feedback is kept."""
        with self.store.writing():
            execution = self._execution(key)
            success = execution.success if feedback.success is None else feedback.success
            # A run that turned out to have failed is not worth what it was thought to be, nor the other way.
            quality = execution.quality_score if success == execution.success else float(success)
            changed = replace(
                execution,
                success=success,
                quality_score=quality if feedback.quality_score is None else feedback.quality_score,
                feedback=(*execution.feedback, feedback),
                **dict(changes or {}),
            )
            return self.recorder.replace(changed)

    def delete(self, ids: Sequence[str]) -> int:
        """Forget records with their edges; returns how many there were. Unknown ids are no error."""
        self.recorder.refuse_if_readonly("memory delete")
        with self.store.writing():
            runs, tasks = list(self.store.load(ids)), list(self.store.load_tasks(ids))
            if runs:
                self.store.remove(MemoryKind.EXECUTIONS, runs)
            if tasks:
                self.store.remove(MemoryKind.TASKS, tasks)
        return len(runs) + len(tasks)

    def prune(self, *, before: datetime, moment: datetime, dry_run: bool) -> Pruned:
        """Retire what finished before a time or has expired; the days of executions stay in the curves."""
        found = {kind: self.store.outdated(kind, before=before, expired_at=moment) for kind in MemoryKind}
        stats = self.store.stats()
        pruned = Pruned(
            executions=len(found[MemoryKind.EXECUTIONS]),
            tasks=len(found[MemoryKind.TASKS]),
            of_executions=stats.executions,
            of_tasks=stats.tasks,
        )
        if not dry_run:
            self.recorder.refuse_if_readonly("memory prune")
            for ids in batches(found[MemoryKind.EXECUTIONS], _BATCH):
                days = retired_days(self.store.load(ids).values())
                self.store.remove(MemoryKind.EXECUTIONS, ids, retired=days)
            for ids in batches(found[MemoryKind.TASKS], _BATCH):
                self.store.remove(MemoryKind.TASKS, ids)
        return pruned

    def _execution(self, key: str) -> Execution:
        found = self.get(key)
        if not isinstance(found, Execution):
            raise InvalidInput(f"{key} is a task record; record it again to change it", details={"id": key})
        return found


def retired_days(executions: Iterable[Execution]) -> list[RetiredDay]:
    """The sums that keep these runs in the learning curves, by agent, type and day."""
    groups: dict[tuple[str, str, str], list[Execution]] = {}
    for item in executions:
        groups.setdefault((item.agent_id, item.task_type, item.finished_at.date().isoformat()), []).append(
            item
        )
    return [_retired(runs) for _, runs in sorted(groups.items())]


def _retired(runs: Sequence[Execution]) -> RetiredDay:
    outcomes = [run.quality_score if run.success else 0.0 for run in runs]
    return RetiredDay(
        agent_id=runs[0].agent_id,
        task_type=runs[0].task_type,
        day=runs[0].finished_at.date(),
        runs=len(runs),
        successes=sum(run.success for run in runs),
        quality=sum(run.quality_score for run in runs),
        latency_ms=float(sum(run.latency_ms for run in runs)),
        cost_cents=float(sum(run.cost_cents for run in runs)),
        total=sum(outcomes),
        squares=sum(value * value for value in outcomes),
    )
