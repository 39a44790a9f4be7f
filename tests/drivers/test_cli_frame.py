"""What holds for every command: help, common options, errors, exit codes, pipes and colours."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kebab.cli import COMMANDS, kebab
from kebab.cli.errors import GROUPS, report
from kebab.cli.screen import width
from kebab.cli.session import COMMON
from tests.drivers.conftest import Cli

HEAVY = [
    "numpy", "lance", "pyarrow", "tantivy", "rich", "msgspec", "sqlite3", "surrealdb", "httpx", "onnxruntime",
    "fastembed", "yaml", "asyncio",
]  # fmt: skip
ENTRIES = [entry for entries in COMMANDS.values() for entry in entries]


def leaves() -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by what one types for it."""

    def walk(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        if isinstance(command, click.Group):
            for child in command.list_commands(click.Context(command)):
                found = command.get_command(click.Context(command), child)
                assert found is not None
                yield from walk(f"{name} {child}", found)
        else:
            yield name, command

    for entry in ENTRIES:
        found = kebab.get_command(click.Context(kebab), entry.name)
        assert found is not None, entry.name
        yield from walk(entry.name, found)


LEAVES = dict(leaves())

ARGUMENTS = {
    "search": ["x"],
    "why": ["a.md", "x"],
    "ask": ["x"],
    "inspect doc": ["a.md"],
    "inspect chunk": ["0" * 32],
    "fetch chunk": ["0" * 32],
    "fetch doc": ["a.md"],
    "fetch span": ["a.md", "1", "2"],
    "reset": ["--yes"],
    "memory record": ["x", "--agent", "a"],
    "memory prune": ["--older-than", "3"],
    "memory feedback": ["x", "--success"],
    "memory similar": ["x"],
    "memory update": ["x", "lesson=y"],
    "eval tune": ["--golden", "existing"],
}
"""What a command needs to get as far as reading its configuration."""
STANDALONE = ("init", "demo", "eval import", "completion")
"""They write a configuration, bring their own or need none."""


def arguments_of(name: str, command: click.Command, existing: Path) -> list[str]:
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    needed = [p for p in command.params if isinstance(p, click.Argument) and p.required]
    return [str(existing) if isinstance(p.type, (click.Path, click.File)) else "x" for p in needed]


# --- help ------------------------------------------------------------------------------------------


def test_help_lists_every_command_under_its_heading() -> None:
    text = CliRunner().invoke(kebab, ["--help"]).output
    for title, entries in COMMANDS.items():
        assert f"\n{title}:\n" in text
        assert all(entry.help in text for entry in entries)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_help_line_of_a_command_is_the_first_line_of_its_own_help(entry: object) -> None:
    name, line = entry.name, entry.help  # type: ignore[attr-defined]
    command = kebab.get_command(click.Context(kebab), name)
    assert command is not None
    assert (command.help or "").strip().splitlines()[0] == line


def test_help_loads_no_engine_and_no_command(cli: Cli) -> None:
    code = (
        "import sys; from kebab.cli import kebab; kebab.main(['--help'], standalone_mode=False);"
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=cli.environ)
    assert done.stderr.strip() == "[]"


def test_help_comes_in_a_blink(cli: Cli) -> None:
    def once(*command: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, *command], capture_output=True, env=cli.environ, check=True)
        return time.perf_counter() - start

    help_s = min(once("-m", "kebab", "--help") for _ in range(5))
    bare_s = min(once("-c", "import click") for _ in range(5))
    # Against the bare interpreter with click, since the machine may be slow or busy.
    assert help_s < 2 * bare_s + 0.05


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_takes_the_common_options_and_says_what_it_does(name: str) -> None:
    command = LEAVES[name]
    assert set(COMMON) <= {parameter.name for parameter in command.params}
    assert (command.help or "").strip().splitlines()[0].endswith(".")
    result = CliRunner().invoke(kebab, [*name.split(), "--help"])
    assert result.exit_code == 0
    assert "Common options:" in result.output


def test_the_version_is_the_packages(cli: Cli) -> None:
    import kebab as package

    assert cli("--version").out.strip() == f"kebab {package.__version__}"


