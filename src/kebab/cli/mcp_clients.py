"""The MCP clients that kebab can be set up for: where each keeps its servers, and how it writes one."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kebab.errors import InvalidInput

NAME = "kebab"
"""What the server is called in a client."""


@dataclass(frozen=True, slots=True)
class Client:
    """``merged`` takes the text of the client's file, empty where there is none, and adds the server."""

    title: str
    place: Callable[[Path, Path, Mapping[str, str]], Path]
    """The file, given the current folder, the home folder and the environment."""
    written: Callable[[Sequence[str]], str]
    """What to paste for a command."""
    merged: Callable[[str, Sequence[str], bool], str]


def json_client(title: str, key: str, place: Callable[..., Path], **extra: Any) -> Client:
    """A client that keeps a JSON object of servers under a key."""

    def entry(command: Sequence[str]) -> dict[str, Any]:
        return {**extra, "command": command[0], "args": list(command[1:])}

    def written(command: Sequence[str]) -> str:
        return json.dumps({key: {NAME: entry(command)}}, indent=2, ensure_ascii=False) + "\n"

    def merged(text: str, command: Sequence[str], force: bool) -> str:
        held = _object(text)
        servers = held.setdefault(key, {})
        if not isinstance(servers, dict):
            raise InvalidInput(f"{key} in this file is no object", hint="mend it first, or paste by hand")
        _keep(servers.get(NAME), entry(command), force=force)
        servers[NAME] = {**servers.get(NAME, {}), **entry(command)}
        return json.dumps(held, indent=_indent(text), ensure_ascii=False) + "\n"

    return Client(title, place, written, merged)


def _object(text: str) -> dict[str, Any]:
    try:
        held = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise InvalidInput(
            f"the file is not plain JSON: {error}",
            hint="it may hold comments, which would be lost: paste the lines by hand",
        ) from error
    if not isinstance(held, dict):
        raise InvalidInput("the file is no JSON object", hint="paste the lines by hand")
    return held


def _keep(known: object, new: object, *, force: bool) -> None:
    """Raises InvalidInput where another server has the name already."""
    if known is not None and not force and not _same(known, new):
        raise InvalidInput(
            f"this file has a server called {NAME} already", hint="replace it with --force, or keep it"
        )


def _same(known: object, new: object) -> bool:
    return isinstance(known, dict) and isinstance(new, dict) and {**known, **new} == known


def _indent(text: str) -> int | str:
    """As the file is indented now; two spaces where nobody can tell."""
    lines = [line for line in text.split("\n") if line.startswith((" ", "\t"))]
    if not lines:
        return 2
    lead = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    return "\t" if lead.startswith("\t") else len(lead)


def _codex_written(command: Sequence[str]) -> str:
    # A JSON string is a TOML basic string, and a JSON list of them a TOML array.
    called = json.dumps(command[0], ensure_ascii=False)
    arguments = json.dumps(list(command[1:]), ensure_ascii=False)
    return f"[mcp_servers.{NAME}]\ncommand = {called}\nargs = {arguments}\n"


def _codex_merged(text: str, command: Sequence[str], force: bool) -> str:
    try:
        held = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"the file is no TOML: {error}", hint="mend it first") from error
    known = held.get("mcp_servers", {}).get(NAME)
    if known is not None:
        _keep(known, tomllib.loads(_codex_written(command))["mcp_servers"][NAME], force=False)
        return text
    return f"{text.rstrip()}\n\n{_codex_written(command)}".lstrip()


def _desktop(cwd: Path, home: Path, environ: Mapping[str, str]) -> Path:
    folders = {
        "darwin": home / "Library" / "Application Support",
        "win32": Path(environ.get("APPDATA") or home / "AppData" / "Roaming"),
    }
    return folders.get(sys.platform, _config(home, environ)) / "Claude" / "claude_desktop_config.json"


def _zed(cwd: Path, home: Path, environ: Mapping[str, str]) -> Path:
    if sys.platform == "win32":
        return Path(environ.get("APPDATA") or home / "AppData" / "Roaming") / "Zed" / "settings.json"
    folder = home / ".config" if sys.platform == "darwin" else _config(home, environ)
    return folder / "zed" / "settings.json"


def _config(home: Path, environ: Mapping[str, str]) -> Path:
    return Path(environ.get("XDG_CONFIG_HOME") or home / ".config")


CLIENTS: dict[str, Client] = {
    "claude-code": json_client(
        "Claude Code, for this folder", "mcpServers", lambda cwd, home, environ: cwd / ".mcp.json"
    ),
    "claude-desktop": json_client("Claude Desktop", "mcpServers", _desktop),
    "codex": Client(
        "Codex",
        lambda cwd, home, environ: Path(environ.get("CODEX_HOME") or home / ".codex") / "config.toml",
        _codex_written,
        _codex_merged,
    ),
    "cursor": json_client("Cursor", "mcpServers", lambda cwd, home, environ: home / ".cursor" / "mcp.json"),
    "vscode": json_client(
        "VS Code, for this folder",
        "servers",
        lambda cwd, home, environ: cwd / ".vscode" / "mcp.json",
        type="stdio",
    ),
    "zed": json_client("Zed", "context_servers", _zed),
}
"""By the names that ``kebab mcp --install`` takes."""


def program() -> list[str]:
    """The command that starts this kebab from anywhere: clients know neither our folder nor our path."""
    import shutil

    called = Path(sys.argv[0])
    found = called if called.is_absolute() and called.stem == "kebab" else shutil.which("kebab")
    if found and os.path.exists(found):
        return [str(Path(found).absolute())]
    return [sys.executable, "-m", "kebab"]
