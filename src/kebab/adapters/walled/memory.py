"""Runs inside walls."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime

from kebab.domain.executions import Execution, ExecutionFilters, TaskRecord
from kebab.domain.fusion import Ranked
from kebab.domain.learning import Outcome, RetiredDay
from kebab.domain.recalls import MemoryStats
from kebab.domain.walls import Walls
from kebab.errors import Conflict, OutsideWalls
from kebab.ports import (
    ExecutionIndex,
    ExecutionStore,
    Frequencies,
    MemoryEntry,
    MemoryKind,
    Saved,
    VectorSpace,
)


class WalledExecutionStore:
    """ExecutionStore of the runs of one scope. Task records have no scope, so none of them is inside."""

    def __init__(self, inner: ExecutionStore, walls: Walls) -> None:
        self._inner = inner
        self._walls = walls

    def writing(self) -> AbstractContextManager[None]:
        return self._inner.writing()

    def save(self, executions: Sequence[Execution]) -> Saved | None:
        """Raises OutsideWalls for a run of another scope, and Conflict where one outside has the id."""
        for run in executions:
            if not self._walls.holds(run):
                raise OutsideWalls(f"the run {run.id} belongs to another scope", hint=f"scope: {self._scope}")
        known = self._inner.load([run.id for run in executions])
        if taken := [key for key, run in known.items() if not self._walls.holds(run)]:
            raise Conflict(f"the id {taken[0]} is taken", hint="leave the id out, or choose another")
        return self._inner.save(executions)

    def save_tasks(self, tasks: Sequence[TaskRecord]) -> Saved | None:
        raise OutsideWalls("task records have no scope", hint="record a run instead")

    def load(self, ids: Sequence[str]) -> dict[str, Execution]:
        return {key: run for key, run in self._inner.load(ids).items() if self._walls.holds(run)}

    def load_tasks(self, ids: Sequence[str]) -> dict[str, TaskRecord]:
        return {}

    def select(self, filters: ExecutionFilters, *, limit: int | None, offset: int = 0) -> list[Execution]:
        inside = self._walls.narrowed(filters)
        return [] if inside is None else self._inner.select(inside, limit=limit, offset=offset)

    def every(self) -> Iterator[Execution]:
        return (run for run in self._inner.every() if self._walls.holds(run))

    def every_task(self) -> Iterator[TaskRecord]:
        return iter(())

    def outcomes(self, filters: ExecutionFilters) -> list[Outcome]:
        inside = self._walls.narrowed(filters)
        return [] if inside is None else self._inner.outcomes(inside)

    def link(self, cause: str, effect: str) -> None:
        if {cause, effect} - self.load([cause, effect]).keys():
            raise OutsideWalls("a run can only be linked to one of the same scope")
        self._inner.link(cause, effect)

    def links(self) -> list[tuple[str, str]]:
        pairs = self._inner.links()
        inside = self.load([key for pair in pairs for key in pair])
        return [pair for pair in pairs if pair[0] in inside and pair[1] in inside]

    def causes(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return self._linked(self._inner.causes(self._inside(ids)), ids)

    def effects(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return self._linked(self._inner.effects(self._inside(ids)), ids)

    def documents_of(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        found = self._inner.documents_of(self._inside(ids))
        return {key: found.get(key, ()) for key in ids}

    def users_of(self, document: str) -> tuple[str, ...]:
        return tuple(self._inside(self._inner.users_of(document)))

    def outdated(self, kind: MemoryKind, *, before: datetime, expired_at: datetime) -> list[str]:
        if kind is MemoryKind.TASKS:
            return []
        return self._inside(self._inner.outdated(kind, before=before, expired_at=expired_at))

    def remove(self, kind: MemoryKind, ids: Sequence[str], *, retired: Sequence[RetiredDay] = ()) -> None:
        if kind is MemoryKind.TASKS or len(self._inside(ids)) < len(set(ids)):
            raise OutsideWalls("a record of another scope cannot be removed")
        self._inner.remove(kind, ids, retired=retired)

    def retired(self) -> list[RetiredDay]:
        """None: what is left of removed runs does not say their scope."""
        return []

    def stats(self) -> MemoryStats:
        runs = self.select(ExecutionFilters(), limit=None)
        models = [run.embedding_model for run in runs if run.embedding_model]
        return MemoryStats(
            executions=len(runs),
            successes=sum(run.success for run in runs),
            tasks=0,
            agents=len({run.agent_id for run in runs}),
            task_types=len({run.task_type for run in runs}),
            providers=len({run.provider for run in runs}),
            documents=len({document for run in runs for document in run.documents_used}),
            first_started_at=min((run.started_at for run in runs), default=None),
            last_finished_at=max((run.finished_at for run in runs), default=None),
            total_cost_cents=sum(run.cost_cents for run in runs),
            models={model: models.count(model) for model in sorted(set(models))},
        )

    def close(self) -> None:
        self._inner.close()

    @property
    def _scope(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self._walls.scope.items())

    def _inside(self, ids: Sequence[str]) -> list[str]:
        kept = self.load(ids)
        return [key for key in dict.fromkeys(ids) if key in kept]

    def _linked(self, found: Mapping[str, tuple[str, ...]], ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        inside = self.load([key for keys in found.values() for key in keys])
        return {key: tuple(near for near in found.get(key, ()) if near in inside) for key in ids}


class WalledExecutionIndex:
    """ExecutionIndex of the runs of one scope; without a scope to filter by, as for task records, nothing."""

    def __init__(self, inner: ExecutionIndex, walls: Walls, *, kind: MemoryKind) -> None:
        self._inner = inner
        self._walls = walls
        self._kind = kind

    def refresh(self) -> str:
        return self._inner.refresh()

    def follow(self, saved: Saved | None, entries: Sequence[MemoryEntry]) -> None:
        self._inner.follow(saved, entries)

    def words(self, text: str, *, filters: ExecutionFilters, limit: int) -> list[Ranked]:
        inside = self._narrowed(filters)
        return [] if inside is None else self._inner.words(text, filters=inside, limit=limit)

    def nearest(
        self, vector: Sequence[float], *, space: VectorSpace, filters: ExecutionFilters, limit: int
    ) -> list[Ranked]:
        inside = self._narrowed(filters)
        return [] if inside is None else self._inner.nearest(vector, space=space, filters=inside, limit=limit)

    def spaces(self) -> dict[VectorSpace, int]:
        return self._inner.spaces()

    def frequencies(self, terms: Collection[str]) -> Frequencies:
        """Those of all runs: they weigh the words of a query and are shown to nobody."""
        return self._inner.frequencies(terms)

    def held(self, texts: Mapping[str, str], terms: Collection[str]) -> dict[str, set[str]]:
        return self._inner.held(texts, terms)

    def _narrowed(self, filters: ExecutionFilters) -> ExecutionFilters | None:
        return self._walls.narrowed(filters) if self._kind is MemoryKind.EXECUTIONS else None
