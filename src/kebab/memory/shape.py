"""Records as plain JSON values and back: the form of import, export and every interface."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from datetime import datetime, timedelta
from typing import Any, TypeVar

from kebab.domain.executions import Execution, TaskRecord, execution_id, task_record_id
from kebab.errors import InvalidInput

EXECUTION_SCHEMA = "execution.v1"
TASK_SCHEMA = "task.v1"

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
}


def to_json(record: Execution | TaskRecord, *, embedding: bool = True) -> dict[str, Any]:
    """Every field by name, with ``schema_version``; without the vector if it is not wanted."""
    schema = EXECUTION_SCHEMA if isinstance(record, Execution) else TASK_SCHEMA
    shaped = {"schema_version": schema}
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name == "embedding" and not embedding:
            continue
        shaped[field.name] = _plain(value)
    return shaped


def from_json(values: Mapping[str, Any]) -> Execution | TaskRecord:
    """An execution, or a task record where ``schema_version`` says so. InvalidInput names a wrong field."""
    given = {name: value for name, value in values.items() if value is not None}
    schema = given.pop("schema_version", EXECUTION_SCHEMA)
    if "embedding" not in given:  # output for people and agents names the model but spares them the vector
        given.pop("embedding_model", None)
    if schema == EXECUTION_SCHEMA:
        return _built(_completed_execution(given), Execution)
    if schema == TASK_SCHEMA:
        return _built(_completed_task(given), TaskRecord)
    raise InvalidInput(f"schema_version {schema!r} is neither {EXECUTION_SCHEMA} nor {TASK_SCHEMA}")


def parse_line(line: str) -> Execution | TaskRecord:
    """One line of ndjson."""
    try:
        values = json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise InvalidInput("is not a JSON object")
    return from_json(values)


def _completed_execution(given: dict[str, Any]) -> dict[str, Any]:
    """Fill in what follows from the rest: the end or the duration from the other, the id from the run."""
    checked = _checked(given, Execution)
    start, end, latency = (checked.get(name) for name in ("started_at", "finished_at", "latency_ms"))
    if start is not None and end is None:
        checked["finished_at"] = end = start + timedelta(milliseconds=latency or 0)
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


def _checked(given: Mapping[str, Any], kind: type[Execution] | type[TaskRecord]) -> dict[str, Any]:
    types = {field.name: str(field.type) for field in fields(kind)}
    if unknown := [name for name in given if name not in types]:
        raise InvalidInput(f"{unknown[0]} is not a field of a record", details={"field": unknown[0]})
    return {name: _value(name, value, types[name]) for name, value in given.items()}


def _value(name: str, value: Any, declared: str) -> Any:
    wanted, told = _KINDS[declared]
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise InvalidInput(f"{name} must be {told}, not {value!r:.40}", details={"field": name})
    if declared == "datetime":
        return _moment(name, str(value))
    if isinstance(value, list):
        item: type | tuple[type, ...] = str if "str" in declared else (int, float)
        if not all(isinstance(part, item) and not isinstance(part, bool) for part in value):
            raise InvalidInput(f"{name} must be {told}", details={"field": name})
        return tuple(value)
    return value


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
    return list(value) if isinstance(value, tuple) else value
