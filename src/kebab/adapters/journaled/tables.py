"""The shelf's tables in SQLite, and what a line of the journal does to them.

The same statements fill the shelf and, in temporary tables of a reader, what the journal holds beyond it.
Wide columns stand apart from those that filters look at: a scan reads a tenth of the pages.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any
from zlib import crc32

from kebab.adapters.journaled.ops import Link, Op, Put, Remove, record_of
from kebab.domain.executions import Execution, TaskRecord
from kebab.domain.learning import RetiredDay
from kebab.ports import Analyzer, MemoryEntry, MemoryKind

LAYOUT = "shelf-4"

KIND = {MemoryKind.EXECUTIONS: 0, MemoryKind.TASKS: 1}
DAY_COLUMNS = (
    "agent_id", "task_type", "day", "runs", "successes", "quality", "latency_ms", "cost_cents", "total",
    "squares",
)  # fmt: skip

TABLES = {
    "records": "seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, id TEXT NOT NULL, agent_id TEXT, "
    "agent_role TEXT, task_type TEXT, provider TEXT, success INTEGER, quality REAL, latency_ms INTEGER, "
    "cost_cents REAL, started_at INTEGER, finished_at INTEGER, expires_at INTEGER, parent TEXT, model TEXT, "
    "dimensions INTEGER",
    "bodies": "seq INTEGER PRIMARY KEY, body BLOB NOT NULL, terms TEXT NOT NULL, checksum INTEGER NOT NULL",
    "vectors": "seq INTEGER PRIMARY KEY, vector BLOB NOT NULL",
    "labels": "seq INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL",
    "uses": "id TEXT NOT NULL, document TEXT NOT NULL, PRIMARY KEY (id, document)",
    "links": "cause TEXT NOT NULL, effect TEXT NOT NULL, PRIMARY KEY (cause, effect)",
    "days": "agent_id TEXT, task_type TEXT, day TEXT, runs INTEGER, successes INTEGER, quality REAL, "
    "latency_ms REAL, cost_cents REAL, total REAL, squares REAL, PRIMARY KEY (agent_id, task_type, day)",
}
INDEXES = """
CREATE UNIQUE INDEX records_by_id ON records (kind, id);
CREATE INDEX records_by_model ON records (kind, model, dimensions) WHERE model IS NOT NULL;
CREATE INDEX records_by_time ON records (kind, finished_at);
CREATE INDEX records_by_agent ON records (agent_id);
CREATE INDEX records_by_parent ON records (parent) WHERE parent IS NOT NULL;
CREATE INDEX records_by_expiry ON records (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX labels_by_value ON labels (name, value);
CREATE INDEX labels_by_seq ON labels (seq);
CREATE INDEX uses_by_document ON uses (document);
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE dead (seq INTEGER PRIMARY KEY);
CREATE TABLE model_counts (kind INTEGER, model TEXT, dimensions INTEGER, n INTEGER NOT NULL,
    PRIMARY KEY (kind, model, dimensions)) WITHOUT ROWID;
CREATE TRIGGER counted AFTER INSERT ON records WHEN new.dimensions IS NOT NULL BEGIN
    INSERT OR IGNORE INTO model_counts VALUES (new.kind, new.model, new.dimensions, 0);
    UPDATE model_counts SET n = n + 1
        WHERE kind = new.kind AND model = new.model AND dimensions = new.dimensions;
END;
CREATE TRIGGER uncounted AFTER DELETE ON records WHEN old.dimensions IS NOT NULL BEGIN
    UPDATE model_counts SET n = n - 1
        WHERE kind = old.kind AND model = old.model AND dimensions = old.dimensions;
END;
"""
"""``dead``: places of records that were replaced or removed; the settled indexes may still hold them.
``model_counts`` is kept by triggers: every search asks how many vectors there are of each model, and
counting them took longer than a search at 50,000 records."""

OVERLAY = """
CREATE TEMP TABLE touched (kind INTEGER, id TEXT, PRIMARY KEY (kind, id)) WITHOUT ROWID;
CREATE TEMP TABLE gone (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TEMP VIEW records AS SELECT * FROM t_records UNION ALL
    SELECT * FROM main.records WHERE NOT EXISTS (
        SELECT 1 FROM touched WHERE touched.kind = main.records.kind AND touched.id = main.records.id);
CREATE TEMP VIEW bodies AS SELECT * FROM t_bodies UNION ALL SELECT * FROM main.bodies;
CREATE TEMP VIEW vectors AS SELECT * FROM t_vectors UNION ALL SELECT * FROM main.vectors;
CREATE TEMP VIEW labels AS SELECT * FROM t_labels UNION ALL SELECT * FROM main.labels;
CREATE TEMP VIEW uses AS SELECT * FROM t_uses UNION ALL
    SELECT * FROM main.uses WHERE NOT EXISTS (
        SELECT 1 FROM touched WHERE kind = 0 AND touched.id = main.uses.id);
CREATE TEMP VIEW links AS SELECT * FROM t_links UNION
    SELECT * FROM main.links WHERE cause NOT IN gone AND effect NOT IN gone;
CREATE TEMP VIEW days AS SELECT agent_id, task_type, day, sum(runs) AS runs, sum(successes) AS successes,
    sum(quality) AS quality, sum(latency_ms) AS latency_ms, sum(cost_cents) AS cost_cents,
    sum(total) AS total, sum(squares) AS squares FROM (SELECT * FROM t_days UNION ALL SELECT * FROM main.days)
    GROUP BY agent_id, task_type, day;
CREATE TEMP VIEW model_counts AS SELECT kind, model, dimensions, sum(n) AS n FROM (
    SELECT kind, model, dimensions, n FROM main.model_counts
    UNION ALL SELECT kind, model, dimensions, 1 FROM t_records WHERE dimensions IS NOT NULL
    UNION ALL SELECT kind, model, dimensions, -1 FROM touched CROSS JOIN main.records USING (kind, id)
        WHERE dimensions IS NOT NULL) GROUP BY kind, model, dimensions HAVING sum(n) > 0;
CREATE TEMP VIEW dead AS SELECT seq FROM main.dead UNION
    SELECT seq FROM touched CROSS JOIN main.records USING (kind, id);
"""


# CROSS JOIN above: the few records that were touched are looked up in the shelf, not the other way round.
# Over the shelf each name is a union. A join of two unions reads all of both; a look-up in one does not.
WHOLE = (
    "SELECT records.*, (SELECT body FROM bodies WHERE bodies.seq = records.seq), "
    "(SELECT terms FROM bodies WHERE bodies.seq = records.seq), "
    "(SELECT checksum FROM bodies WHERE bodies.seq = records.seq), "
    "(SELECT vector FROM vectors WHERE vectors.seq = records.seq) FROM records"
)


def create(db: sqlite3.Connection) -> None:
    for name, columns in TABLES.items():
        db.execute(f"CREATE TABLE {name} ({columns})")
    db.executescript(INDEXES)


def create_overlay(db: sqlite3.Connection) -> None:
    """Temporary tables over the shelf: from now on its names mean both together."""
    for name, columns in TABLES.items():
        db.execute(f"CREATE TEMP TABLE t_{name} ({columns})")
    db.execute("CREATE UNIQUE INDEX temp.t_records_by_id ON t_records (kind, id)")
    db.executescript(OVERLAY)


def drop_overlay(db: sqlite3.Connection) -> None:
    for name in (*TABLES, "dead", "model_counts"):
        db.execute(f"DROP VIEW IF EXISTS temp.{name}")
    for name in (*(f"t_{each}" for each in TABLES), "touched", "gone"):
        db.execute(f"DROP TABLE IF EXISTS temp.{name}")


@dataclass(frozen=True, slots=True)
class Tables:
    """Writes either the shelf itself or, with ``overlay``, the temporary tables over it."""

    db: sqlite3.Connection
    analyzer: Analyzer
    overlay: bool = False

    @property
    def _of(self) -> str:
        return "temp.t_" if self.overlay else "main."

    def apply(self, op: Op, seq: int) -> None:
        """Do what the line that ends at ``seq`` says."""
        if isinstance(op, Put):
            self.put(record_of(op.kind, bytes(op.body), None, None), op, seq)
        elif isinstance(op, Remove):
            for key in op.ids:
                self.forget(op.kind, key)
                self._unlink(op.kind, key)
            for day in op.days:
                self.add_day(day)
        elif isinstance(op, Link):
            self.db.execute(f"INSERT OR IGNORE INTO {self._of}links VALUES (?, ?)", (op.cause, op.effect))

    def put(self, record: Execution | TaskRecord, op: Put, seq: int) -> None:
        """Take a record in the place of the one with its id."""
        self.forget(op.kind, record.id)
        entry = MemoryEntry.of(record)
        row = _columns(record, entry, op)
        marks = ", ".join("?" * (len(row) + 1))
        self.db.execute(f"INSERT INTO {self._of}records VALUES ({marks})", (seq, *row))
        # Over the shelf the terms wait until words are searched: most look-ups never ask for them.
        terms = "" if self.overlay else self.analyzer.index_text(entry.text)
        kept = (seq, bytes(op.body), terms, checksum(row, bytes(op.body), terms, op.vector))
        self.db.execute(f"INSERT INTO {self._of}bodies VALUES (?, ?, ?, ?)", kept)
        if op.vector is not None:
            self.db.execute(f"INSERT INTO {self._of}vectors VALUES (?, ?)", (seq, op.vector))
        labels = [(seq, name, value) for name, value in entry.labels]
        self.db.executemany(f"INSERT INTO {self._of}labels VALUES (?, ?, ?)", labels)
        if isinstance(record, Execution):
            uses = [(record.id, document) for document in record.documents_used]
            self.db.executemany(f"INSERT OR IGNORE INTO {self._of}uses VALUES (?, ?)", uses)

    def forget(self, kind: MemoryKind, key: str) -> None:
        named = (KIND[kind], key)
        if self.overlay:
            self.db.execute("INSERT OR IGNORE INTO touched VALUES (?, ?)", named)
        row = self.db.execute(
            f"SELECT seq FROM {self._of}records WHERE kind = ? AND id = ?", named
        ).fetchone()
        if kind is MemoryKind.EXECUTIONS:
            self.db.execute(f"DELETE FROM {self._of}uses WHERE id = ?", (key,))
        if row is None:
            return
        for table in ("records", "bodies", "vectors", "labels"):
            self.db.execute(f"DELETE FROM {self._of}{table} WHERE seq = ?", row)
        if not self.overlay:
            self.db.execute("INSERT OR IGNORE INTO dead VALUES (?)", row)

    def add_day(self, day: RetiredDay) -> None:
        row = (*astuple(day)[:2], day.day.isoformat(), *astuple(day)[3:])
        sums = ", ".join(f"{name} = {name} + excluded.{name}" for name in DAY_COLUMNS[3:])
        self.db.execute(
            f"INSERT INTO {self._of}days VALUES ({', '.join('?' * len(row))}) "
            f"ON CONFLICT (agent_id, task_type, day) DO UPDATE SET {sums}",
            row,
        )

    def _unlink(self, kind: MemoryKind, key: str) -> None:
        if kind is MemoryKind.EXECUTIONS:
            self.db.execute(f"DELETE FROM {self._of}links WHERE cause = ? OR effect = ?", (key, key))
            if self.overlay:
                self.db.execute("INSERT OR IGNORE INTO gone VALUES (?)", (key,))


def checksum(columns: Sequence[Any], body: bytes, terms: str, vector: bytes | None) -> int:
    """Of all that the shelf holds of a record: doctor compares it with what is there."""
    found = crc32(repr([_whole(value) for value in columns]).encode())
    for part in (body, terms.encode(), vector or b""):
        found = crc32(part, found)
    return found


def _whole(value: Any) -> Any:
    """SQLite gives numbers back as it likes to keep them."""
    if isinstance(value, bool):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _columns(record: Execution | TaskRecord, entry: MemoryEntry, op: Put) -> tuple[Any, ...]:
    run = record if isinstance(record, Execution) else None
    return (
        KIND[op.kind],
        entry.id,
        entry.agent_id,
        entry.agent_role,
        entry.task_type,
        entry.provider,
        entry.success,
        run.quality_score if run else None,
        run.latency_ms if run else None,
        entry.cost_cents,
        microseconds(run.started_at if run else entry.finished_at),
        microseconds(entry.finished_at),
        None if entry.expires_at is None else microseconds(entry.expires_at),
        run.parent if run else None,
        op.model,
        None if op.vector is None else len(op.vector) // 4,
    )


def microseconds(moment: datetime) -> int:
    """Since 1970, exact."""
    return round(moment.timestamp() * 1_000_000)
