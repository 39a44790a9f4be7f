"""Whatever notes, names, records and settings hold: no command lets a terminal obey it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import click
import pytest

from kebab.cli import kebab
from kebab.domain.controls import FORBIDDEN

EVIL = "x\x1b[95my\x9b31m\x1b]0;owned\x07\x7f\u202eevil\u2066\u2028[red]<script>"
"""Escape sequences of every kind, a title, overrides of the direction, and markup of Rich and HTML."""
NAME = EVIL.replace("/", "_")
OWN = re.compile(r"\x1b\[(?!95m)[0-9;]*m|\x1b\]8;;[^\x1b\x07]*\x1b\\")
"""What kebab itself writes on a terminal: colours, and links that hold no escape. Never the colour 95."""
CURSOR = re.compile(r"\x1b\[\?25[lh]|\x1b\[2K|\x1b\[1A|\r")
"""What the progress line moves on a terminal."""


class Stream(io.TextIOWrapper):
    """Keeps what is written, as a terminal or as a file."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="", write_through=True)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    @property
    def text(self) -> str:
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class Place:
    """A project whose every name and text is hostile."""

    folder: Path

    def run(self, *arguments: str, terminal: bool = False, stdin: str = "") -> tuple[str, str]:
        """What a command writes to stdout and to stderr, whatever becomes of it."""
        out, err = Stream(terminal=terminal), Stream(terminal=terminal)
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            _stdin(stdin),
            contextlib.chdir(self.folder),
        ):
            kebab.main(list(arguments), prog_name="kebab", standalone_mode=False)
        return out.text, err.text

    def json(self, *arguments: str) -> Any:
        out, err = self.run(*arguments, "--json")
        assert out, err
        return json.loads(out.splitlines()[-1])


@contextlib.contextmanager
def _stdin(text: str) -> Iterator[None]:
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = before


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("hostile")
    home = folder / "home"
    notes = folder / "notes"
    home.mkdir()
    notes.mkdir()
    kept = dict(os.environ)
    os.environ.update(
        HOME=str(home), KEBAB_MODELS__EMBEDDING__PROVIDER="none", COLUMNS="100", TERM="xterm-256color"
    )
    for name in [name for name in os.environ if name.startswith("XDG_")]:
        del os.environ[name]
    place = Place(notes)
    place.run("init", ".", "--yes")
    (notes / f"{NAME}.md").write_text(
        f"---\ntitle: {json.dumps(EVIL)}\ntags: [{json.dumps(EVIL)}]\nlang: {json.dumps(EVIL)}\n---\n"
        f"# seat {EVIL}\n\nA seat is held {EVIL} for seven minutes.\n",
        encoding="utf-8",
    )
    (notes / f"{NAME}.bin").write_bytes(b"\x00")
    (notes / "other.md").write_text(
        f"Nothing of it.\n\n[[{NAME}]] and [[lost {EVIL}]] {EVIL}\n", encoding="utf-8"
    )
    wanted = {"id": EVIL, "query": f"seat held {EVIL}", "group": EVIL, "expect": {"paths": ["other.md"]}}
    (notes / "golden.yaml").write_text(json.dumps({"queries": [wanted]}))
    place.run("ingest")
    place.run("eval", "run", "--golden", "golden.yaml")
    for _ in range(2):
        place.run(
            *("memory", "record", f"seat {EVIL}", "--agent", EVIL, "--type", EVIL, "--task-id", EVIL),
            *("--role", EVIL, "--error", EVIL, "--provider", EVIL, "--id", EVIL, "--document", f"{NAME}.md"),
        )
    _chunk_of(place)
    yield place
    os.environ.clear()
    os.environ.update(kept)


