"""Commands that write a file which the user names: never over another one, unless asked."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from kebab.cli import kebab
from kebab.cli.session import COMMON
from tests.drivers.conftest import Cli

GOLDEN = """
queries:
  - id: q1
    query: anchor
    expect: {paths: [a.md]}
"""
COMMANDS = {
    "export": ("export", "{file}"),
    "memory export": ("memory", "export", "{file}"),
    "eval run": ("eval", "run", "--golden", "golden.yaml", "--mode", "lexical", "--report", "{file}"),
    "init": ("init", "--config", "{file}"),
}


@pytest.fixture
def project(cli: Cli) -> Cli:
    (cli.cwd / "a.md").write_text("# Anchor\n\nThe anchor is heavy.\n")
    (cli.cwd / "golden.yaml").write_text(GOLDEN)
    cli("init", ".")
    cli("ingest")
    return cli


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_file_is_replaced_only_by_force_and_a_failure_leaves_it(
    project: Cli, command: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "note.md"
    arguments = [part.format(file=file) for part in command]
    file.write_text("my own words")
    refused = project(*arguments, "--json")
    assert (refused.code, refused.error["code"]) == (2, "invalid_input")
    assert file.read_text() == "my own words"
    if command[0] == "memory":
        # The store is opened only after the file was: what fails then must not have emptied it.
        failed = project(*arguments, "--force", KEBAB_MEMORY__URL="ws://127.0.0.1:1/rpc")
        assert failed.code == 2
        assert file.read_text() == "my own words"
        assert project("memory", "record", "anchor work", "--agent", "a").code == 0
    assert project(*arguments, "--force").code == 0
    assert b"my own words" not in file.read_bytes()
    assert not list(tmp_path.glob(".*.part"))


def commands(group: click.Command, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(group, click.Group):
        yield names, group
        return
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield from commands(found, *names, name)


def test_every_command_that_names_a_file_to_write_takes_force() -> None:
    writing = {
        " ".join(names)
        for names, command in commands(kebab)
        for each in command.params
        if isinstance(each.type, click.Path) and not each.type.exists and not each.type.dir_okay
    }
    forceful = {
        " ".join(names)
        for names, command in commands(kebab)
        if any(p.name == "force" for p in command.params)
    }
    assert {"export", "memory export", "eval run", "eval compare"} <= writing
    assert writing <= forceful


def test_every_command_takes_the_options_that_it_offers() -> None:
    for names, command in commands(kebab):
        assert command.callback is not None
        parameters = inspect.signature(inspect.unwrap(command.callback)).parameters
        gathered = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        if gathered or "filters" in parameters:
            continue
        offered = {param.name for param in command.params if param.expose_value} - set(COMMON)
        assert offered == parameters.keys() - {"session"}, " ".join(names)
