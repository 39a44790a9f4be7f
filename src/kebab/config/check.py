"""Values as they were written, checked against the tables: an error names the key that is wrong."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec

from kebab.config.sections import File
from kebab.errors import ConfigInvalid


def checked(values: dict[str, Any], path: Path | None, variables: Collection[str]) -> File:
    """The values with their types; raises ConfigInvalid.

    ``path`` is where they were read and ``variables`` are the keys that the environment set, for the hint.
    """
    workspace = values.get("workspace")
    if "sources" in values and isinstance(workspace, dict) and "root" in workspace:
        raise ConfigInvalid(
            "workspace.root and [[sources]] are both set", hint="keep one of them: sources replace the root"
        )
    try:
        return msgspec.convert(_typed(values), File, strict=True)
    except msgspec.ValidationError as error:
        key = _key_of(error)
        raise ConfigInvalid(f"{key}: {_message_of(error)}", hint=_origin(key, path, variables)) from error


def _origin(key: str, path: Path | None, variables: Collection[str]) -> str:
    """Where a wrong value was set. A key of a whole section stands for those inside it."""
    for set_there in variables:
        if f"{set_there}.".startswith(f"{key}."):
            return f"the value comes from the environment: KEBAB_{set_there.replace('.', '__').upper()}"
    return f"the value stands in {path}" if path else "see: kebab init for an annotated file"


def _typed(values: dict[str, Any]) -> dict[str, Any]:
    """Give strings from the environment the type that their key asks for."""
    return {key: _typed_section(File, key, value) for key, value in values.items()}


def _typed_section(owner: type, key: str, value: object) -> object:
    field = next((f for f in msgspec.structs.fields(owner) if f.name == key), None)
    if field is None:
        return value
    if isinstance(value, dict) and isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
        return {k: _typed_section(field.type, k, v) for k, v in value.items()}
    if isinstance(value, str) and field.type is not str:
        if getattr(field.type, "__origin__", None) is tuple:
            return [part.strip() for part in value.split(",") if part.strip()]
        try:
            return msgspec.convert(value, field.type, strict=False)
        except msgspec.ValidationError:
            return value  # reported with its key by the strict pass
    return value


def _key_of(error: msgspec.ValidationError) -> str:
    found = re.search(r"at `\$\.?([^`]*)`", str(error))
    place = found[1] if found else ""
    if unknown := re.search(r"unknown field `([^`]+)`", str(error)):
        return f"{place}.{unknown[1]}" if place else unknown[1]
    return place or "configuration"


def _message_of(error: msgspec.ValidationError) -> str:
    if "unknown field" in str(error):
        return "there is no such setting"
    if names := re.search(r"matching regex '\^\(([a-z0-9_|]+)\)\$'", str(error)):
        return f"it must be one of {', '.join(names[1].split('|'))}"
    return re.sub(r" - at `[^`]*`", "", str(error))
