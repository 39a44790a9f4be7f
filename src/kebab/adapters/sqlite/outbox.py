"""The outbox: what the derived indexes still have to do. Written in the transaction of the change itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from kebab.domain.ids import DocId
from kebab.ports import ModelKey, PendingChange

_CHUNKS_AT_ONCE = 8192

CHANGED = "changed"
REMOVED = "removed"


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


def behind(connection: sqlite3.Connection, after: int, *, model: ModelKey | None, at_most: int | None) -> int:
    # Asked twice a search, so all in one.
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