def names(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The full names of all commands below one."""
    if not isinstance(command, click.Group):
        yield " ".join(path)
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from names(found, (*path, name))


ARGUMENTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "init": ((EVIL,), (EVIL, "--yes")),
    "trust": ((), (EVIL,), ("--list",)),
    "demo": (),
    "ingest": ((), ("--force",), ("--dry-run", "--force"), (EVIL,), ("-", "--title", EVIL), ("-v", EVIL)),
    "search": (
        *(
            (f"seat {EVIL}",),
            ("seat", "--explain", "--trace"),
            ("seat", "--mode", EVIL),
            ("seat", "--cursor", EVIL),
        ),
        *(("seat", "--tag", EVIL), ("seat", "--path", EVIL), (f"tag:{EVIL}",), ("seat", "--config", EVIL)),
        *((EVIL,), ("seat", "--fusion", EVIL), ("seat", "-k", EVIL), ("seat", f"--{EVIL}")),
    ),
    "ask": (
        (f"how long is a seat held {EVIL}?", "--explain"),
        (EVIL,),
        ("--again", EVIL),
        ("seat?", "--stream"),
    ),
    "brief": ((f"hold a seat {EVIL}",), (EVIL,), ("seat", "--scope", EVIL), ("seat", "--tag", EVIL)),
    "links": ((f"{NAME}.md",), (EVIL,), ("other.md",)),
    "related": ((f"{NAME}.md",), (EVIL,), (f"{NAME}.md", "-k", EVIL)),
    "why": ((f"{NAME}.md", f"seat {EVIL}"), (EVIL, "seat")),
    "eval answers": (("golden.yaml",), (EVIL,)),
    "eval names": (("--missed",), (EVIL,)),
    "memory advise": ((f"seat {EVIL}",), (EVIL, "--agent", EVIL)),
    "memory delete": ((f"none {EVIL}",),),
    "memory effects": ((EVIL,), (f"none {EVIL}",)),
    "memory feedback": ((EVIL, "--note", EVIL), (f"none {EVIL}", "--success")),
    "memory get": ((EVIL,), (f"none {EVIL}",)),
    "memory link": ((EVIL, f"none {EVIL}"), (EVIL,)),
    "memory update": ((EVIL, f"lesson={EVIL}"), (EVIL, EVIL)),
    "memory uses": ((f"{NAME}.md",), (EVIL,)),
    "memory agents": ((), ("--type", EVIL)),
    "memory causes": ((EVIL,), (f"none {EVIL}",)),
    "memory curve": ((EVIL,), (EVIL, "--type", EVIL)),
    "memory documents": (("seat",), (EVIL, "--limit", EVIL)),
    "memory embed": ((),),
    "memory export": ((), ("{folder}/" + NAME + ".ndjson",)),
    "memory import": (("{folder}/" + NAME + ".ndjson",), (EVIL,)),
    "memory list": ((), ("--agent", EVIL), ("--after", EVIL)),
    "memory prune": (("--older-than", EVIL), ("--older-than", "1d", "--dry-run")),
    "memory record": ((EVIL, "--agent", EVIL, "--type", EVIL), (EVIL,), ("--from-json", EVIL)),
    "memory search": ((f"seat {EVIL}",), ("seat", "--agent", EVIL)),
    "memory similar": ((f"seat {EVIL}",),),
    "memory stats": ((),),
    "memory tasks": (("seat",), (EVIL, "--limit", EVIL)),
    "eval compare": (
        (EVIL, EVIL),
        ("hybrid", "lexical", "--golden", "golden.yaml", "--report", "r.md", "--force"),
    ),
    "eval import": ((EVIL, EVIL),),
    "eval list": ((),),
    "eval run": (
        ("--golden", "golden.yaml", "--report", "report.md", "--force"),
        ("--golden", "golden.yaml", "--report", "report.html", "--force"),
        ("--golden", EVIL),
        ("--collection", EVIL),
    ),
    "eval tune": (("--golden", EVIL), ("--collection", EVIL)),
    "list docs": ((), ("--tag", EVIL), ("--lang", EVIL)),
    "list items": (("{run}",), (EVIL,)),
    "list runs": ((),),
    "inspect chunk": (("{chunk}",), (EVIL,)),
    "inspect doc": ((f"{NAME}.md",), (EVIL,)),
    "fetch chunk": (("{chunk}",), (EVIL,)),
    "fetch doc": ((f"{NAME}.md",), (EVIL,)),
    "fetch span": ((f"{NAME}.md", "1", "3"), (EVIL,), (f"{EVIL}#L1",)),
    "index": ((), ("--model", EVIL)),
    "models add": ((EVIL,), (EVIL, "--name", EVIL)),
    "models list": ((), ("--all",)),
    "models use": ((EVIL,),),
    "doctor": ((), ("--repair",)),
    "reset": ((EVIL,), ("index",), ("index", "--yes")),
    "schema": ((),),
    "export": (("{folder}/" + NAME + ".kebab",),),
    "import": (("{folder}/" + NAME + ".kebab",), (EVIL,)),
    "publish": (
        ("{folder}/" + NAME, "--as", EVIL),
        ("{folder}/" + NAME,),
        ("{folder}/" + NAME, "--list"),
        ("{folder}/" + NAME, "--remove", EVIL),
        (f"ftp://{EVIL}",),
        (EVIL, "--list"),
    ),
    "chat": ((), ("--tag", EVIL)),
    "completion": (("bash",), (EVIL,)),
    "formats": ((),),
    # Those that stay open are tried up to where they would begin.
    "mcp": (("--install", EVIL), ("--tools", EVIL), ("--paste", EVIL), ("--source", EVIL, "--config", EVIL)),
    "serve": (("--port", EVIL), ("--host", EVIL, "--config", EVIL)),
    "tui": (("--config", EVIL),),
    "watch": (("--config", EVIL), (EVIL,)),
}
"""How each command is run. `demo` prints a vault of its own, which nobody else writes."""
VERBATIM = ("fetch chunk", "fetch doc", "fetch span")
"""Commands that write stored text byte for byte where stdout is no terminal; that is what they are for."""


def test_every_command_is_tried() -> None:
    assert set(ARGUMENTS) == set(names(kebab))


@pytest.mark.parametrize("command", [name for name, tried in ARGUMENTS.items() if tried])
@pytest.mark.parametrize("mode", ["a terminal", "a pipe", "JSON"])
def test_nothing_that_a_terminal_obeys_is_printed(place: Place, command: str, mode: str) -> None:
    printed = ""
    for given in ARGUMENTS[command]:
        arguments = [_filled(argument, place) for argument in given]
        out, err = place.run(
            *command.split(),
            *arguments,
            *(["--json"] if mode == "JSON" else []),
            terminal=mode == "a terminal",
            stdin=f"text {EVIL}",
        )
        if command in VERBATIM and mode == "a pipe":
            out = ""
        plain = CURSOR.sub("", OWN.sub("", out + err)) if mode == "a terminal" else out + err

        printed += out + err

        assert not FORBIDDEN.findall(plain), (given, plain)
        assert "a fault in kebab" not in err
    assert printed


def test_stored_text_is_fetched_byte_for_byte_into_a_pipe(place: Place) -> None:
    text = (place.folder / f"{NAME}.md").read_text(encoding="utf-8")

    assert place.run("fetch", "doc", f"{NAME}.md", "-q")[0] == text


def test_json_says_the_same_with_its_controls_escaped(place: Place) -> None:
    found = place.json("fetch", "doc", f"{NAME}.md")

    assert found["text"] == (place.folder / f"{NAME}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["md", "html"])
def test_a_report_holds_no_tag_and_no_control_of_a_query(place: Place, kind: str) -> None:
    report = place.folder / f"a.{kind}"
    place.run("eval", "run", "--golden", "golden.yaml", "--report", str(report), "--force")

    text = report.read_text(encoding="utf-8")
    assert "script" in text
    assert not FORBIDDEN.search(text)
    assert not re.search(r"(?<!\\)<script", text)


@lru_cache(maxsize=1)
def _chunk_of(place: Place) -> str:
    """A chunk that is there; known before any command empties an index."""
    return str(place.json("search", "seat")["hits"][0]["chunk_id"])


def _filled(argument: str, place: Place) -> str:
    if argument == "{chunk}":
        return _chunk_of(place)
    if argument == "{run}":
        return str(place.json("list", "runs")["runs"][0]["run_id"])
    return argument.replace("{folder}", str(place.folder.parent))
