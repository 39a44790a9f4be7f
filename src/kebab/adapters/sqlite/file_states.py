"""What is known of the files that documents were read from: of a source, of places in it, of one path."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from kebab.adapters.sqlite.rows import as_json, file_rows
from kebab.domain.ingests import FileState

_STATE = "SELECT f.path, f.size, f.mtime_ns, f.asset_id, f.doc_id, f.fingerprint"
_OF_SOURCE = f"{_STATE} FROM files f WHERE f.source_id = ?"
_NAMED = "FROM json_each(:under) j CROSS JOIN files f ON f.source_id = :source AND"
# What is below a path begins with it and a slash; the sign after the slash is 0.
_UNDER = (
    f"{_STATE} {_NAMED} f.path = j.value UNION "
    f"{_STATE} {_NAMED} f.path > j.value || '/' AND f.path < j.value || '0' ORDER BY 1"
)
_OF_PLACES = (
    "SELECT json_group_array(json_array("
    "f.source_id, f.path, f.size, f.mtime_ns, f.asset_id, f.doc_id, f.fingerprint)) "
    "FROM json_each(?) j CROSS JOIN files f ON f.source_id = json_extract(j.value, '$[0]') "
    "AND f.path = json_extract(j.value, '$[1]')"
)


def of_source(
    connection: sqlite3.Connection, source_id: str, under: Collection[str] = ()
) -> dict[str, FileState]:
    """By path, in its order; with ``under`` those of these paths and below them, and nothing else is read."""
    if not under:
        rows = connection.execute(_OF_SOURCE, (source_id,))
    else:
        rows = connection.execute(_UNDER, {"source": source_id, "under": as_json([*under])})
    return {row[0]: FileState(*row) for row in rows}


def of_path(connection: sqlite3.Connection, source_id: str, path: str) -> FileState | None:
    row = connection.execute(f"{_OF_SOURCE} AND f.path = ?", (source_id, path)).fetchone()
    return FileState(*row) if row else None


def of_places(
    connection: sqlite3.Connection, places: Collection[tuple[str, str]]
) -> dict[tuple[str, str], FileState]:
    found = connection.execute(_OF_PLACES, (as_json(list(places)),)).fetchone()
    return {(row[0], row[1]): FileState(*row[1:]) for row in file_rows(found[0])}
