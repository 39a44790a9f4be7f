"""``kebab mcp --paste``: texts for elsewhere, with this machine's kebab in them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from xml.sax.saxutils import escape

TEXTS = {
    "skill": "skill.md",
    "agents": "agents.md",
    "systemd": "systemd.service",
    "launchd": "launchd.plist",
    "fzf": "fzf.sh",
}
"""By the names that ``--paste`` takes."""


_FOLDERS = {
    "systemd": "WorkingDirectory={}\n",
    "launchd": "  <key>WorkingDirectory</key>\n  <string>{}</string>\n",
}


def paste(name: str, *, program: Sequence[str], folder: Path | None = None) -> str:
    """The text; ``program`` starts this kebab, in ``folder`` where a project's own configuration is meant."""
    text = (files("kebab.cli.paste") / TEXTS[name]).read_text(encoding="utf-8")
    listed = "\n".join(f"    <string>{escape(part)}</string>" for part in program)
    place = _FOLDERS.get(name, "").format(escape(str(folder))) if folder else ""
    return (
        text.replace("@KEBAB@", shlex.join(program)).replace("@ARGUMENTS@", listed).replace("@FOLDER@", place)
    )
