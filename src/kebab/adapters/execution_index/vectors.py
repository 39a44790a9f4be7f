"""Nearest vectors by exact scan: SQLite keeps them, numpy compares them.

At fifty thousand records a scan takes a few milliseconds and is never wrong, and adding a vector costs
nothing but its bytes; a graph index costs far more to build than it saves.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kebab.adapters.execution_index.matrix import Matrix
from kebab.adapters.execution_words import microseconds
from kebab.adapters.sqlite.pool import ClosingConnection
from kebab.disk.private import ensure_file, make_folder
from kebab.domain.executions import ExecutionFilters
from kebab.domain.fusion import Ranked
from kebab.errors import Corrupt, EngineUnavailable
from kebab.ports import MemoryEntry, VectorSpace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spaces (
    space INTEGER PRIMARY KEY, model TEXT NOT NULL, dimensions INTEGER NOT NULL, UNIQUE (model, dimensions)
);
CREATE TABLE IF NOT EXISTS vectors (
    id TEXT PRIMARY KEY, space INTEGER NOT NULL REFERENCES spaces, agent_id TEXT NOT NULL, agent_role TEXT,
    task_type TEXT NOT NULL, provider TEXT NOT NULL, success INTEGER NOT NULL, cost_cents REAL NOT NULL,
    finished_at INTEGER NOT NULL, expires_at INTEGER, labels TEXT NOT NULL, vector BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS vectors_by_space ON vectors (space);
"""
_LISTS = {"agent": "agent_id", "role": "agent_role", "task_type": "task_type", "provider": "provider"}


