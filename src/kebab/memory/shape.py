"""Records as plain JSON values and back: the form of import, export and every interface."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import datetime, timedelta
from typing import Any, TypeVar

from kebab.domain.executions import Execution, Feedback, TaskRecord, execution_id, task_record_id
from kebab.errors import InvalidInput

EXECUTION_SCHEMA = "execution.v1"
TASK_SCHEMA = "task.v1"
LINK_SCHEMA = "link.v1"

Record = TypeVar("Record", Execution, TaskRecord)

_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "a string"),
    "str | None": (str, "a string"),
    "bool": (bool, "true or false"),
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "datetime": (str, "a time such as 2026-01-31T09:30:00Z"),
    "tuple[str, ...]": (list, "a list of strings"),
    "tuple[float, ...] | None": (list, "a list of numbers"),
    "Mapping[str, object]": (dict, "an object"),
    "Mapping[str, str]": (dict, "an object of strings"),
    "Mapping[str, int]": (dict, "an object of whole numbers"),
    "Mapping[str, Scalar]": (dict, "an object of texts, numbers and truth values"),
    "datetime | None": (str, "a time such as 2026-01-31T09:30:00Z"),
    "tuple[Feedback, ...]": (list, "a list of objects"),
    "bool | None": (bool, "true or false"),
    "float | None": ((int, float), "a number"),
}
_ITEMS: dict[str, type | tuple[type, ...]] = {
    "Mapping[str, str]": str,
    "Mapping[str, int]": int,
    "Mapping[str, Scalar]": (str, int, float, bool),
    "tuple[str, ...]": str,
    "tuple[float, ...] | None": (int, float),
    "tuple[Feedback, ...]": dict,
}
"""What the lists and objects may hold."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A line that states an edge: one execution led to another."""

    cause: str
    effect: str


def to_json(record: Execution | TaskRecord, *, embedding: bool = True) -> dict[str, Any]:
    """Every field by name, with ``schema_version``; without the vector if it is not wanted.

    ``cost_cents`` is whole, as it always was; a fraction stands beside it.
    """
    schema = EXECUTION_SCHEMA if isinstance(record, Execution) else TASK_SCHEMA
    shaped: dict[str, Any] = {"schema_version": schema}
    for field in fields(record):
        if field.name == "embedding" and not embedding:
            continue
        shaped[field.name] = _plain(getattr(record, field.name))
    if isinstance(record, Execution) and not isinstance(record.cost_cents, int):
        shaped |= {"cost_cents": round(record.cost_cents), "exact_cost_cents": record.cost_cents}
    return shaped


def link_to_json(cause: str, effect: str) -> dict[str, Any]:
    return {"schema_version": LINK_SCHEMA, "cause": cause, "effect": effect}


def changes_from_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of an execution to set, with their types; null clears what may be absent."""
    cleared = {name: None for name, value in values.items() if value is None}
    return _checked({name: value for name, value in values.items() if value is not None}, Execution) | cleared


def from_json(values: Mapping[str, Any]) -> Execution | TaskRecord | Linked:
    """An execution, or what else ``schema_version`` says. InvalidInput names a wrong field."""
    given = {name: value for name, value in values.items() if value is not None}
    schema = given.pop("schema_version", EXECUTION_SCHEMA)
    if "embedding" not in given:  # output for people and agents names the model but spares them the vector
        given.pop("embedding_model", None)
    if schema == EXECUTION_SCHEMA:
        return _built(_completed_execution(given), Execution)
    if schema == TASK_SCHEMA:
        return _built(_completed_task(given), TaskRecord)
    if schema == LINK_SCHEMA:
        return _linked(given)
    raise InvalidInput(
        f"schema_version {schema!r:.40} is neither {EXECUTION_SCHEMA} nor {TASK_SCHEMA} nor {LINK_SCHEMA}"
    )


def parse_line(line: str) -> Execution | TaskRecord | Linked:
    """One line of ndjson."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise InvalidInput("is not a JSON object")
    return from_json(values)


