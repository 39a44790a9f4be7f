"""A configuration file as it is written, before anything in it is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kebab.config.locate import is_project_file
from kebab.errors import ConfigInvalid


def read_file(path: Path) -> dict[str, Any]:
    """What the file states; a project's file that names no folders means its own. Raises ConfigInvalid."""
    try:
        # Editors of Windows begin UTF-8 with a mark, which TOML does not know.
        return parsed(path.read_text(encoding="utf-8-sig"), path)
    except UnicodeDecodeError as error:
        raise ConfigInvalid(f"{path} is not UTF-8", hint="save it in that encoding") from error
    except OSError as error:
        raise ConfigInvalid(f"{path} cannot be read: {error.strerror}") from error


def parsed(text: str, path: Path) -> dict[str, Any]:
    """What a file of this text at this path states, like ``read_file``."""
    import tomllib

    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigInvalid(f"{path} is not valid TOML: {error}") from error
    return _with_project_defaults(values) if is_project_file(path) else values


def _with_project_defaults(stated: dict[str, Any]) -> dict[str, Any]:
    """What a project's file states, with the project's folder and ``.kebab/data`` where it names none.

    Without them an empty file in a clone would lead to the user's own notes and data.
    """
    values = dict(stated)
    if "sources" not in values:
        values["workspace"] = _with(values.get("workspace", {}), "root", "..")
    values["storage"] = _with(values.get("storage", {}), "data_dir", "data")
    return values


def _with(section: Any, key: str, default: str) -> Any:
    """The section with a default for one key; what is no section stays, to be refused by name."""
    if not isinstance(section, dict):
        return section
    return {**section, key: section.get(key) or default}
