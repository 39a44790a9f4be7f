"""How many texts there are and how many have a vector: kept by triggers, verified and mended here."""

from __future__ import annotations

import sqlite3

_CONTENTS = "SELECT count(DISTINCT content_key) FROM chunks"
_USED = (
    "SELECT count(*) FROM embeddings e WHERE e.model = embedding_models.id "
    "AND EXISTS (SELECT 1 FROM chunks c WHERE c.content_key = e.content_key)"
)


def missing(connection: sqlite3.Connection, model: int) -> int:
    """How many texts have no vector of the model with this row id; 0 is no model's."""
    found = connection.execute(
        "SELECT value - coalesce((SELECT used FROM embedding_models WHERE id = ?), 0) "
        "FROM counters WHERE name = 'contents'",
        (model,),
    ).fetchone()
    return int(found[0])


def faults(connection: sqlite3.Connection) -> list[str]:
    """Where the counts that are kept differ from what is there, in words."""
    row = connection.execute(f"SELECT value, ({_CONTENTS}) FROM counters WHERE name = 'contents'").fetchone()
    if row is None:
        return ["the number of texts is not kept"]
    kept, counted = row
    found = [f"{kept} texts are counted, {counted} are there"] if kept != counted else []
    for name, used, there in connection.execute(f"SELECT model_id, used, ({_USED}) FROM embedding_models"):
        if used != there:
            found.append(f"{used} vectors of {name} are counted, {there} are there")
    return found


def recount(connection: sqlite3.Connection) -> None:
    """Count everything anew. The connection is in a transaction."""
    connection.execute(f"UPDATE counters SET value = ({_CONTENTS}) WHERE name = 'contents'")
    connection.execute(f"UPDATE embedding_models SET used = ({_USED})")
