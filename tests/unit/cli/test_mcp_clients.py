"""Setting kebab up in MCP clients: what they have stays, and what cannot be read is not touched."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.cli.mcp_clients import CLIENTS, NAME
from kebab.cli.mcp_install import BACKUP, add
from kebab.errors import InvalidInput

COMMAND = ["/opt/my kebab/kebab", "mcp", "--path", 'a"b/**', "--scope", "project=한글"]
KEYS = {"claude-code": "mcpServers", "claude-desktop": "mcpServers", "cursor": "mcpServers"} | {
    "vscode": "servers",
    "zed": "context_servers",
}

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("name", CLIENTS)
def test_what_is_printed_starts_the_server_with_its_arguments(name: str) -> None:
    text = CLIENTS[name].written(COMMAND)
    held: Any = tomllib.loads(text)["mcp_servers"] if name == "codex" else json.loads(text)[KEYS[name]]
    assert [held[NAME]["command"], *held[NAME]["args"]] == COMMAND


@pytest.mark.parametrize("name", KEYS)
@given(held=st.dictionaries(st.text(max_size=8), plain, max_size=4), others=st.dictionaries(
    st.text(max_size=8).filter(lambda key: key != NAME), plain, max_size=3
))  # fmt: skip
def test_everything_else_in_the_file_stays(name: str, held: dict[str, Any], others: dict[str, Any]) -> None:
    before = {**held, KEYS[name]: others}
    after = json.loads(CLIENTS[name].merged(json.dumps(before), COMMAND, False))
    del after[KEYS[name]][NAME]
    assert after == before


@pytest.mark.parametrize("name", CLIENTS)
def test_adding_it_twice_is_adding_it_once(name: str) -> None:
    once = CLIENTS[name].merged("", COMMAND, False)
    assert CLIENTS[name].merged(once, COMMAND, False) == once


@pytest.mark.parametrize("name", CLIENTS)
def test_another_server_of_that_name_is_not_replaced_unasked(name: str) -> None:
    taken = CLIENTS[name].merged("", ["/other/kebab", "mcp"], False)
    with pytest.raises(InvalidInput, match="already"):
        CLIENTS[name].merged(taken, COMMAND, False)


@pytest.mark.parametrize("text", ['{"a": 1} // mine', '{"a": 1,}', "[1]", '{"mcpServers": 3}'])
def test_a_file_that_is_not_plain_json_is_not_touched(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(text)
    with pytest.raises(InvalidInput):
        add(CLIENTS["cursor"], file, COMMAND, force=True)
    assert file.read_text() == text
    assert list(tmp_path.iterdir()) == [file]


def test_comments_of_a_toml_file_stay() -> None:
    before = '# mine\nmodel = "o9"  # best\n\n[mcp_servers.other]\ncommand = "x"\n'
    after = CLIENTS["codex"].merged(before, COMMAND, False)
    assert after.startswith(before.rstrip())
    assert tomllib.loads(after)["mcp_servers"].keys() == {"other", NAME}


def test_a_file_that_is_changed_is_kept_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "mcp.json"
    assert add(CLIENTS["cursor"], file, COMMAND, force=False)
    assert not file.with_name(file.name + BACKUP).exists()
    file.write_text('{\n\t"mine": 1\n}\n')
    assert add(CLIENTS["cursor"], file, COMMAND, force=False)
    assert file.with_name(file.name + BACKUP).read_text() == '{\n\t"mine": 1\n}\n'
    assert '\n\t"mcpServers"' in file.read_text()
    assert not add(CLIENTS["cursor"], file, COMMAND, force=False)


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles.json").write_text("{}")
    (tmp_path / "mcp.json").symlink_to(tmp_path / "dotfiles.json")
    add(CLIENTS["cursor"], tmp_path / "mcp.json", COMMAND, force=False)
    assert (tmp_path / "mcp.json").is_symlink()
    assert NAME in (tmp_path / "dotfiles.json").read_text()


def test_each_client_has_a_file_of_its_own(tmp_path: Path) -> None:
    places = {
        name: client.place(tmp_path / "here", tmp_path / "home", {}) for name, client in CLIENTS.items()
    }
    assert len(set(places.values())) == len(CLIENTS)
    assert places["claude-code"] == tmp_path / "here" / ".mcp.json"
    assert places["codex"] == tmp_path / "home" / ".codex" / "config.toml"
    assert places["vscode"] == tmp_path / "here" / ".vscode" / "mcp.json"
