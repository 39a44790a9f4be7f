"""Secrets in settings and in the environment: no command, server or file of ours ever repeats them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kebab.app import Kebab
from kebab.cli import kebab
from kebab.cli.errors import report
from kebab.web.app import create_app
from tests.drivers.mcp_talk import calls, everything
from tests.drivers.test_cli_hostile import Place, Stream, names

PASSWORD, KEY, MEMORY, QUERY = "pw4hunter2x", "k3yhunter2y", "m3mhunter2z", "q5hunter2w"
SECRETS = (PASSWORD, KEY, MEMORY, QUERY)
NOWHERE = f"http://reader:{PASSWORD}@127.0.0.1:9/v1?sig={QUERY}"

CONFIG = f"""
[workspace]
root = "{{root}}"
[storage]
data_dir = "{{data}}"
[models.embedding]
provider = "{{embedding}}"
model = "some-model"
endpoint = "{NOWHERE}"
api_key_env = "SOME_KEY"
[models.llm]
provider = "openai"
model = "some-model"
endpoint = "{NOWHERE}"
api_key_env = "SOME_KEY"
timeout_s = 2.0
[memory]
url = "{{memory}}"
"""

GIVEN: dict[str, tuple[str, ...]] = {
    "ask": ("Which rope is dry?",),
    "brief": ("mend the rope",),
    "search": ("rope",),
    "ingest": ("--force",),
    "index": ("--rebuild",),
    "doctor": ("--repair",),
    "links": ("a.md",),
    "related": ("a.md",),
    "why": ("a.md", "rope"),
    "inspect doc": ("a.md",),
    "fetch doc": ("a.md",),
    "export": ("out.kebab", "--force"),
    "import": ("nothing.kebab",),
    "reset": ("index", "--yes"),
    "memory record": ("mend the rope", "--agent", "a"),
    "memory search": ("rope",),
    "memory advise": ("rope",),
    "memory prune": ("--older-than", "1d"),
    "memory export": ("runs.ndjson",),
    "models use": ("other",),
    "trust": ("--list",),
}
"""Arguments where a command needs some; the others are run without, which may be an error that it tells."""
STAYS = {"demo", "serve", "tui", "watch", "mcp", "chat", "init"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "notes").mkdir()
    (folder / "home").mkdir()
    (folder / "notes" / "a.md").write_text("# Rope\n\nThe rope of the ship is dry.\n", encoding="utf-8")
    kept = dict(os.environ)
    for name in [name for name in os.environ if name.startswith(("XDG_", "KEBAB_"))]:
        del os.environ[name]
    os.environ.update(
        HOME=str(folder / "home"), SOME_KEY=KEY, KEBAB_MEMORY_USER="root", KEBAB_MEMORY_PASSWORD=MEMORY
    )
    configure(folder, embedding="none", memory="")
    place = Place(folder)
    place.run("ingest", "--config", "config.toml")
    yield place
    os.environ.clear()
    os.environ.update(kept)


def configure(folder: Path, *, embedding: str, memory: str) -> Path:
    values = {"root": str(folder / "notes"), "data": str(folder / "data")}
    file = folder / "config.toml"
    file.write_text(CONFIG.format(**values, embedding=embedding, memory=memory), encoding="utf-8")
    return file


def said(place: Place, *arguments: str) -> str:
    """Everything that a command says, its failure included."""
    try:
        out, err = place.run(*arguments)
    except BaseException as error:  # noqa: BLE001 - what people see of it is what counts
        import contextlib

        told = Stream(terminal=False)
        with contextlib.redirect_stderr(told):
            report(error, arguments=arguments)
        return told.text
    return out + err


def test_the_commands_with_arguments_exist() -> None:
    assert set(GIVEN) | STAYS <= set(names(kebab))


@pytest.mark.parametrize("how", [("--json",), ("--verbose",)], ids=["json", "verbose"])
@pytest.mark.parametrize(
    ("embedding", "memory"),
    [("none", ""), ("openai", f"ws://root:{PASSWORD}@127.0.0.1:9/rpc")],
    ids=["words", "servers that are not there"],
)
def test_no_command_repeats_a_secret(place: Place, embedding: str, memory: str, how: tuple[str, ...]) -> None:
    file = configure(place.folder, embedding=embedding, memory=memory)
    told = {}
    for command in names(kebab):
        if command not in STAYS:
            told[command] = said(
                place, *command.split(), *GIVEN.get(command, ()), "--config", str(file), *how
            )
    assert {command for command, text in told.items() if any(secret in text for secret in SECRETS)} == set()
    assert "127.0.0.1:9" in "".join(told.values()), "no command named the servers, so nothing was tried"


def test_no_server_repeats_a_secret(place: Place) -> None:
    file = configure(place.folder, embedding="openai", memory=f"ws://root:{PASSWORD}@127.0.0.1:9/rpc")
    with Kebab.open(file) as kb:
        client = TestClient(create_app(kb), base_url="http://localhost", raise_server_exceptions=False)
        paths = ("settings", "status", "doctor", "sources", "runs", "search?query=rope", "memory/executions")
        texts = [client.get(f"/api/v1/{path}").text for path in paths]
        texts.append(client.post("/api/v1/ask", json={"question": "Which rope is dry?"}).text)
        asked = [
            ("search", {"query": "rope"}),
            ("ask", {"question": "Is it dry?"}),
            ("memory_search", {"text": "rope"}),
        ]
        texts.append(everything(calls(kb, *asked)))
    assert "***" in texts[0]
    assert not [text for text in texts if any(secret in text for secret in SECRETS)]


def test_no_file_of_ours_holds_a_secret(place: Place) -> None:
    kept = [file for file in place.folder.rglob("*") if file.is_file() and file.name != "config.toml"]
    assert [file.name for file in kept if file.name == "kebab.sqlite"]
    holding = [file for file in kept if any(secret.encode() in file.read_bytes() for secret in SECRETS)]
    assert holding == []
