"""The outbox: what the derived indexes still have to do. Written in the transaction of the change itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from threading import Lock

from kebab.adapters.sqlite.connection import Database
from kebab.domain.ids import DocId
from kebab.ports import ModelKey, PendingChange

_CHUNKS_AT_ONCE = 8192

CHANGED = "changed"
REMOVED = "removed"


def moment(connection: sqlite3.Connection) -> tuple[int, int]:
    """Differs from another one if the documents do: a store made anew begins at another position."""
    found = connection.execute(
        "SELECT (SELECT value FROM counters WHERE name = 'revision'), "
        "(SELECT seq FROM sqlite_sequence WHERE name = 'outbox')"
    ).fetchone()
    return int(found[0]), int(found[1])


def vectors_topic(model: ModelKey) -> str:
    return f"vectors:{model.model_id}@{model.version}:{model.dimensions}"


def append(connection: sqlite3.Connection, doc_ids: Iterable[str], topic: str) -> None:
    rows = [(doc_id, topic) for doc_id in doc_ids]
    connection.executemany("INSERT INTO outbox (doc_id, topic) VALUES (?, ?)", rows)


def pending(
    connection: sqlite3.Connection, after: int, *, model: ModelKey | None, limit: int
) -> PendingChange | None:
    """The next `limit` entries, each document once, by what has become of it: a document that is not there
    any more is removed, whatever its entry said when it was written. Fewer of them where they are long."""
    rows = connection.execute(
        "SELECT o.seq, o.doc_id, d.doc_id IS NOT NULL, d.chunk_count "
        "FROM outbox o LEFT JOIN documents d USING (doc_id) "
        "WHERE o.seq > ? AND o.topic IN (?, ?, ?) ORDER BY o.seq LIMIT ?",
        (after, *_topics(model), limit),
    ).fetchall()
    if not rows:
        return None
    rows = rows[: _fitting([row[3] or 0 for row in rows])]
    present = {DocId(doc_id): bool(exists) for _, doc_id, exists, _ in rows}
    return PendingChange(
        upto=rows[-1][0],
        changed=tuple(doc_id for doc_id, exists in present.items() if exists),
        removed=tuple(doc_id for doc_id, exists in present.items() if not exists),
    )


def _fitting(chunks: Sequence[int]) -> int:
    """How many of the first entries may be taken together: whoever applies them holds all their chunks."""
    total = 0
    for taken, count in enumerate(chunks):
        total += count
        if total > _CHUNKS_AT_ONCE:
            return max(taken, 1)
    return len(chunks)


class Waiting:
    """What was found to wait behind a position, kept until the outbox changes: every search asks twice."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[object, int] = {}
        self._at: tuple[str, int, int] | None = None
        self._lock = Lock()

    def behind(
        self, connection: sqlite3.Connection, after: int, *, model: ModelKey | None, at_most: int | None
    ) -> int:
        """Like the function of this name. Only of what is committed anything is kept."""
        if not self._database.readonly:
            return behind(connection, after, model=model, at_most=at_most)
        at, asked = (self._database.identity, *_ends(connection)), (after, model, at_most)
        with self._lock:
            known = self._known.get(asked) if self._at == at else None
        if known is not None:
            return known
        found = behind(connection, after, model=model, at_most=at_most)
        with self._lock:
            if self._at != at:
                self._at, self._known = at, {}
            self._known[asked] = found
        return found


def _ends(connection: sqlite3.Connection) -> tuple[int, int]:
    """Up to where it was forgotten, and its newest entry: it changes at these ends only."""
    forgotten, newest = connection.execute(
        "SELECT (SELECT value FROM counters WHERE name = 'outbox_pruned'), "
        "(SELECT seq FROM sqlite_sequence WHERE name = 'outbox')"
    ).fetchone()
    return int(forgotten), int(newest)


def behind(connection: sqlite3.Connection, after: int, *, model: ModelKey | None, at_most: int | None) -> int:
    limit = -1 if at_most is None else at_most
    forgotten, newest, waiting = connection.execute(
        "SELECT (SELECT value FROM counters WHERE name = 'outbox_pruned'), "
        "(SELECT seq FROM sqlite_sequence WHERE name = 'outbox'), count(*) FROM "
        "(SELECT DISTINCT doc_id FROM outbox WHERE seq > ? AND topic IN (?, ?, ?) LIMIT ?)",
        (after, *_topics(model), limit),
    ).fetchone()
    if not forgotten <= after <= newest:  # beyond the newest: of a store that was put back, or lost its end
        query = "SELECT count(*) FROM (SELECT 1 FROM documents LIMIT ?)"
        return int(connection.execute(query, (limit,)).fetchone()[0])
    return int(waiting)


def latest(connection: sqlite3.Connection) -> int:
    found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'").fetchone()
    return int(found[0])


def pruned(connection: sqlite3.Connection) -> int:
    found = connection.execute("SELECT value FROM counters WHERE name = 'outbox_pruned'").fetchone()
    return int(found[0])


def prune(connection: sqlite3.Connection, upto: int) -> None:
    position = min(upto, latest(connection))
    connection.execute("UPDATE counters SET value = max(value, ?) WHERE name = 'outbox_pruned'", (position,))
    connection.execute("DELETE FROM outbox WHERE seq <= ?", (position,))


def _topics(model: ModelKey | None) -> tuple[str, str, str]:
    return CHANGED, REMOVED, vectors_topic(model) if model else CHANGED
