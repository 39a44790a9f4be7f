"""Reading the shelf through a connection: records, outcomes, counts and the graph."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from kebab.adapters.journaled.ops import record_of
from kebab.adapters.journaled.tables import DAY_COLUMNS, KIND, WHOLE, checksum, microseconds
from kebab.domain.executions import ExecutionFilters
from kebab.domain.learning import Outcome, RetiredDay
from kebab.domain.recalls import MemoryStats
from kebab.errors import Corrupt
from kebab.ports import MemoryKind

PAGE = 500
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LISTS = {"agent": "agent_id", "role": "agent_role", "task_type": "task_type", "provider": "provider"}


def where(filters: ExecutionFilters) -> tuple[str, list[object]]:
    """A condition on ``records`` (``true`` for no filter) and its values."""
    parts: list[str] = ["true"]
    values: list[object] = []
    for name, column in _LISTS.items():
        if wanted := getattr(filters, name):
            parts.append(f"{column} IN ({_marks(wanted)})")
            values.extend(wanted)
    for label, allowed in filters.labels:
        parts.append(f"seq IN (SELECT seq FROM labels WHERE name = ? AND value IN ({_marks(allowed)}))")
        values.extend((label, *allowed))
    for condition, value in (
        ("success = ?", filters.success),
        ("finished_at >= ?", _time(filters.after)),
        ("finished_at < ?", _time(filters.before)),
        ("cost_cents <= ?", filters.max_cost_cents),
        ("(expires_at IS NULL OR expires_at > ?)", _time(filters.valid_at)),
    ):
        if value is not None:
            parts.append(condition)
            values.append(value)
    return " AND ".join(parts), values


def load(db: sqlite3.Connection, kind: MemoryKind, ids: Sequence[str]) -> dict[str, Any]:
    """Those records that exist, by id."""
    found: dict[str, Any] = {}
    for start in range(0, len(ids), PAGE):
        part = ids[start : start + PAGE]
        rows = db.execute(f"{WHOLE} WHERE kind = ? AND id IN ({_marks(part)})", (KIND[kind], *part))
        found |= {record.id: record for record in map(decoded_row, rows)}
    return found


def select(
    db: sqlite3.Connection, filters: ExecutionFilters, *, limit: int | None, offset: int = 0
) -> list[Any]:
    """Executions, newest first, then by id."""
    condition, values = where(filters)
    rows = db.execute(
        f"{WHOLE} WHERE kind = 0 AND {condition} ORDER BY finished_at DESC, id LIMIT ? OFFSET ?",
        (*values, -1 if limit is None else limit, offset),
    )
    return [decoded_row(row) for row in rows]


def page(db: sqlite3.Connection, kind: MemoryKind, *, after: str | None) -> list[Any]:
    """The next records in order of id."""
    rows = db.execute(
        f"{WHOLE} WHERE kind = ? AND id > ? ORDER BY id LIMIT ?",
        (KIND[kind], "" if after is None else after, PAGE),
    )
    return [decoded_row(row) for row in rows]


def outcomes(db: sqlite3.Connection, filters: ExecutionFilters) -> list[Outcome]:
    condition, values = where(filters)
    rows = db.execute(
        "SELECT agent_id, task_type, success, quality, latency_ms, cost_cents, finished_at FROM records "
        f"WHERE kind = 0 AND {condition}",
        values,
    )
    return [_outcome(row) for row in rows]


def outdated(
    db: sqlite3.Connection, kind: MemoryKind, *, before: datetime, expired_at: datetime
) -> list[str]:
    rows = db.execute(
        "SELECT id FROM records WHERE kind = ? AND (finished_at < ? OR expires_at <= ?) ORDER BY id",
        (KIND[kind], microseconds(before), microseconds(expired_at)),
    )
    return [key for (key,) in rows]


def retired(db: sqlite3.Connection) -> list[RetiredDay]:
    rows = db.execute(f"SELECT {', '.join(DAY_COLUMNS)} FROM days ORDER BY agent_id, task_type, day")
    found = (dict(zip(DAY_COLUMNS, row, strict=True)) for row in rows)
    return [RetiredDay(**{**row, "day": date.fromisoformat(row["day"])}) for row in found]


def neighbours(db: sqlite3.Connection, ids: Sequence[str], *, way: str) -> dict[str, tuple[str, ...]]:
    """For each id, sorted: its ``causes``, its ``effects`` or its ``documents``."""
    statements = {
        "causes": "SELECT parent FROM records WHERE kind = 0 AND id = ? AND parent IS NOT NULL "
        "UNION SELECT cause FROM links WHERE effect = ?",
        "effects": "SELECT id FROM records WHERE kind = 0 AND parent = ? "
        "UNION SELECT effect FROM links WHERE cause = ?",
        "documents": "SELECT document FROM uses WHERE id = ? AND id = ?",
    }
    found = {key: db.execute(statements[way], (key, key)).fetchall() for key in ids}
    return {key: tuple(sorted(row[0] for row in rows)) for key, rows in found.items()}


def users_of(db: sqlite3.Connection, document: str) -> tuple[str, ...]:
    return tuple(
        key for (key,) in db.execute("SELECT id FROM uses WHERE document = ? ORDER BY id", (document,))
    )


def links(db: sqlite3.Connection) -> list[tuple[str, str]]:
    return [(cause, effect) for cause, effect in db.execute("SELECT cause, effect FROM links ORDER BY 1, 2")]


def stats(db: sqlite3.Connection) -> MemoryStats:
    row = db.execute(
        "SELECT count(*), coalesce(sum(success), 0), count(DISTINCT agent_id), count(DISTINCT task_type), "
        "count(DISTINCT provider), min(started_at), max(finished_at), coalesce(sum(cost_cents), 0) "
        "FROM records WHERE kind = 0"
    ).fetchone()
    models = db.execute(
        "SELECT model, count(*) FROM records WHERE kind = 0 AND model IS NOT NULL GROUP BY model"
    ).fetchall()
    return MemoryStats(
        executions=row[0],
        successes=row[1],
        tasks=db.execute("SELECT count(*) FROM records WHERE kind = 1").fetchone()[0],
        agents=row[2],
        task_types=row[3],
        providers=row[4],
        documents=db.execute("SELECT count(DISTINCT document) FROM uses").fetchone()[0],
        first_started_at=None if row[5] is None else moment(row[5]),
        last_finished_at=None if row[6] is None else moment(row[6]),
        total_cost_cents=row[7],
        models=dict(models),
    )


def decoded_row(row: Sequence[Any]) -> Any:
    """The record of a whole row. Raises Corrupt, naming it, where it is not what was written."""
    *columns, body, terms, stored, vector = row
    kind = list(MemoryKind)[columns[1]]
    if checksum(columns[1:], body, terms, vector) != stored:
        raise Corrupt(
            f"the shelf's copy of {columns[2]} is damaged",
            hint="build it again with: kebab doctor --repair",
            details={"id": columns[2]},
        )
    return record_of(kind, body, vector, columns[15])


def damaged(db: sqlite3.Connection) -> Iterator[str]:
    """The ids of rows that are not what was written, labels and documents included."""
    for row in db.execute(f"{WHOLE} ORDER BY seq").fetchall():
        try:
            record = decoded_row(row)
        except Corrupt:
            yield str(row[2])
            continue
        if row[1] == KIND[MemoryKind.EXECUTIONS] and not _labelled(db, row[0], record):
            yield record.id


def _labelled(db: sqlite3.Connection, seq: int, record: Any) -> bool:
    labels = db.execute("SELECT name, value FROM labels WHERE seq = ?", (seq,)).fetchall()
    uses = db.execute("SELECT document FROM uses WHERE id = ?", (record.id,)).fetchall()
    return sorted(labels) == sorted(record.labels) and sorted(uses) == sorted(
        (d,) for d in record.documents_used
    )


def moment(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)


def _outcome(row: Sequence[Any]) -> Outcome:
    agent_id, task_type, success, quality, latency, cost, finished = row
    return Outcome(
        agent_id=agent_id,
        task_type=task_type,
        success=bool(success),
        quality_score=quality,
        latency_ms=latency,
        cost_cents=cost,
        finished_at=moment(finished),
    )


def _time(moment: datetime | None) -> int | None:
    return None if moment is None else microseconds(moment)


def _marks(values: Iterable[object]) -> str:
    return ", ".join("?" for _ in values)
