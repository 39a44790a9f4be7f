"""Which knowledge base a command works on: it is named before something is removed, and where in doubt."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.drivers.conftest import Cli
from tests.drivers.terminal import answering


@pytest.fixture
def project(cli: Cli) -> Cli:
    """A project with one note, ingested."""
    (cli.cwd / "note.md").write_text("# Note\n\nthe quick brown fox\n", encoding="utf-8")
    assert cli("init", ".").code == cli("ingest").code == 0
    return cli


def data_of(cli: Cli) -> Path:
    return cli.cwd / ".kebab" / "data"


def own_data(cli: Cli) -> Path:
    return cli.home / ".local" / "share" / "kebab"


# --- reset -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["data", "memory", "config", "all"])
def test_reset_removes_what_is_not_derived_only_for_whom_types_the_path(project: Cli, scope: str) -> None:
    code, screen = answering(project, "reset", scope, answers=["yes"])
    assert (code, str(data_of(project)) in screen) == (1, True)
    assert (data_of(project) / "kebab.sqlite").exists()
    assert (project.cwd / ".kebab" / "config.toml").exists()
    assert answering(project, "reset", scope, answers=[str(data_of(project))])[0] == 0


def test_reset_of_what_is_derived_asks_yes_or_no(project: Cli) -> None:
    assert answering(project, "reset", "index", answers=["n"])[0] == 1
    assert (data_of(project) / "index").exists()
    assert answering(project, "reset", "index", answers=["y"])[0] == 0
    assert not (data_of(project) / "index").exists()


@pytest.mark.parametrize("flags", [["--yes"], ["--yes", "--quiet"], []])
def test_reset_without_a_terminal_names_what_it_is_about_to_empty(project: Cli, flags: list[str]) -> None:
    assert str(data_of(project)) in project("reset", "data", *flags).err


def test_reset_outside_a_project_names_the_users_own_knowledge_base(cli: Cli) -> None:
    result = cli("reset", "all", "--yes")
    assert f"{own_data(cli)} (no configuration file)" in result.err


# --- nothing there ---------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["search", "x"], ["ask", "x"], ["list", "docs"], ["index"]])
def test_where_there_is_no_knowledge_base_the_hint_is_the_next_step(cli: Cli, command: list[str]) -> None:
    without = cli(*command, "--json").error
    assert without["code"] == "not_indexed"
    assert without["hint"].startswith("run: kebab init FOLDER")
    cli("init", ".")
    assert cli(*command, "--json").error["hint"] == "run: kebab ingest"


def test_a_search_that_finds_nothing_names_the_knowledge_base(project: Cli) -> None:
    result = project("search", "qqqzzz")
    assert (result.code, str(data_of(project)) in result.err) == (1, True)


def test_ingest_names_the_knowledge_base(project: Cli) -> None:
    result = project("ingest")
    assert str(data_of(project)) in result.err
    assert str(data_of(project)) not in result.out
    assert project("ingest", "--quiet").err == ""


@pytest.mark.parametrize("option", ["--repo", "--code-lang", "--symbol"])
def test_a_filter_by_what_no_document_has_says_so(project: Cli, option: str) -> None:
    for command in ("search", "ask"):
        result = project(command, "fox", option, "rust", "--json")
        assert result.code == 1
        (note,) = result.json["degraded"]
        assert note["code"] == "not_read"
        assert note["message"].endswith(" rust")
        assert "docs/formats.md" in note["hint"]


# --- init ------------------------------------------------------------------------------------------


def test_init_asks_before_it_creates_a_folder(cli: Cli) -> None:
    refused = cli("init", "typo/x", "--json")
    assert (refused.code, refused.error["code"]) == (2, "invalid_input")
    code, screen = answering(cli, "init", "typo/x", answers=["n"])
    assert (code, str(cli.cwd / "typo" / "x") in screen) == (1, True)
    assert not (cli.cwd / "typo").exists()
    assert answering(cli, "init", "typo/x", answers=["y"])[0] == 0
    assert cli("init", "other/y", "--yes").code == 0
    assert (cli.cwd / "other" / "y" / ".kebab" / "config.toml").exists()


# --- verbose ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_verbose_tells_settings_and_time_on_stderr(project: Cli, flags: list[str]) -> None:
    plain, told = project("search", "fox", *flags), project("search", "fox", "--verbose", *flags)
    assert told.out == plain.out
    for expected in (
        f"configuration: {project.cwd / '.kebab' / 'config.toml'}",
        f"data: {data_of(project)}",
        f"source default: {project.cwd}",
        "embedding model: none",
        "took: ",
    ):
        assert expected in told.err
        assert expected not in plain.err


def test_no_command_shows_the_password_of_an_address(cli: Cli) -> None:
    text = """
        [memory]
        url = "ws://root:hunter2@127.0.0.1:9/rpc"
        [models.llm]
        provider = "openai"
        model = "m"
        endpoint = "http://me:hunter2@127.0.0.1:9/v1?key=hunter2"
        [models.embedding]
        provider = "ollama"
        model = "m"
        endpoint = "http://me:hunter2@127.0.0.1:9"
    """
    (cli.cwd / "note.md").write_text("# Note\n\nthe quick brown fox\n", encoding="utf-8")
    (cli.cwd / "own.toml").write_text(f'{text}\n[workspace]\nroot = "."\n', encoding="utf-8")
    commands = (
        ["ingest"],
        ["doctor"],
        ["schema"],
        ["models", "list"],
        ["search", "fox"],
        ["ask", "how quick is the fox"],
        ["index", "--embeddings"],
        ["memory", "stats"],
    )
    for command in commands:
        flags = ("--config", "own.toml", "--json", "--verbose")
        result = cli(*command, *flags, KEBAB_MODELS__EMBEDDING__PROVIDER="ollama")
        assert "hunter2" not in result.out + result.err, (command, result)
    addresses = cli("doctor", "--config", "own.toml", "--json").json["endpoints"]
    assert "ws://***@127.0.0.1:9/rpc" in addresses


# --- demo ------------------------------------------------------------------------------------------


def test_the_demonstration_takes_nothing_from_the_users_settings(cli: Cli) -> None:
    own = cli.home / ".config" / "kebab" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(
        '[[sources]]\nid = "a"\nroot = "/nowhere"\n'
        '[models.embedding]\nprovider = "ollama"\nmodel = "m"\nendpoint = "http://127.0.0.1:9"\n',
        encoding="utf-8",
    )
    result = cli("demo")
    assert result.code == 0, result.err
    assert "embedded" in result.out
    assert "did not take part" not in result.err


def test_a_root_given_to_the_python_interface_replaces_the_sources(cli: Cli) -> None:
    (cli.cwd / "own.toml").write_text('[[sources]]\nid = "a"\nroot = "/nowhere"\n', encoding="utf-8")
    (cli.cwd / "note.md").write_text("# Note\n", encoding="utf-8")
    code = (
        "import json; from pathlib import Path; from kebab import Kebab\n"
        "kb = Kebab.open(Path('own.toml'), root=Path('.'), data_dir=Path('data'))\n"
        "print(json.dumps([kb.ingest().run.indexed, [s.id for s in kb.settings.sources]])); kb.close()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cli.cwd, env=cli.environ, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [1, ["default"]]