# --- configuration ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in LEAVES if name not in STANDALONE])
def test_every_command_refuses_a_config_that_does_not_exist(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    existing = tmp_path / "existing"
    existing.mkdir() if name == "models add" else existing.touch()
    given = arguments_of(name, LEAVES[name], existing)
    result = CliRunner().invoke(kebab, [*name.split(), *given, "--config", "nowhere.toml", "--json"])
    assert result.exit_code == 2, result.stderr
    failure = json.loads(result.stderr)
    assert failure["code"] == "config_not_found"
    assert "nowhere.toml" in failure["message"]


@pytest.mark.parametrize("place", ["before", "after"])
def test_common_options_work_before_and_after_the_command(place: str, library: Cli) -> None:
    flags, command = ["--json", "--quiet"], ["search", "seat"]
    arguments = [*flags, *command] if place == "before" else [*command, *flags]
    assert library(*arguments).json["schema_version"] == "search_response.v1"


def test_a_config_elsewhere_is_obeyed(library: Cli, cli: Cli) -> None:
    config = library.cwd / ".kebab" / "config.toml"
    assert cli("search", "seat", "--config", str(config)).code == 0
    assert cli("--config", str(config), "list", "docs").code == 0
    assert cli("list", "docs").code == 2


def test_the_environment_sets_a_key(library: Cli) -> None:
    assert len(library("search", "the", "--json", KEBAB_SEARCH__DEFAULT_K="3").json["hits"]) == 3


# --- failures --------------------------------------------------------------------------------------


def test_a_failure_is_two_lines_on_stderr(cli: Cli) -> None:
    result = cli("search", "seat")
    assert (result.code, result.out) == (2, "")
    error, hint = result.err.splitlines()
    assert error.startswith("error: ")
    assert hint.startswith("hint: ")


def test_with_json_a_failure_is_one_error_object_on_stderr(cli: Cli) -> None:
    result = cli("search", "seat", "--json")
    assert (result.code, result.out) == (2, "")
    assert len(result.err.splitlines()) == 1
    assert result.error["schema_version"] == "error.v1"
    assert result.error["code"] == "not_indexed"


@pytest.mark.parametrize(
    "arguments", [["serch", "x"], ["search", "--nope", "x"], ["search", "-k", "many", "x"], ["search"]]
)
def test_a_usage_error_leaves_with_2_and_a_hint(arguments: list[str], library: Cli) -> None:
    result = library(*arguments)
    assert result.code == 2
    assert result.err.startswith("error: ")
    assert "\nhint: " in result.err


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["search", "seat", "--title"], "kebab search"),
        (["memory", "search", "x", "--agent"], "kebab memory search"),
        (["--config", ".kebab/config.toml", "search", ""], "kebab search"),
        (["fetch", "span", "README.md", "3", "1"], "kebab fetch span"),
    ],
)
def test_the_hint_of_a_usage_error_names_the_command_whose_help_tells_more(
    arguments: list[str], command: str, library: Cli
) -> None:
    assert library(*arguments).err.endswith(f"hint: see: {command} --help\n")


def test_the_groups_that_hints_know_are_those_there_are() -> None:
    assert set(GROUPS) == {name.partition(" ")[0] for name in LEAVES if " " in name}


def test_a_mistyped_command_is_recognised(cli: Cli) -> None:
    assert "Did you mean 'search'?" in cli("seerch", "x").err


def test_an_unexpected_error_is_one_line_and_verbose_tells_where(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(RuntimeError("the roof\nis on fire"), arguments=["search", "x"]) == 2
    error, hint = capsys.readouterr().err.splitlines()
    assert error == "error: RuntimeError: the roof is on fire"
    assert "--verbose" in hint
    report(RuntimeError("again"), arguments=["-v", "search"])
    assert "RuntimeError: again" in capsys.readouterr().err


def test_readonly_refuses_to_write(cli: Cli) -> None:
    for arguments in (["ingest", "--readonly"], ["--readonly", "ingest"], ["init", ".", "--readonly"]):
        result = cli(*arguments, "--json")
        assert (result.code, result.error["code"]) == (2, "readonly")
    assert cli("ingest", "--json", KEBAB_READONLY="yes").error["code"] == "readonly"


# --- streams ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("arguments", ["search seat -k 1 -q", "list docs -q"])
def test_a_stream_that_was_closed_before_the_start_is_no_fault(
    closed: str, arguments: str, library: Cli
) -> None:
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m kebab {arguments} {closed}"],
        cwd=library.cwd,
        env=library.environ,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_pipe_is_quiet(library: Cli) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        library.command("list", "docs", "--quiet"),
        cwd=library.cwd,
        env=library.environ,
        stdout=write,
        stderr=-1,
    )
    os.close(write)
    assert done.stderr == b""


def on_a_terminal(cli: Cli, *arguments: str, **extra: str) -> str:
    """What the command writes when stdout is a terminal."""
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        cli.command(*arguments),
        cwd=cli.cwd,
        env=cli.environ | {"COLUMNS": "80"} | extra,
        stdout=terminal,
        stderr=subprocess.DEVNULL,
    )
    os.close(terminal)
    written = b""
    try:
        while piece := os.read(main, 65536):
            written += piece
    except OSError:
        pass  # Linux ends a terminal whose other side is closed with EIO
    assert process.wait() in (0, 1)
    os.close(main)
    return written.decode()


def test_a_terminal_gets_colours_and_clickable_citations(library: Cli) -> None:
    text = on_a_terminal(library, "search", "전세 갱신", "-k", "1")
    assert "\x1b[" in text
    assert "\x1b]8;;file://" in text
    assert "%EC%A0%84%EC%84%B8" in text


def test_no_color_is_respected_and_a_pipe_gets_neither(library: Cli) -> None:
    assert "\x1b[" not in on_a_terminal(library, "search", "seat", "-k", "1", NO_COLOR="1").replace(
        "\x1b]", ""
    )
    assert "\x1b" not in library("search", "seat", "-k", "1").out


@pytest.mark.parametrize(
    "arguments", [("list", "docs"), ("list", "runs"), ("list", "items"), ("inspect", "doc", "README.md")]
)
def test_tables_fit_a_narrow_terminal_and_show_no_control_signs(
    library: Cli, arguments: tuple[str, ...]
) -> None:
    text = on_a_terminal(library, *arguments, COLUMNS="60")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\r", "")
    assert "\ufffd" not in plain
    assert max(width(line) for line in plain.split("\n")) <= 60
