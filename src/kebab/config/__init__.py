"""Settings: defaults < file < ``KEBAB_SECTION__KEY`` < flags, read once into one frozen value.

Unknown keys, wrong types and impossible combinations are errors that name the key. Relative paths are
relative to the file that states them. Configuration and data never share a folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kebab.config import trust
from kebab.config.check import checked, typed
from kebab.config.locate import default_file, is_project_file, locate
from kebab.config.read import parsed, read_file
from kebab.config.settings import Settings, settled
from kebab.errors import ConfigInvalid

__all__ = ["Settings", "default_file", "defaults", "load", "require_sound"]


def load(
    explicit: Path | None = None,
    *,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Settings:
    """Read the settings once.

    ``overrides`` are flags by dotted key, such as ``{"search.default_k": 5}``. Raises ConfigNotFound when an
    explicit file is absent, ConfigInvalid for anything the file, the environment or a flag gets wrong, and
    for what a project's file may not set before ``kebab trust``. A file that is named is the user's own word.
    """
    environ = os.environ if environ is None else environ
    path = locate(explicit, environ=environ, cwd=cwd or Path.cwd())
    values = read_file(path) if path else {}
    if path and explicit is None and is_project_file(path):
        trust.require(path, values, environ=environ)
    variables = _from_environment(environ)
    _lay_over(values, variables)
    _lay_over(values, overrides or {})
    base = path.parent if path else (cwd or Path.cwd())
    file = checked(values, path, variables, flags=overrides or {})
    return settled(file, path, base=base, environ=environ)


def require_sound(text: str, path: Path) -> None:
    """Raise ConfigInvalid for what would be wrong with a file of this text at this path."""
    values = parsed(text, path)
    variables = _from_environment(os.environ)
    _lay_over(values, variables)
    settled(checked(values, path, variables), path, base=path.parent, environ=os.environ)


def defaults(*, root: Path, data_dir: Path) -> Settings:
    """The settings of somebody who has set nothing, whatever files and variables there are."""
    given = {"workspace": {"root": str(root)}, "storage": {"data_dir": str(data_dir)}}
    return settled(checked(given, None, ()), None, base=Path.cwd(), environ={})


def _lay_over(values: dict[str, Any], stronger: Mapping[str, object]) -> None:
    """Set the stronger keys. A root among them replaces the sources that weaker places state."""
    if "workspace.root" in stronger:
        values.pop("sources", None)
    for key, value in stronger.items():
        _set(values, key.split("."), value)


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    """``KEBAB_SEARCH__DEFAULT_K=5`` → ``{"search.default_k": 5}``; a list is separated by commas."""
    found: dict[str, object] = {}
    for name, raw in sorted(environ.items()):
        if name.startswith("KEBAB_") and "__" in name:
            key = name.removeprefix("KEBAB_").lower().replace("__", ".")
            found[key] = typed(key, raw)
    return found


def _set(values: dict[str, Any], keys: list[str], value: object) -> None:
    for key in keys[:-1]:
        values = values.setdefault(key, {})
        if not isinstance(values, dict):
            raise ConfigInvalid(f"{'.'.join(keys)}: {key} is not a section")
    values[keys[-1]] = value
