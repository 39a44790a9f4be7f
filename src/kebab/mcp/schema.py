"""JSON schemas of tools, short: a model reads all of them before it asks anything.

They are made from the request shapes. A key that takes one value or several is shown as a list, and one that
may be null is shown without null; the shorter forms are accepted all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import inspect

from kebab.wire.requests import Request
from kebab.wire.schemas import schema_name
from kebab.wire.shape import Shape

_LARGE = 1 << 20
"""Bounds beyond this say nothing to a model, nor do lower ones: nobody asks for a count below one."""


def input_schema(
    kind: type[Request], *, shown: Sequence[str], notes: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What a tool takes, as far as it is shown. Raises KeyError for a key that the request does not have."""
    known = {field.name: field for field in msgspec.structs.fields(kind)}
    properties = {name: _described(known[name], (notes or {}).get(name)) for name in shown}
    # Not "additionalProperties": other keys are accepted, and the server names one that it does not know.
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    required = [name for name in shown if known[name].required]
    return {**schema, "required": required} if required else schema


def output_schema(kind: type[Shape]) -> dict[str, Any]:
    """Names the wire schema of what a tool returns; the whole of it stands in docs/wire/v1."""
    return {"type": "object", "properties": {"schema_version": {"const": schema_name(kind)}}}


def _described(known: msgspec.structs.FieldInfo, note: str | None) -> dict[str, Any]:
    schema = _schema(inspect.type_info(known.type))
    if isinstance(known.default, int | str) and known.default not in ("", 0, False):
        schema["default"] = known.default
    if note:
        schema["description"] = note
    return schema


def _schema(kind: inspect.Type) -> dict[str, Any]:
    for shown, write in _WRITERS:
        if isinstance(kind, shown):
            return write(kind)
    return {}


def _union(kind: Any) -> dict[str, Any]:
    members = [member for member in kind.types if not isinstance(member, inspect.NoneType)]
    lists = [member for member in members if isinstance(member, inspect.VarTupleType)]
    if len(members) == 1 or lists:
        return _schema((lists or members)[0])
    return {}


def _number(name: str) -> Callable[[Any], dict[str, Any]]:
    def write(kind: Any) -> dict[str, Any]:
        top = kind.le if kind.le is not None and kind.le < _LARGE else None
        return {"type": name, "maximum": top} if top is not None else {"type": name}

    return write


def _string(kind: Any) -> dict[str, Any]:
    names = re.fullmatch(r"\^\(([a-z0-9_|]+)\)\$", kind.pattern or "")
    return {"enum": names[1].split("|")} if names else {"type": "string"}


_WRITERS: tuple[tuple[type, Callable[[Any], dict[str, Any]]], ...] = (
    (inspect.UnionType, _union),
    (inspect.BoolType, lambda kind: {"type": "boolean"}),
    (inspect.IntType, _number("integer")),
    (inspect.FloatType, _number("number")),
    (inspect.StrType, _string),
    (inspect.EnumType, lambda kind: {"enum": [member.value for member in kind.cls]}),
    (inspect.LiteralType, lambda kind: {"enum": list(kind.values)}),
    (inspect.VarTupleType, lambda kind: {"type": "array", "items": _schema(kind.item_type)}),
    (inspect.DictType, lambda kind: {"type": "object"}),
)
