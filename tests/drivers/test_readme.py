"""The README: what it says of the commands is what the commands say of themselves."""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

from kebab.cli.reference import with_table
from tests.drivers.conftest import PROJECT, VAULT, a_cli

README = PROJECT / "README.md"


def test_the_table_of_commands_is_the_generated_one() -> None:
    text = README.read_text(encoding="utf-8")
    assert with_table(text) == text, "run: make docs"


def test_the_files_it_points_to_exist() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))
    assert [link for link in links if not (PROJECT / link).exists()] == []


def test_the_session_it_shows_is_what_the_commands_print(tmp_path: Path) -> None:
    made = a_cli(tmp_path)
    cli = replace(made, extra={"KEBAB_MODELS__EMBEDDING__PROVIDER": "static"})
    shutil.copytree(VAULT, cli.cwd, dirs_exist_ok=True)
    session = README.read_text(encoding="utf-8").split("```console\n", 1)[1].split("\n```", 1)[0]
    commands = re.findall(r"^\$ kebab (.*)\n((?:(?!\$ ).*\n?)*)", session, flags=re.MULTILINE)
    assert len(commands) == 6
    for typed, shown in commands:
        found = cli(*shlex.split(typed))
        printed = (found.out + found.err).replace(str(cli.cwd), "~/notes")
        assert _timeless(printed.strip()) == _timeless(shown.strip()), typed


def _timeless(text: str) -> str:
    """The text without what differs from run to run."""
    return re.sub(r"\b\d+ ms\b", "… ms", re.sub(r"\bans_\w+", "ans_…", text))
