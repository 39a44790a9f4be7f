"""Values as they were written, checked against the tables: an error names the key that is wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, Any, cast, get_args, get_origin

import msgspec

from kebab.config.sections import File
from kebab.errors import ConfigInvalid
from kebab.validation import Unfit, fitted


def checked(
    values: dict[str, Any], path: Path | None, variables: Collection[str], *, flags: Collection[str] = ()
) -> File:
    """The values with their types; raises ConfigInvalid.

    ``path`` is where they were read, ``variables`` and ``flags`` are the keys that the environment and the
    command line set, for the hint.
    """
    workspace = values.get("workspace")
    if "sources" in values and isinstance(workspace, dict) and "root" in workspace:
        raise ConfigInvalid(
            "workspace.root and [[sources]] are both set", hint="keep one of them: sources replace the root"
        )
    for key in _not_finite(values, ""):
        raise ConfigInvalid(f"{key}: it must be a finite number", hint=_origin(key, path, variables, flags))
    try:
        return fitted(values, File)
    except Unfit as unfit:
        key = unfit.key or "configuration"
        problem = f"there is no such setting{_meant(key)}" if unfit.unknown else unfit.problem
        if key == "sources":
            problem = "it must be a list of tables, each below a line [[sources]]"
        raise ConfigInvalid(f"{key}: {problem}", hint=_origin(key, path, variables, flags)) from unfit


def _meant(key: str) -> str:
    """A question for the setting whose key is nearly this one; empty where none is."""
    import difflib

    section, _, name = re.sub(r"\[\d+\]", "", key).rpartition(".")
    names = [field.name for field in msgspec.structs.fields(_section(section))]
    near = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {key[: -len(name)]}{near[0]}?" if near else ""


def _section(key: str) -> type[msgspec.Struct]:
    """The table that a dotted key names; the file itself for an empty one."""
    owner: Any = File
    for name in filter(None, key.split(".")):
        owner = next(field.type for field in msgspec.structs.fields(owner) if field.name == name)
        owner = get_args(owner)[0] if get_origin(owner) is tuple else owner
    return cast("type[msgspec.Struct]", owner)


def typed(key: str, text: str) -> object:
    """A text from the environment with the type that its dotted key asks for; a list is split at commas.

    A text that does not fit comes back as it is: checking the whole then names the key.
    """
    kind = _type_of(key)
    if kind is None or kind is str:
        return text
    if get_origin(_bare(kind)) is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        return msgspec.to_builtins(msgspec.convert(text, kind, strict=False))
    except msgspec.ValidationError:
        return text


def _type_of(key: str) -> Any:
    """What the tables say of a key; None for one that they do not know, or that is a section."""
    owner: Any = File
    for name in key.split("."):
        if not (isinstance(owner, type) and issubclass(owner, msgspec.Struct)):
            return None
        owner = next((field.type for field in msgspec.structs.fields(owner) if field.name == name), None)
    return None if isinstance(owner, type) and issubclass(owner, msgspec.Struct) else owner


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _not_finite(values: object, prefix: str) -> Iterator[str]:
    """The keys whose value is nan or inf, which TOML allows and no setting does."""
    if isinstance(values, dict):
        for name, value in values.items():
            yield from _not_finite(value, f"{prefix}.{name}" if prefix else name)
    elif isinstance(values, float) and not math.isfinite(values):
        yield prefix


def _origin(key: str, path: Path | None, variables: Collection[str], flags: Collection[str]) -> str:
    """Where a wrong value was set. A key of a whole section stands for those inside it."""
    if any(f"{set_there}.".startswith(f"{key}.") for set_there in flags):
        return "the value was given with the command"
    for set_there in variables:
        if f"{set_there}.".startswith(f"{key}."):
            return f"the value comes from the environment: KEBAB_{set_there.replace('.', '__').upper()}"
    return f"the value stands in {path}" if path else "see: kebab init for an annotated file"
