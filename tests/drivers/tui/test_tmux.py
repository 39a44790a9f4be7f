"""The terminal screen in a real terminal: out to the editor at the line, and back to an intact screen."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.drivers.conftest import Cli

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux; apt-get install tmux"),
]


class Terminal:
    """80 by 24, in a tmux server of its own."""

    def __init__(self, socket: Path) -> None:
        self.base = ["tmux", "-S", str(socket)]

    def __call__(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self.base, *arguments], capture_output=True, text=True, check=True, timeout=20
        )
        return done.stdout

    def rows(self) -> list[str]:
        return self("capture-pane", "-p").split("\n")

    def until(self, true: Callable[[list[str]], bool]) -> list[str]:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if true(rows := self.rows()):
                return rows
            time.sleep(0.1)
        raise AssertionError("\n".join(self.rows()))


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path / "tmux")
    yield made
    subprocess.run([*made.base, "kill-server"], check=False, capture_output=True)


def test_the_editor_opens_at_the_line_and_leaves_the_screen_as_it_was(
    terminal: Terminal, library: Cli, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "EDITOR $1"\nread line\n', encoding="utf-8")
    editor.chmod(0o755)
    settings = {**library.environ, "EDITOR": str(editor), "VISUAL": "", "LANG": "C.UTF-8"}
    given = [word for name, value in settings.items() for word in ("-e", f"{name}={value}")]
    command = f"{sys.executable} -m kebab tui"
    terminal("-u", "new-session", "-d", "-x", "80", "-y", "24", *given, "-c", str(library.cwd), command)
    terminal.until(lambda rows: any("f1 Help" in row for row in rows))
    terminal("send-keys", "seat hold")
    terminal.until(lambda rows: any("hits in" in row for row in rows) and any("▌" in row for row in rows))
    terminal("send-keys", "Down")
    time.sleep(0.5)
    before = terminal.rows()
    terminal("send-keys", "Enter")
    opened = terminal.until(lambda rows: any(row.startswith("EDITOR +") for row in rows))
    line = next(row for row in opened if row.startswith("EDITOR +")).removeprefix("EDITOR +")
    assert any(row.strip().startswith(f"{line} ▌") for row in before)
    terminal("send-keys", "Enter")
    assert terminal.until(lambda rows: rows == before) == before
