"""Values from outside, given their types: what does not fit is told in words, with its key and its value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

S = TypeVar("S", bound=msgspec.Struct)

RULE = "rule"
"""The key of ``Meta(extra=…)`` with what a value must be, for patterns that nobody should have to read."""
SHOWN = 60
"""So much of a wrong value is repeated."""


class Unfit(Exception):
    """A value that does not fit. ``key`` is its dotted path, empty where no single key is wrong."""

    def __init__(self, key: str, problem: str, *, unknown: bool = False, value: str = "") -> None:
        super().__init__(f"{key}: {problem}" if key else problem)
        self.key = key
        self.problem = problem
        self.unknown = unknown
        """Whether there is no such key at all."""
        self.value = value
        """The value as written, shortened; empty where it does not matter."""


def fitted(values: Mapping[str, Any], kind: type[S]) -> S:
    """The values as a struct of this kind, no type bent to fit. Raises Unfit for the first that is wrong."""
    try:
        return msgspec.convert(values, kind, strict=True)
    except msgspec.ValidationError as error:
        raise _unfit(str(error), values, kind) from error


def shown(value: object) -> str:
    """A value in an error: as Python writes it, shortened."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a number of thousands of digits"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _unfit(message: str, values: Mapping[str, Any], kind: type[msgspec.Struct]) -> Unfit:
    place = re.search(r" - at `\$\.?([^`]*)`$", message)
    key = place[1] if place else ""
    if unknown := re.search(r"unknown field `([^`]*)`", message):
        return Unfit(f"{key}.{unknown[1]}" if key else unknown[1], "there is no such key", unknown=True)
    if missing := re.search(r"missing required field `([^`]*)`", message):
        return Unfit(f"{key}.{missing[1]}" if key else missing[1], "it is missing")
    if not re.match(r"(Expected|Invalid) ", message):
        return Unfit(key, message.removesuffix(place[0]) if place else message)  # what __post_init__ says
    steps = [int(number) if number else name for number, name in re.findall(r"\[(\d+)\]|([^.\[\]]+)", key)]
    return Unfit(key, f"it must be {_rule(_type_at(kind, steps))}", value=shown(_value_at(values, steps)))


def _value_at(values: Any, steps: Sequence[str | int]) -> object:
    for step in steps:
        values = values[step]
    return values


def _type_at(kind: type[msgspec.Struct], steps: Sequence[str | int]) -> Any:
    from msgspec import inspect

    if kind.__struct_config__.tag_field in steps:
        return inspect.LiteralType((kind.__struct_config__.tag,))  # it is no field of the struct
    found: Any = inspect.type_info(kind)
    for step in steps:
        members = found.types if isinstance(found, inspect.UnionType) else (found,)
        found = next((inner for member in members if (inner := _inside(member, step)) is not None), None)
    return found


def _inside(kind: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return getattr(kind, "item_type", None)
    return next((f.type for f in getattr(kind, "fields", ()) if f.encode_name == step), None)


def _rule(kind: Any) -> str:
    """What a value of this type must be, in words: those of the type itself, where it has some."""
    from msgspec import inspect

    if isinstance(kind, inspect.Metadata):
        return str((kind.extra or {}).get(RULE) or _rule(kind.type))
    if isinstance(kind, inspect.UnionType):
        return " or ".join(_rule(member) for member in kind.types if not isinstance(member, inspect.NoneType))
    rules: dict[type, Callable[[Any], str]] = {
        inspect.IntType: lambda kind: "a whole number" + _bounds(kind),
        inspect.FloatType: lambda kind: "a number" + _bounds(kind),
        inspect.BoolType: lambda kind: "true or false",
        inspect.StrType: _text_rule,
        inspect.EnumType: lambda kind: "one of " + ", ".join(member.value for member in kind.cls),
        inspect.LiteralType: lambda kind: "one of " + ", ".join(map(str, kind.values)),
        inspect.StructType: lambda kind: "a table of keys",
    }
    listed = lambda kind: f"a list, each item {_rule(kind.item_type)}"  # noqa: E731 - one of many
    return rules.get(type(kind), listed if hasattr(kind, "item_type") else lambda kind: "of another type")(
        kind
    )


def _bounds(kind: Any) -> str:
    if kind.ge is not None and kind.le is not None:
        return f" between {kind.ge:g} and {kind.le:g}" if kind.le < 1e6 else f" of at least {kind.ge:g}"
    if kind.ge is not None:
        return f" of at least {kind.ge:g}"
    return f" above {kind.gt:g}" if kind.gt is not None else ""


def _text_rule(kind: Any) -> str:
    if kind.pattern and (names := re.fullmatch(r"\^\(([a-z0-9_|]+)\)\$", kind.pattern)):
        return "one of " + ", ".join(names[1].split("|"))
    return f"a text of the form {kind.pattern}" if kind.pattern else "a text"
