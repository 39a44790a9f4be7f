"""Where the configuration file and the data folder are looked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from kebab.errors import ConfigNotFound

PROJECT_FOLDER = ".kebab"
FILE_NAME = "config.toml"


def default_file(environ: Mapping[str, str] | None = None) -> Path:
    """Where ``kebab init`` writes and every command looks: XDG on every system."""
    environ = os.environ if environ is None else environ
    return _xdg(environ, "XDG_CONFIG_HOME", "~/.config") / "kebab" / FILE_NAME


def trusted_file(environ: Mapping[str, str]) -> Path:
    """Where the user's consents are kept: beside the user's own configuration."""
    return default_file(environ).with_name("trusted.json")


def default_data_dir(environ: Mapping[str, str]) -> Path:
    """Where the data lie when the file does not say: XDG on every system."""
    return _xdg(environ, "XDG_DATA_HOME", "~/.local/share") / "kebab"


def default_cache_dir(environ: Mapping[str, str]) -> Path:
    """Where what can be fetched again is kept: XDG on every system."""
    return _xdg(environ, "XDG_CACHE_HOME", "~/.cache") / "kebab"


def locate(explicit: Path | None, *, environ: Mapping[str, str], cwd: Path) -> Path | None:
    """The file to read: the named one, the project's, the user's, or None where there is none.

    Raises ConfigNotFound when the named one is absent.
    """
    if explicit is not None:
        path = Path(os.path.abspath(explicit.expanduser()))
        if not path.is_file():
            raise ConfigNotFound(
                f"there is no configuration file at {path}", hint="create one with: kebab init DIR"
            )
        return path
    found = project_file(cwd)
    if found is None and default_file(environ).is_file():
        found = default_file(environ)
    return found


def is_project_file(path: Path) -> bool:
    """Whether a file stands where projects have theirs."""
    return path.name == FILE_NAME and path.parent.name == PROJECT_FOLDER


def project_file(cwd: Path) -> Path | None:
    """The file of the project that the folder belongs to: its own, or that of the nearest folder above."""
    for folder in (cwd, *cwd.parents):
        candidate = folder / PROJECT_FOLDER / FILE_NAME
        if candidate.is_file() and (folder == cwd or _is_own(candidate)):
            return candidate
    return None


def _is_own(file: Path) -> bool:
    """Nobody else may lay a configuration over what is below a shared folder, such as /tmp."""
    return not hasattr(os, "getuid") or file.stat().st_uid == os.getuid()


def _xdg(environ: Mapping[str, str], name: str, fallback: str) -> Path:
    value = environ.get(name, "")
    return Path(value) if value.startswith("/") else Path(fallback).expanduser()
