"""Where the configuration file and the data folder are looked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from kebab.errors import ConfigNotFound


def default_file(environ: Mapping[str, str] | None = None) -> Path:
    """Where ``kebab init`` writes and every command looks: XDG on every system."""
    environ = os.environ if environ is None else environ
    return _xdg(environ, "XDG_CONFIG_HOME", "~/.config") / "kebab" / "config.toml"


def default_data_dir(environ: Mapping[str, str]) -> Path:
    """Where the data lie when the file does not say: XDG on every system."""
    return _xdg(environ, "XDG_DATA_HOME", "~/.local/share") / "kebab"


def locate(explicit: Path | None, *, environ: Mapping[str, str], cwd: Path) -> Path | None:
    """The file to read: the named one, the folder's own, the user's, or None where there is none.

    Raises ConfigNotFound when the named one is absent.
    """
    if explicit is not None:
        path = Path(os.path.abspath(explicit.expanduser()))
        if not path.is_file():
            raise ConfigNotFound(
                f"there is no configuration file at {path}", hint="create one with: kebab init DIR"
            )
        return path
    for candidate in (cwd / ".kebab" / "config.toml", default_file(environ)):
        if candidate.is_file():
            return candidate
    return None


def _xdg(environ: Mapping[str, str], name: str, fallback: str) -> Path:
    value = environ.get(name, "")
    return Path(value) if value.startswith("/") else Path(fallback).expanduser()
