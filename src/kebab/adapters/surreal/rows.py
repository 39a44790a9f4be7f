"""Records to rows and back. A row that does not fit the type raises and names the field; none is skipped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from typing import Any, TypeVar, get_type_hints

from kebab.adapters.packed import pack, unpack
from kebab.adapters.surreal.filters import label
from kebab.adapters.surreal.schema import INTERNAL_FIELDS
from kebab.domain.executions import Execution, Feedback, Scalar, TaskRecord
from kebab.errors import Corrupt, InvalidInput

Record = TypeVar("Record", bound=Execution | TaskRecord)
Row = dict[str, Any]

_SPARED = frozenset({"tags", "labels", "more_text", "feedback", "scope", "metadata", "tokens"})
"""Columns that an empty value leaves out."""


def to_row(record: Execution | TaskRecord) -> Row:
    """The fields of a record as the engine takes them; absent ones are left out, ``id`` stays a plain key."""
    row = {field.name: getattr(record, field.name) for field in fields(record)}
    if record.embedding is not None:
        row["embedding"] = pack(record.embedding)
    if isinstance(record, Execution):
        row |= {"documents_used": list(record.documents_used), "tags": list(record.tags)}
        row |= {"labels": [label(*each) for each in record.labels], "more_text": more_text(record)}
        row["feedback"] = [_feedback_row(each) for each in record.feedback]
        row |= {name: dict(getattr(record, name)) for name in ("scope", "metadata", "tokens")}
        row = {name: value for name, value in row.items() if value or name not in _SPARED}
    else:
        row["details"] = _with_nulls(dict(record.details))
    return {name: value for name, value in row.items() if value is not None}


def more_text(record: Execution) -> str:
    """What is searched beside the description."""
    return "\n".join(filter(None, (record.approach, record.error, record.lesson)))


def to_record(row: Mapping[str, Any], kind: type[Record]) -> Record:
    """Decode a row. Raises Corrupt that names the record and the field."""
    values = {name: value for name, value in row.items() if name not in INTERNAL_FIELDS and value is not None}
    values["id"] = key = str(row["id"].id)
    checks = _FIELDS[kind]
    if unknown := sorted(set(values) - set(checks)):
        raise _undecodable(kind, key, unknown[0], "is not a field of the type")
    for name, (check, required) in checks.items():
        if name in values:
            values[name] = _decoded(kind, key, name, values[name], check)
        elif required:
            raise _undecodable(kind, key, name, "is absent")
    try:
        return kind(**values)
    except InvalidInput as error:
        raise _undecodable(kind, key, str(error.details.get("field")), error.message) from error


def plain_datetime(moment: datetime) -> datetime:
    """The SDK's datetime carries nanoseconds; ours does not, and a subclass would not compare as a field."""
    return datetime(*moment.timetuple()[:6], moment.microsecond, tzinfo=UTC)


def _with_nulls(value: Any) -> Any:
    """The engine drops a field that is None; in free-form details it is a value like any other."""
    from surrealdb import Null

    if isinstance(value, dict):
        return {name: _with_nulls(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_nulls(item) for item in value]
    return Null if value is None else value


def _without_nulls(value: Any) -> Any:
    from surrealdb import Null

    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return None if value is Null else value


def _decoded(kind: type, key: str, name: str, value: Any, check: Callable[[Any], Any]) -> Any:
    try:
        return check(value)
    except (TypeError, ValueError) as error:
        raise _undecodable(kind, key, name, f"holds {value!r:.60}: {error}") from error


def _undecodable(kind: type, key: str, name: str, message: str) -> Corrupt:
    return Corrupt(
        f"the {kind.__name__} {key} of the memory does not decode: {name} {message}",
        hint="the store was written by something else than this version of kebab",
        details={"id": key, "field": name},
    )


def _exactly(kind: type) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if type(value) is not kind:
            raise TypeError(f"expected {kind.__name__}")
        return value

    return check


def _as_float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("expected a number")
    return float(value)


def _as_texts(value: Any) -> tuple[str, ...]:
    return tuple(_exactly(str)(item) for item in _exactly(list)(value))


def _as_datetime(value: Any) -> datetime:
    if not isinstance(value, datetime):
        raise TypeError("expected a time")
    return plain_datetime(value.astimezone(UTC))


def _feedback_row(given: Feedback) -> Row:
    row = {field.name: getattr(given, field.name) for field in fields(Feedback)}
    return {name: value for name, value in row.items() if value is not None}


def _as_feedback(value: Any) -> Feedback:
    return Feedback(**{**_exactly(dict)(value), "at": _as_datetime(value["at"])})


_CHECKS: dict[Any, Callable[[Any], Any]] = {
    str: _exactly(str),
    str | None: _exactly(str),
    bool: _exactly(bool),
    int: _exactly(int),
    float: _as_float,
    datetime: _as_datetime,
    tuple[str, ...]: _as_texts,
    tuple[float, ...] | None: lambda value: unpack(_exactly(bytes)(value)),
    datetime | None: _as_datetime,
    tuple[Feedback, ...]: lambda value: tuple(_as_feedback(item) for item in _exactly(list)(value)),
    Mapping[str, str]: _exactly(dict),
    Mapping[str, int]: _exactly(dict),
    Mapping[str, Scalar]: _exactly(dict),
    Mapping[str, object]: lambda value: _without_nulls(_exactly(dict)(value)),
}


def _checks(kind: type[Execution | TaskRecord]) -> dict[str, tuple[Callable[[Any], Any], bool]]:
    """Each field with its decoder and whether it must be there. A field of a new type fails here, loudly."""
    hints = get_type_hints(kind)
    return {
        field.name: (
            _CHECKS[hints[field.name]],
            field.default is MISSING and field.default_factory is MISSING,
        )
        for field in fields(kind)
    }


_FIELDS = {Execution: _checks(Execution), TaskRecord: _checks(TaskRecord)}
