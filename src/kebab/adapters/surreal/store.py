"""SurrealExecutionStore: records, edges and revisions, each write one transaction."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from datetime import date, datetime
from typing import Any, TypeVar

from kebab.adapters.surreal.connection import StatementFailed, SurrealConnection
from kebab.adapters.surreal.filters import where
from kebab.adapters.surreal.keys import edges_of, meta, record_key
from kebab.adapters.surreal.rows import Record, Row, plain_datetime, to_record, to_row
from kebab.adapters.surreal.statements import CHANGES, JOURNAL, LINK, OUTDATED, PRESENT, REMOVE, SAVE, STATS
from kebab.domain.executions import Execution, ExecutionFilters, TaskRecord
from kebab.domain.learning import Outcome, RetiredDay
from kebab.domain.recalls import MemoryStats
from kebab.errors import EngineUnavailable
from kebab.ports import Analyzer, MemoryChanges, MemoryEntry, MemoryKind, Saved

T = TypeVar("T")

TABLE = {MemoryKind.EXECUTIONS: "kg_executions", MemoryKind.TASKS: "rlm_executions"}
RECORD: dict[MemoryKind, type[Execution] | type[TaskRecord]] = {
    MemoryKind.EXECUTIONS: Execution,
    MemoryKind.TASKS: TaskRecord,
}

_MOVED = "kebab: revision moved"
_CONFLICT = ("revision moved", "conflict", "retried")
_ATTEMPTS = 20
_PAGE = 1000


class SurrealExecutionStore:
    """ExecutionStore on SurrealDB; see the port for the promises."""

    def __init__(self, connection: SurrealConnection, *, analyzer: Analyzer) -> None:
        self._connection = connection
        self._analyzer = analyzer
        self._guard = threading.RLock()

    def identity(self) -> str:
        return str(self._read("SELECT VALUE identity FROM ONLY kg_meta:store")[0])

    def save(self, executions: Sequence[Execution], *, journal: int | None = None) -> Saved:
        """``journal``: note in the same transaction how far the journal is in the store."""
        return self._save(MemoryKind.EXECUTIONS, executions, journal)

    def save_tasks(self, tasks: Sequence[TaskRecord], *, journal: int | None = None) -> Saved:
        return self._save(MemoryKind.TASKS, tasks, journal)

    def journal_position(self) -> int | None:
        """How far the journal of the folder is in the store; None before the first of it."""
        found = self._connection.query("SELECT VALUE journal FROM ONLY kg_meta:store")[0]
        return None if found is None else int(found)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keeps out other threads; another process is met by the revision, and the write is tried again."""
        with self._guard:
            yield

    def load(self, ids: Sequence[str]) -> dict[str, Execution]:
        return self._load(ids, MemoryKind.EXECUTIONS, Execution)

    def load_tasks(self, ids: Sequence[str]) -> dict[str, TaskRecord]:
        return self._load(ids, MemoryKind.TASKS, TaskRecord)

    def select(self, filters: ExecutionFilters, *, limit: int | None, offset: int = 0) -> list[Execution]:
        condition, values = where(filters)
        cut = f"{'' if limit is None else f'LIMIT {int(limit)}'} START {int(offset)}"
        statement = f"SELECT * FROM kg_executions WHERE {condition} ORDER BY finished_at DESC, id ASC {cut}"
        return [to_record(row, Execution) for row in self._read(statement, **values)[0]]

    def every(self) -> Iterator[Execution]:
        return self._every(MemoryKind.EXECUTIONS, Execution)

    def every_task(self) -> Iterator[TaskRecord]:
        return self._every(MemoryKind.TASKS, TaskRecord)

    def outcomes(self, filters: ExecutionFilters) -> list[Outcome]:
        condition, values = where(filters)
        rows = self._read(
            "SELECT VALUE [agent_id, task_type, success, quality_score, latency_ms, cost_cents, finished_at] "
            f"FROM kg_executions WHERE {condition}",
            **values,
        )[0]
        return [_outcome(row) for row in rows]

    def link(self, cause: str, effect: str, *, journal: int | None = None) -> None:
        self._connection.query(
            LINK.replace("<journal>", JOURNAL), cause=cause, effect=effect, journal=journal
        )

    def links(self) -> list[tuple[str, str]]:
        rows = self._read("SELECT VALUE record::id(id) FROM led_to WHERE origin = 'stated'")[0]
        return sorted((str(cause), str(effect)) for cause, effect in rows)

    def causes(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return self._neighbours(ids, "<-led_to.in")

    def effects(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return self._neighbours(ids, "->led_to.out")

    def documents_of(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return self._neighbours(ids, "->used.out")

    def users_of(self, document: str) -> tuple[str, ...]:
        found = self._read("RETURN $node<-used.in", node=record_key("kg_documents", document))[0]
        return tuple(sorted({str(item.id) for item in found or ()}))

    def outdated(self, kind: MemoryKind, *, before: datetime, expired_at: datetime) -> list[str]:
        return sorted(map(str, self._read(OUTDATED[TABLE[kind]], before=before, expired_at=expired_at)[0]))

    def remove(
        self,
        kind: MemoryKind,
        ids: Sequence[str],
        *,
        retired: Sequence[RetiredDay] = (),
        journal: int | None = None,
    ) -> None:
        days = [{**asdict(day), "key": list(day.key), "day": day.day.isoformat()} for day in retired]
        self._retried(lambda: self._remove(kind, list(ids), days, journal))

    def retired(self) -> list[RetiredDay]:
        found = [
            RetiredDay(**{field.name: row[field.name] for field in fields(RetiredDay)})
            for row in self._read("SELECT * FROM kg_days")[0]
        ]
        days = [replace(day, day=date.fromisoformat(str(day.day))) for day in found]
        return sorted(days, key=lambda day: day.key)

    def stats(self) -> MemoryStats:
        totals, tasks, agents, types, providers, documents, models = self._read(STATS)
        total = totals[0] if totals else {}
        empty = not total.get("executions")
        return MemoryStats(
            executions=total.get("executions", 0),
            successes=total.get("successes", 0),
            tasks=_count(tasks),
            agents=len(agents),
            task_types=len(types),
            providers=len(providers),
            documents=_count(documents),
            first_started_at=None if empty else plain_datetime(total["first"]),
            last_finished_at=None if empty else plain_datetime(total["last"]),
            total_cost_cents=total.get("cost", 0),
            models={row["embedding_model"]: row["n"] for row in models if row.get("embedding_model")},
        )

    def revision(self, kind: MemoryKind) -> int:
        return int(self._read("SELECT VALUE seq FROM ONLY $meta", meta=meta(kind))[0])

    def changes(self, kind: MemoryKind, *, after: int, limit: int) -> MemoryChanges:
        _, latest, rows, removed, _ = self._read(
            CHANGES.replace("<table>", TABLE[kind]), meta=meta(kind), after=after, limit=limit
        )
        upto = rows[-1]["seq"] if len(rows) == limit else int(latest)
        gone = [row for row in removed if row["seq"] <= upto and row["id"].id[0] == kind.value]
        return MemoryChanges(
            upto,
            tuple(MemoryEntry.of(to_record(row, RECORD[kind])) for row in rows),
            tuple(row["id"].id[1] for row in gone),
        )

    def close(self) -> None:
        self._connection.close()

    def _read(self, statements: str, **values: object) -> list[Any]:
        self._connection.require()
        return self._connection.query(statements, **values)

    def _load(self, ids: Sequence[str], kind: MemoryKind, record: type[Record]) -> dict[str, Record]:
        if not ids or not self._connection.exists():
            return {}
        keys = [record_key(TABLE[kind], item) for item in ids]
        found = [to_record(row, record) for row in self._read("SELECT * FROM $keys", keys=keys)[0]]
        return {item.id: item for item in found}

    def _every(self, kind: MemoryKind, record: type[Record]) -> Iterator[Record]:
        last = ""
        while True:
            rows = self._read(
                f"SELECT * FROM {TABLE[kind]} WHERE id > $last ORDER BY id LIMIT {_PAGE}",
                last=record_key(TABLE[kind], last),
            )[0]
            yield from (to_record(row, record) for row in rows)
            if len(rows) < _PAGE:
                return
            last = rows[-1]["id"].id

    def _neighbours(self, ids: Sequence[str], path: str) -> dict[str, tuple[str, ...]]:
        if not ids:
            return {}
        nodes = [record_key("kg_executions", item) for item in ids]
        found = self._read(f"RETURN $nodes.map(|$n| $n{path})", nodes=nodes)[0]
        return {
            item: tuple(sorted({str(node.id) for node in reached or ()}))
            for item, reached in zip(ids, found, strict=True)
        }

    def _save(
        self, kind: MemoryKind, records: Sequence[Execution] | Sequence[TaskRecord], journal: int | None
    ) -> Saved:
        unique = {record.id: record for record in records}
        rows = [self._row(record) for record in unique.values()]
        return self._retried(lambda: self._write(kind, rows, journal))

    def _row(self, record: Execution | TaskRecord) -> Row:
        row = to_row(record)
        text = record.searched_text
        if not text.isascii():
            row["task_terms"] = " ".join(term for term in self._analyzer.terms(text) if not term.isascii())
        return row

    def _write(self, kind: MemoryKind, rows: Sequence[Row], journal: int | None) -> Saved:
        table = TABLE[kind]
        keys = [row["id"] for row in rows]
        base, known = self._connection.query(PRESENT.replace("<table>", table), meta=meta(kind), keys=keys)
        numbered = [{**row, "seq": base + n} for n, row in enumerate(rows, start=1)]
        present = set(known)
        self._connection.query(
            SAVE.replace("<table>", table).replace("<journal>", JOURNAL),
            meta=meta(kind),
            base=base,
            moved=_MOVED,
            count=len(rows),
            replaced=[row for row in numbered if row["id"] in present],
            fresh=[row for row in numbered if row["id"] not in present],
            journal=journal,
            **edges_of(rows),
        )
        return Saved(base, base + len(rows))

    def _remove(self, kind: MemoryKind, keys: list[str], days: list[Row], journal: int | None) -> None:
        base = int(self._connection.query("SELECT VALUE seq FROM ONLY $meta", meta=meta(kind))[0])
        self._connection.query(
            REMOVE.replace("<table>", TABLE[kind]).replace("<journal>", JOURNAL),
            meta=meta(kind),
            base=base,
            moved=_MOVED,
            keys=keys,
            removed=[{"id": [kind.value, key], "seq": base + n} for n, key in enumerate(keys, start=1)],
            days=days,
            count=len(keys),
            journal=journal,
        )

    def _retried(self, attempt: Callable[[], T]) -> T:
        """Run a transaction again when another writer came first, which only a server allows."""
        for number in range(_ATTEMPTS):
            try:
                return attempt()
            except StatementFailed as error:
                if not any(word in error.reason.lower() for word in _CONFLICT):
                    raise
                time.sleep(0.01 * number)
        raise EngineUnavailable(
            f"the execution memory is too busy: {_ATTEMPTS} attempts to write met other writers",
            hint="try again; record_many writes many records in one go",
        )


def _outcome(row: Sequence[Any]) -> Outcome:
    agent_id, task_type, success, quality, latency, cost, finished = row
    return Outcome(
        agent_id=agent_id,
        task_type=task_type,
        success=success,
        quality_score=quality,
        latency_ms=latency,
        cost_cents=cost,
        finished_at=plain_datetime(finished),
    )


def _count(rows: Sequence[Row]) -> int:
    return int(rows[0]["count"]) if rows else 0
