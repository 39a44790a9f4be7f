"""Opening a file at a line in the user's editor."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from kebab.config.sections import Source

DEFAULT = "vi"
_COLON = {"hx", "helix", "subl", "zed"}
_GOTO = {"code", "code-insiders", "codium", "cursor"}
_WAITS = {"subl", "zed", "code", "code-insiders", "codium", "cursor"}


def editor_command(environ: Mapping[str, str], file: Path, line: int | None) -> list[str]:
    """The command that opens the file at the line, in the way each editor is told lines."""
    words = shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or DEFAULT) or [DEFAULT]
    name = Path(words[0]).name
    if name in _WAITS and not {"--wait", "-w"} & set(words):
        words = [*words, "--wait"]
    if line is None:
        return [*words, str(file)]
    if name in _GOTO:
        return [*words, "--goto", f"{file}:{line}"]
    if name in _COLON:
        return [*words, f"{file}:{line}"]
    return [*words, f"+{line}", str(file)]


def file_of(sources: tuple[Source, ...], source_id: str, path: str) -> Path | None:
    """The file behind a document; None where its source is no folder of the configuration, or it is gone."""
    for source in sources:
        if source.id == source_id:
            file = Path(source.root) / path
            return file if file.is_file() else None
    return None
