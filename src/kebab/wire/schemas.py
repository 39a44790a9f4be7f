"""The JSON schemas of the shapes, generated so that documents and code cannot drift."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from kebab.wire.requests import Request

Shaped = type[msgspec.Struct]
"""A shape or a request."""


def schema_name(shape: Shaped) -> str:
    """``search_hit.v1`` for the shape that carries it."""
    return str(shape.__struct_config__.tag)


def schema_of(shape: Shaped) -> dict[str, Any]:
    """A self-contained JSON schema (draft 2020-12)."""
    (reference,), components = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    if issubclass(shape, Request):
        components[shape.__name__]["required"].remove("schema_version")  # nobody has to say what is obvious
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"kebab:{schema_name(shape)}",
        **reference,
        "$defs": dict(sorted(components.items())),
    }


class BrokenPromise(Exception):
    """A shape lost or changed something that readers of its committed schema rely on."""


def write_schemas(shapes: Iterable[Shaped], folder: Path) -> list[Path]:
    """Write one file a shape, ``search_hit.schema.json``; returns them in order.

    Raises BrokenPromise, and writes nothing, when a schema already there would change other than by addition.
    """
    texts = {folder / file_name(shape): _text(schema_of(shape)) for shape in shapes}
    broken = [problem for path, text in texts.items() for problem in _problems(path, text)]
    if broken:
        raise BrokenPromise("not an addition: " + "; ".join(broken))
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        path.write_bytes(text)
    return list(texts)


def file_name(shape: Shaped) -> str:
    return f"{schema_name(shape).removesuffix('.v1')}.schema.json"


def _text(schema: dict[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(schema), indent=2) + b"\n"


def _problems(path: Path, text: bytes) -> list[str]:
    if not path.exists():
        return []
    return broken_promises(msgspec.json.decode(path.read_bytes()), msgspec.json.decode(text))


def broken_promises(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """What a reader of the old schema could no longer rely on; empty when the change is additive.

    Additive is: a new optional key, a new definition, a key that becomes required in output, a new value
    only where the type stays open. A key that goes, becomes optional or changes its type breaks readers. Of a
    request it is those who write it that are broken, by a key that they must give now or a choice that goes.
    """
    found: list[str] = []
    asks = old.get("$id", "").endswith("_request.v1")
    definitions = new.get("$defs", {})
    for name, before in old.get("$defs", {}).items():
        if name not in definitions:
            found.append(f"{name} is gone")
            continue
        found += [f"{name}: {message}" for message in _broken(before, definitions[name], asks=asks)]
    return found


def _broken(before: dict[str, Any], after: dict[str, Any], *, asks: bool) -> list[str]:
    found = []
    for key, promised in before.get("properties", {}).items():
        now = after.get("properties", {}).get(key)
        if now is None:
            found.append(f"key {key!r} is gone")
        elif not (_accepts(_kind(promised), _kind(now)) if asks else _kind(now) == _kind(promised)):
            found.append(f"key {key!r} changed its type")
    needed, needed_now = set(before.get("required", ())), set(after.get("required", ()))
    if asks:
        return found + [f"key {key!r} must now be given" for key in sorted(needed_now - needed)]
    return found + [f"key {key!r} is no longer always there" for key in sorted(needed - needed_now)]


def _kind(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in ("description", "title", "default")}


def _accepts(promised: Any, now: Any) -> bool:
    """Whether a request takes all that it took; a list of choices, ``^(a|b)$``, may have got longer."""
    if isinstance(promised, dict) and isinstance(now, dict):
        return promised.keys() == now.keys() and all(_accepts(promised[key], now[key]) for key in promised)
    if isinstance(promised, list) and isinstance(now, list):
        return len(promised) == len(now) and all(map(_accepts, promised, now))
    return bool(promised == now or (_choices(promised) and _choices(promised) <= _choices(now)))


def _choices(pattern: Any) -> set[str]:
    plain = isinstance(pattern, str) and _CHOICES.fullmatch(pattern)
    return set(plain[1].split("|")) if plain else set()


_CHOICES = re.compile(r"\^\(([\w|]+)\)\$")
