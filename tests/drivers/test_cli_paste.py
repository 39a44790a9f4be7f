"""``kebab completion``, ``kebab mcp --install`` and ``--paste``, ``kebab search --lines``."""

from __future__ import annotations

import json
import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest
from mcp.client.client import Client

from kebab.cli.mcp_paste import TEXTS, paste
from tests.drivers.conftest import PROJECT, Cli
from tests.drivers.mcp_talk import told
from tests.drivers.test_mcp_transports import over_stdio

AGENTS = (PROJECT / "docs" / "agents.md").read_text()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_read_the_script_that_completes(cli: Cli, shell: str) -> None:
    script = cli("completion", shell)
    assert script.code == 0
    assert "_KEBAB_COMPLETE" in script.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script.out, text=True, check=True)


def test_commands_and_options_are_completed(cli: Cli) -> None:
    command = cli(_KEBAB_COMPLETE="bash_complete", COMP_WORDS="kebab sea", COMP_CWORD="1")
    assert command.out.split() == ["plain,search"]
    option = cli(_KEBAB_COMPLETE="bash_complete", COMP_WORDS="kebab search --snip", COMP_CWORD="2")
    assert option.out.split() == ["plain,--snippet-chars"]


def test_what_is_installed_starts_a_server_that_knows_its_configuration(library: Cli, tmp_path: Path) -> None:
    printed = library("mcp", "--install", "claude-code", "--readonly", "--path", "homelab/**")
    entry = json.loads(printed.out)["mcpServers"]["kebab"]
    given = entry["args"][entry["args"].index("mcp") :]
    assert given == ["mcp", "--folder", str(library.cwd), "--path", "homelab/**", "--readonly"]
    assert Path(entry["command"]).exists()
    elsewhere = Cli(tmp_path, library.home)
    assert "homelab" in over_stdio(elsewhere, _listed, *given[1:])


async def _listed(client: Client) -> str:
    return told(await client.call_tool("list_documents", {}))


def test_a_configuration_that_was_named_is_named_again(library: Cli) -> None:
    file = library.cwd / ".kebab" / "config.toml"
    printed = library("mcp", "--install", "codex", "--config", str(file))
    assert f'"--config", "{file}"' in printed.out


def test_installing_writes_only_when_asked(cli: Cli) -> None:
    cli("init", ".")
    assert cli("mcp", "--install", "vscode").code == 0
    assert not (cli.cwd / ".vscode").exists()
    written = cli("mcp", "--install", "vscode", "--write")
    assert "written to" in written.err
    assert written.out == ""
    assert json.loads((cli.cwd / ".vscode" / "mcp.json").read_text())["servers"]["kebab"]["type"] == "stdio"


@pytest.mark.parametrize("name", TEXTS)
def test_the_documentation_shows_the_texts_as_they_are_printed(name: str) -> None:
    shown = paste(name, program=["/usr/local/bin/kebab"])
    assert shown.strip() in AGENTS


def test_the_launchd_file_is_a_property_list(cli: Cli) -> None:
    held = plistlib.loads(cli("mcp", "--paste", "launchd").out.encode())
    assert held["ProgramArguments"][-2:] == ["watch", "--quiet"]


def test_the_fzf_function_is_read_by_a_shell(cli: Cli) -> None:
    script = cli("mcp", "--paste", "fzf").out
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_hits_on_one_line_each_name_the_file_and_its_line(library: Cli) -> None:
    found = library("search", "restic restore", "--lines", "-k", "2")
    lines = found.out.splitlines()
    assert 1 <= len(lines) <= 2
    file, number, _ = lines[0].split(":", 2)
    assert Path(file).is_file()
    assert "restic" in Path(file).read_text(encoding="utf-8").splitlines()[int(number) - 1].lower()
    assert library("search", "qqzzxx", "--lines").code == 1


def test_the_line_is_that_of_the_first_word_shown_in_the_file(cli: Cli) -> None:
    note = cli.cwd / "knots.md"
    note.write_text("---\ntags: [sea]\n---\n# Knots\n\nMuch else.\n\nThe bowline holds.\n", encoding="utf-8")
    assert cli("init", ".").code == 0
    assert cli("ingest").code == 0
    assert cli("search", "bowline", "--lines").out.startswith(f"{note}:8: ")
