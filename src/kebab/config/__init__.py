"""Settings: defaults < file < ``KEBAB_SECTION__KEY`` < flags, read once into one frozen value.

Unknown keys, wrong types and impossible combinations are errors that name the key. Relative paths are
relative to the file that states them. Configuration and data never share a folder.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kebab.config.check import checked
from kebab.config.locate import default_file, locate
from kebab.config.settings import Settings, settled
from kebab.errors import ConfigInvalid

__all__ = ["Settings", "default_file", "load"]


def load(
    explicit: Path | None = None,
    *,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Settings:
    """Read the settings once.

    ``overrides`` are flags by dotted key, such as ``{"search.default_k": 5}``. Raises ConfigNotFound when an
    explicit file is absent, ConfigInvalid for anything the file, the environment or a flag gets wrong.
    """
    environ = os.environ if environ is None else environ
    path = locate(explicit, environ=environ, cwd=cwd or Path.cwd())
    values = _read(path) if path else {}
    variables = _from_environment(environ)
    for key, value in variables.items():
        _set(values, key.split("."), value)
    for key, value in (overrides or {}).items():
        _set(values, key.split("."), value)
    base = path.parent if path else (cwd or Path.cwd())
    return settled(checked(values, path, variables), path, base=base, environ=environ)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"{path} is not valid TOML: {error}") from error
    except OSError as error:
        raise ConfigInvalid(f"{path} cannot be read: {error.strerror}") from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    """``KEBAB_SEARCH__DEFAULT_K=5`` → ``{"search.default_k": 5}``; a list is separated by commas."""
    found: dict[str, object] = {}
    for name, raw in sorted(environ.items()):
        if name.startswith("KEBAB_") and "__" in name:
            found[name.removeprefix("KEBAB_").lower().replace("__", ".")] = raw
    return found


def _set(values: dict[str, Any], keys: list[str], value: object) -> None:
    for key in keys[:-1]:
        values = values.setdefault(key, {})
        if not isinstance(values, dict):
            raise ConfigInvalid(f"{'.'.join(keys)}: {key} is not a section")
    values[keys[-1]] = value
