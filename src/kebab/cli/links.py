"""Addresses that open a file in an editor, at the line where an editor can be told."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

EDITORS = {
    "vscode": "vscode://file{path}:{line}",
    "cursor": "cursor://file{path}:{line}",
    "zed": "zed://file{path}:{line}",
    "obsidian": "obsidian://open?path={whole}",
}
"""By the names that ``screen.links`` takes; Obsidian cannot be told a line."""


def address(style: str, file: Path, *, line: int) -> str | None:
    """Where a hit leads; None where links are off. Unknown styles are templates with {path} and {line}."""
    if style == "none":
        return None
    if style in ("", "file"):
        return file.as_uri()
    path = file.as_posix()
    values = {
        "{path}": quote(path if path.startswith("/") else f"/{path}"),
        "{whole}": quote(path, safe=""),
        "{line}": str(max(1, line)),
    }
    made = EDITORS.get(style, style)
    for name, value in values.items():
        made = made.replace(name, value)
    return made