class SqliteExecutionVectors:
    """The vectors of all models, each model apart; also keeps how far the whole index has come."""

    def __init__(self, file: Path) -> None:
        self._guard = threading.RLock()
        self._matrices: dict[VectorSpace, Matrix] = {}
        self._counts: dict[VectorSpace, int] | None = None
        self._seen: int | None = None
        make_folder(file.parent)
        ensure_file(file)
        self._db = self._guarded(lambda: self._open(file))

    def note(self, name: str) -> str | None:
        """A fact about the index that must survive, such as its position."""
        row = self._guarded(
            lambda: self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        )
        return None if row is None else str(row[0])

    def apply(self, entries: Sequence[MemoryEntry], *, removed: Sequence[str], notes: dict[str, str]) -> None:
        """Take the changes in and write the notes, in one transaction."""
        with self._guard:
            self._guarded(lambda: self._write(entries, removed, notes))

    def nearest(
        self, vector: Sequence[float], *, space: VectorSpace, filters: ExecutionFilters, limit: int
    ) -> list[Ranked]:
        with self._guard:
            matrix = self._guarded(lambda: self._matrix(space))
            if matrix is None:
                return []
            allowed = self._guarded(lambda: self._allowed(space, filters)) if filters else None
            return matrix.nearest(vector, limit=limit, allowed=allowed)

    def spaces(self) -> dict[VectorSpace, int]:
        with self._guard:
            return dict(self._guarded(self._counted))

    def close(self) -> None:
        self._db.close()

    def _counted(self) -> dict[VectorSpace, int]:
        self._forget_if_stale()
        if self._counts is None:
            rows = self._db.execute(
                "SELECT model, dimensions, count(*) FROM vectors JOIN spaces USING (space) GROUP BY space"
            )
            self._counts = {VectorSpace(model, dimensions): count for model, dimensions, count in rows}
        return self._counts

    def _open(self, file: Path) -> sqlite3.Connection:
        db = sqlite3.connect(
            file, timeout=10.0, check_same_thread=False, isolation_level=None, factory=ClosingConnection
        )
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.executescript(_SCHEMA)
        return db

    def _write(self, entries: Sequence[MemoryEntry], removed: Sequence[str], notes: dict[str, str]) -> None:
        self._forget_if_stale()
        placed = [
            (entry, space, unit(entry.embedding or ())) for entry in entries if (space := _space(entry))
        ]
        with _transaction(self._db) as db:
            gone = [(key,) for key in (*removed, *(entry.id for entry in entries))]
            db.executemany("DELETE FROM vectors WHERE id = ?", gone)
            db.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [self._row(entry, space, vector) for entry, space, vector in placed],
            )
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", notes.items())
        self._counts = None
        for matrix in self._matrices.values():
            matrix.forget(key for (key,) in gone)
        for entry, space, vector in placed:
            if space in self._matrices:
                self._matrices[space].put(entry.id, vector)

    def _row(self, entry: MemoryEntry, space: VectorSpace, vector: NDArray[np.float32]) -> tuple[object, ...]:
        return (
            entry.id,
            self._space_key(space),
            entry.agent_id,
            entry.agent_role,
            entry.task_type,
            entry.provider,
            entry.success,
            entry.cost_cents,
            microseconds(entry.finished_at),
            None if entry.expires_at is None else microseconds(entry.expires_at),
            json.dumps([f"{name}={value}" for name, value in entry.labels]),
            vector.tobytes(),
        )

    def _space_key(self, space: VectorSpace) -> int:
        named = (space.model, space.dimensions)
        self._db.execute("INSERT OR IGNORE INTO spaces (model, dimensions) VALUES (?, ?)", named)
        row = self._db.execute(
            "SELECT space FROM spaces WHERE model = ? AND dimensions = ?", named
        ).fetchone()
        return int(row[0])

    def _matrix(self, space: VectorSpace) -> Matrix | None:
        self._forget_if_stale()
        if space not in self._matrices:
            rows = self._db.execute(
                "SELECT id, vector FROM vectors JOIN spaces USING (space) WHERE model = ? AND dimensions = ?",
                (space.model, space.dimensions),
            ).fetchall()
            if not rows:
                return None
            self._matrices[space] = Matrix.of(rows, dimensions=space.dimensions)
        return self._matrices[space]

    def _forget_if_stale(self) -> None:
        """Another process wrote: what is held in memory is no longer what is stored."""
        seen = int(self._db.execute("PRAGMA data_version").fetchone()[0])
        if seen != self._seen:
            self._matrices.clear()
            self._counts = None
            self._seen = seen

    def _allowed(self, space: VectorSpace, filters: ExecutionFilters) -> list[str]:
        condition, values = _where(filters)
        rows = self._db.execute(
            "SELECT id FROM vectors JOIN spaces USING (space) "
            f"WHERE model = ? AND dimensions = ? AND {condition}",
            (space.model, space.dimensions, *values),
        )
        return [key for (key,) in rows]

    def _guarded(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except sqlite3.OperationalError as error:
            raise EngineUnavailable(f"the memory's index of vectors cannot be used: {error}") from error
        except sqlite3.DatabaseError as error:
            raise Corrupt(f"the memory's index of vectors is damaged: {error}") from error


def unit(embedding: Sequence[float]) -> NDArray[np.float32]:
    import numpy as np

    values = np.asarray(embedding, dtype=np.float32)
    return values / np.float32(np.linalg.norm(values) or 1.0)


def _space(entry: MemoryEntry) -> VectorSpace | None:
    if entry.embedding is None or entry.embedding_model is None:
        return None
    return VectorSpace(entry.embedding_model, len(entry.embedding))


def _where(filters: ExecutionFilters) -> tuple[str, list[object]]:
    parts: list[str] = []
    values: list[object] = []
    for name, column in _LISTS.items():
        if wanted := getattr(filters, name):
            parts.append(f"{column} IN ({', '.join('?' * len(wanted))})")
            values.extend(wanted)
    for name, allowed in filters.labels:
        marks = ", ".join("?" * len(allowed))
        parts.append(f"EXISTS (SELECT 1 FROM json_each(labels) WHERE value IN ({marks}))")
        values.extend(f"{name}={value}" for value in allowed)
    for condition, value in (
        ("success = ?", filters.success),
        ("finished_at >= ?", None if filters.after is None else microseconds(filters.after)),
        ("finished_at < ?", None if filters.before is None else microseconds(filters.before)),
        ("cost_cents <= ?", filters.max_cost_cents),
        (
            "(expires_at IS NULL OR expires_at > ?)",
            None if filters.valid_at is None else microseconds(filters.valid_at),
        ),
    ):
        if value is not None:
            parts.append(condition)
            values.append(value)
    return " AND ".join(parts), values


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """BEGIN IMMEDIATE … COMMIT, or ROLLBACK when something is raised inside."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
