"""Stand-ins for the execution memory's ports; tests/contracts holds them to what the engines do."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from kebab.domain.executions import Execution, ExecutionFilters, TaskRecord
from kebab.domain.fusion import Ranked
from kebab.domain.learning import Outcome, RetiredDay
from kebab.domain.recalls import MemoryStats
from kebab.errors import EngineUnavailable
from kebab.ports import Frequencies, MemoryChanges, MemoryEntry, MemoryKind, Saved, VectorSpace
from tests.fakes import FakeAnalyzer

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def run(number: int, **changed: Any) -> Execution:
    """A run with every field set; ``changed`` replaces some."""
    values: dict[str, Any] = {
        "id": f"run-{number:05d}",
        "agent_id": f"agent-{number % 3}",
        "agent_role": "coder",
        "task_id": f"task-{number}",
        "task_type": "fix",
        "task_description": f"mend the thing number{number}",
        "success": number % 2 == 0,
        "error": None if number % 2 == 0 else "it broke",
        "quality_score": 0.5,
        "latency_ms": 1500,
        "cost_cents": number,
        "provider": "local",
        "started_at": NOON + timedelta(hours=number),
        "finished_at": NOON + timedelta(hours=number, seconds=1.5),
        "documents_used": (f"docs/{number}.md",),
        "parent": None,
        "embedding": (1.0, float(number), 0.5),
        "embedding_model": "toy@1",
    }
    return Execution(**(values | changed))


class FakeExecutionStore:
    """ExecutionStore in dicts."""

    def __init__(self) -> None:
        self._records: dict[MemoryKind, dict[str, tuple[int, Any]]] = {kind: {} for kind in MemoryKind}
        self._revisions = dict.fromkeys(MemoryKind, 0)
        self._removed: dict[tuple[MemoryKind, str], int] = {}
        self._retired: dict[tuple[str, str, str], RetiredDay] = {}
        self._stated: set[tuple[str, str]] = set()
        self.down = False

    def identity(self) -> str:
        return "fake"

    @contextmanager
    def writing(self) -> Iterator[None]:
        yield

    def save(self, executions: Sequence[Execution]) -> Saved:
        return self._save(MemoryKind.EXECUTIONS, executions)

    def save_tasks(self, tasks: Sequence[TaskRecord]) -> Saved:
        return self._save(MemoryKind.TASKS, tasks)

    def load(self, ids: Sequence[str]) -> dict[str, Execution]:
        return {key: self._executions[key] for key in ids if key in self._executions}

    def load_tasks(self, ids: Sequence[str]) -> dict[str, TaskRecord]:
        held = self._records[MemoryKind.TASKS]
        return {key: held[key][1] for key in ids if key in held}

    def select(self, filters: ExecutionFilters, *, limit: int | None, offset: int = 0) -> list[Execution]:
        found = [item for item in self._executions.values() if passes(MemoryEntry.of(item), filters)]
        found.sort(key=lambda item: (-item.finished_at.timestamp(), item.id))
        return found[offset:][:limit]

    def every(self) -> Iterator[Execution]:
        return iter([item for _, item in sorted(self._executions.items())])

    def every_task(self) -> Iterator[TaskRecord]:
        return iter([item for _, (_, item) in sorted(self._records[MemoryKind.TASKS].items())])

    def outcomes(self, filters: ExecutionFilters) -> list[Outcome]:
        names = Outcome.__dataclass_fields__
        return [
            Outcome(**{name: getattr(item, name) for name in names})
            for item in self.select(filters, limit=None)
        ]

    def link(self, cause: str, effect: str) -> None:
        self._stated.add((cause, effect))

    def causes(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return {key: tuple(sorted({a for a, b in self._edges() if b == key})) for key in ids}

    def effects(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return {key: tuple(sorted({b for a, b in self._edges() if a == key})) for key in ids}

    def documents_of(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        held = self._executions
        return {key: tuple(sorted(held[key].documents_used)) if key in held else () for key in ids}

    def users_of(self, document: str) -> tuple[str, ...]:
        return tuple(sorted(key for key, item in self._executions.items() if document in item.documents_used))

    def links(self) -> list[tuple[str, str]]:
        return sorted(self._stated)

    def outdated(self, kind: MemoryKind, *, before: datetime, expired_at: datetime) -> list[str]:
        entries = [MemoryEntry.of(item) for _, item in self._records[kind].values()]
        return sorted(
            entry.id
            for entry in entries
            if entry.finished_at < before or (entry.expires_at and entry.expires_at <= expired_at)
        )

    def remove(self, kind: MemoryKind, ids: Sequence[str], *, retired: Sequence[RetiredDay] = ()) -> None:
        for key in ids:
            self._records[kind].pop(key, None)
            self._revisions[kind] += 1
            self._removed[kind, key] = self._revisions[kind]
            if kind is MemoryKind.EXECUTIONS:
                self._stated = {edge for edge in self._stated if key not in edge}
        for day in retired:
            held = self._retired.get(day.key)
            self._retired[day.key] = day if held is None else added(held, day)

    def retired(self) -> list[RetiredDay]:
        return [day for _, day in sorted(self._retired.items())]

    def stats(self) -> MemoryStats:
        items = list(self._executions.values())
        return MemoryStats(
            executions=len(items),
            successes=sum(item.success for item in items),
            tasks=len(self._records[MemoryKind.TASKS]),
            agents=len({item.agent_id for item in items}),
            task_types=len({item.task_type for item in items}),
            providers=len({item.provider for item in items}),
            documents=len({document for item in items for document in item.documents_used}),
            first_started_at=min((item.started_at for item in items), default=None),
            last_finished_at=max((item.finished_at for item in items), default=None),
            total_cost_cents=sum(item.cost_cents for item in items),
            models=Counter(item.embedding_model for item in items if item.embedding_model),
        )

    def revision(self, kind: MemoryKind) -> int:
        if self.down:
            raise EngineUnavailable("the store is down")
        return self._revisions[kind]

    def changes(self, kind: MemoryKind, *, after: int, limit: int) -> MemoryChanges:
        newer = sorted((seq, key) for key, (seq, _) in self._records[kind].items() if seq > after)[:limit]
        upto = newer[-1][0] if len(newer) == limit else self._revisions[kind]
        return MemoryChanges(
            upto,
            tuple(MemoryEntry.of(self._records[kind][key][1]) for _, key in newer),
            tuple(key for (of, key), seq in self._removed.items() if of is kind and after < seq <= upto),
        )

    def close(self) -> None:
        return None

    @property
    def _executions(self) -> dict[str, Execution]:
        return {key: item for key, (_, item) in self._records[MemoryKind.EXECUTIONS].items()}

    def _save(self, kind: MemoryKind, records: Sequence[Any]) -> Saved:
        before = self._revisions[kind]
        for record in {item.id: item for item in records}.values():
            self._revisions[kind] += 1
            self._records[kind][record.id] = (self._revisions[kind], record)
        return Saved(before, self._revisions[kind])

    def _edges(self) -> set[tuple[str, str]]:
        parents = {(item.parent, key) for key, item in self._executions.items() if item.parent}
        return self._stated | parents


class FakeExecutionIndex:
    """ExecutionIndex in a dict; ``broken`` names what raises."""

    version = "fake-1"

    def __init__(self) -> None:
        self._entries: dict[str, MemoryEntry] = {}
        self._position = 0
        self._analyzer = FakeAnalyzer()
        self.broken: set[str] = set()
        self.limits: list[int] = []

    def position(self) -> int:
        return self._position

    def apply(self, changes: MemoryChanges) -> None:
        self._fail_if("apply")
        for key in changes.removed:
            self._entries.pop(key, None)
        self._entries |= {entry.id: entry for entry in changes.entries}
        self._position = changes.upto

    def words(self, text: str, *, filters: ExecutionFilters, limit: int) -> list[Ranked]:
        self._fail_if("words")
        self.limits.append(limit)
        wanted = self._analyzer.query_terms(text)
        bodies = {key: self._analyzer.terms(entry.text) for key, entry in self._entries.items()}
        scores = {key: _bm25(wanted, body, list(bodies.values())) for key, body in bodies.items()}
        hits = [
            Ranked(key, score)
            for key, score in scores.items()
            if score > 0 and passes(self._entries[key], filters)
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def nearest(
        self, vector: Sequence[float], *, space: VectorSpace, filters: ExecutionFilters, limit: int
    ) -> list[Ranked]:
        self._fail_if("nearest")
        self.limits.append(limit)
        hits = [
            Ranked(key, _cosine(vector, entry.embedding))
            for key, entry in self._entries.items()
            if entry.embedding is not None and _space(entry) == space and passes(entry, filters)
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def spaces(self) -> dict[VectorSpace, int]:
        return Counter(space for entry in self._entries.values() if (space := _space(entry)))

    def frequencies(self, terms: Collection[str]) -> Frequencies:
        bodies = [set(self._analyzer.terms(entry.text)) for entry in self._entries.values()]
        return Frequencies(len(bodies), {term: sum(term in body for body in bodies) for term in terms})

    def held(self, texts: Mapping[str, str], terms: Collection[str]) -> dict[str, set[str]]:
        return {key: set(self._analyzer.terms(text)) & set(terms) for key, text in texts.items()}

    def clear(self) -> None:
        self._entries.clear()
        self._position = 0

    def _fail_if(self, name: str) -> None:
        if name in self.broken:
            raise EngineUnavailable(f"{name} is broken")


def added(one: RetiredDay, other: RetiredDay) -> RetiredDay:
    names = ("runs", "successes", "quality", "latency_ms", "cost_cents", "total", "squares")
    return replace(one, **{name: getattr(one, name) + getattr(other, name) for name in names})


def passes(entry: MemoryEntry, filters: ExecutionFilters) -> bool:
    return (
        (not filters.agent or entry.agent_id in filters.agent)
        and (not filters.role or entry.agent_role in filters.role)
        and (not filters.task_type or entry.task_type in filters.task_type)
        and (not filters.provider or entry.provider in filters.provider)
        and (filters.success is None or entry.success == filters.success)
        and (filters.after is None or entry.finished_at >= filters.after)
        and (filters.before is None or entry.finished_at < filters.before)
        and (filters.max_cost_cents is None or entry.cost_cents <= filters.max_cost_cents)
        and all(any((name, value) in entry.labels for value in values) for name, values in filters.labels)
        and (not filters.valid_at or not entry.expires_at or entry.expires_at > filters.valid_at)
    )


def _space(entry: MemoryEntry) -> VectorSpace | None:
    if entry.embedding is None or entry.embedding_model is None:
        return None
    return VectorSpace(entry.embedding_model, len(entry.embedding))


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    return dot / (math.hypot(*one) * math.hypot(*other))


def _bm25(wanted: Sequence[str], body: Sequence[str], bodies: Sequence[Sequence[str]]) -> float:
    mean = sum(map(len, bodies)) / len(bodies) or 1.0
    score = 0.0
    for term in wanted:
        count = body.count(term)
        holders = sum(term in other for other in bodies)
        weight = math.log(1 + (len(bodies) - holders + 0.5) / (holders + 0.5))
        score += weight * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(body) / mean))
    return score
