"""Record ids and edges. An edge's id is made of its two ends, so that stating it twice is stating it once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kebab.adapters.surreal.rows import Row
from kebab.ports import MemoryKind


def record_key(table: str, key: Any) -> Any:
    from surrealdb import RecordID

    return RecordID(table, key)


def meta(kind: MemoryKind) -> Any:
    return record_key("kg_meta", kind.value)


def edge(table: str, start: Any, end: Any) -> Row:
    return {"id": record_key(table, [start.id, end.id]), "in": start, "out": end}


def edges_of(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The document nodes and the edges that these rows of executions imply."""
    used = [
        edge("used", row["id"], record_key("kg_documents", document))
        for row in rows
        for document in row.get("documents_used", ())
    ]
    led_to = [
        {**edge("led_to", record_key("kg_executions", row["parent"]), row["id"]), "origin": "parent"}
        for row in rows
        if "parent" in row
    ]
    nodes = {link["out"].id: {"id": link["out"]} for link in used}
    return {"documents": list(nodes.values()), "used": used, "led_to": led_to}