def _linked(given: Mapping[str, Any]) -> Linked:
    for name in ("cause", "effect"):
        if not isinstance(given.get(name), str) or not given[name].strip():
            raise InvalidInput(f"{name} must be an id", details={"field": name})
    return Linked(given["cause"], given["effect"])


def _completed_execution(given: dict[str, Any]) -> dict[str, Any]:
    """Fill in what follows from the rest: the end or the duration from the other, the id from the run."""
    if "exact_cost_cents" in given:
        given["cost_cents"] = given.pop("exact_cost_cents")
    checked = _checked(given, Execution)
    start, end, latency = (checked.get(name) for name in ("started_at", "finished_at", "latency_ms"))
    if start is not None and end is None:
        checked["finished_at"] = end = _after(start, latency or 0)
    if start is not None and end is not None and latency is None:
        checked["latency_ms"] = max(0, round((end - start) / timedelta(milliseconds=1)))
    if "id" not in checked and start is not None and {"agent_id", "task_id"} <= set(checked):
        checked["id"] = execution_id(
            agent_id=checked["agent_id"], task_id=checked["task_id"], started_at=start
        )
    return checked


def _completed_task(given: dict[str, Any]) -> dict[str, Any]:
    checked = _checked(given, TaskRecord)
    if "id" not in checked and {"description", "recorded_at"} <= set(checked):
        checked["id"] = task_record_id(checked["description"], recorded_at=checked["recorded_at"])
    return checked


def _built(values: dict[str, Any], kind: type[Record]) -> Record:
    required = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    if missing := [name for name in required if name not in values]:
        raise InvalidInput(f"{missing[0]} is missing", details={"field": missing[0]})
    return kind(**values)


def _checked(
    given: Mapping[str, Any], kind: type[Execution] | type[TaskRecord] | type[Feedback]
) -> dict[str, Any]:
    types = {field.name: str(field.type) for field in fields(kind)}
    if unknown := [name for name in given if name not in types]:
        raise InvalidInput(f"{unknown[0]} is not a field of a record", details={"field": unknown[0]})
    return {name: _value(name, value, types[name]) for name, value in given.items()}


def _value(name: str, value: Any, declared: str) -> Any:
    wanted, told = _KINDS[declared]
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise InvalidInput(f"{name} must be {told}, not {value!r:.40}", details={"field": name})
    if declared.startswith("datetime"):
        return _moment(name, str(value))
    if isinstance(value, list) and declared == "tuple[Feedback, ...]":
        return tuple(_feedback(item) for item in value)
    if declared in _ITEMS:
        _check_items(name, value, declared)
    return tuple(value) if isinstance(value, list) else value


def _check_items(name: str, value: Any, declared: str) -> None:
    allowed, told = _ITEMS[declared], _KINDS[declared][1]
    items: Iterable[Any] = value.values() if isinstance(value, dict) else value
    truths = declared == "Mapping[str, Scalar]"
    for item in items:
        if not isinstance(item, allowed) or (isinstance(item, bool) and not truths):
            raise InvalidInput(f"{name} must be {told}, not hold {item!r:.40}", details={"field": name})


def _feedback(value: Any) -> Feedback:
    if not isinstance(value, dict):
        raise InvalidInput("feedback must be a list of objects", details={"field": "feedback"})
    given = _checked({name: item for name, item in value.items() if item is not None}, Feedback)
    if "at" not in given:
        raise InvalidInput("feedback lacks its time, at", details={"field": "feedback"})
    return Feedback(**given)


def _after(start: datetime, latency_ms: int) -> datetime:
    try:
        return start + timedelta(milliseconds=latency_ms)
    except OverflowError as error:
        raise InvalidInput("latency_ms reaches beyond all times", details={"field": "latency_ms"}) from error


def _moment(name: str, value: str) -> datetime:
    try:
        return datetime.fromisoformat(value)
    except ValueError as error:
        raise InvalidInput(
            f"{name} must be {_KINDS['datetime'][1]}, not {value!r:.40}", details={"field": name}
        ) from error


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Feedback):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and value and isinstance(value[0], float):
        # Nine digits name every number of single precision; more would only be longer.
        return [float(f"{part:.9g}") for part in value]
    return [_plain(part) for part in value] if isinstance(value, tuple) else value
