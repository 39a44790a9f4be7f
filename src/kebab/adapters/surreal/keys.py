"""Record ids and edges. An edge's id is its two ends, so that stating it twice is stating it once."""

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


def edges_of(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The documents and the pairs of ends that these rows of executions imply."""
    used = [[row["id"], document] for row in rows for document in row.get("documents_used", ())]
    led_to = [[row["parent"], row["id"]] for row in rows if "parent" in row]
    return {"documents": sorted({document for _, document in used}), "used": used, "led_to": led_to}
