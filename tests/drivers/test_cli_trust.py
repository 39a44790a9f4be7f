"""A cloned repository with a hostile configuration, and the consent of its owner."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.drivers.conftest import Cli, Result
from tests.drivers.terminal import answering

SECRET = "wJalrXUtnFEMI"
HOSTILE = """
[workspace]
root = "~"
[models.embedding]
provider = "openai"
model = "any"
endpoint = "{address}"
api_key_env = "AWS_SECRET_ACCESS_KEY"
"""


class Listener:
    """A foreign endpoint that embeds whatever it is sent, and keeps it."""

    def __init__(self) -> None:
        self.received: list[str] = []
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                listener.received.append(f"{self.headers}{body.decode()}")
                count = len(json.loads(body)["input"])
                reply = json.dumps({"data": [{"index": n, "embedding": [1.0, 0.0]} for n in range(count)]})
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(reply.encode())

            def log_message(self, *_: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def planted(cli: Cli, listener: Listener) -> Cli:
    """The command in a subfolder of a clone whose file asks for the home folder and a secret."""
    (cli.home / "diary.md").write_text("# Diary\n\nnobody else reads this\n", encoding="utf-8")
    clone = cli.home / "src" / "clone"
    below = clone / "docs" / "deep"
    below.mkdir(parents=True)
    (below / "readme.md").write_text("# Readme\n\nharmless\n", encoding="utf-8")
    (clone / ".kebab").mkdir()
    (clone / ".kebab" / "config.toml").write_text(HOSTILE.format(address=listener.address), encoding="utf-8")
    # The provider that the tests set by the environment would hide what the file asks for.
    return PlainCli(below, cli.home, {"AWS_SECRET_ACCESS_KEY": SECRET})


class PlainCli(Cli):
    """The command without settings of the environment."""

    @property
    def environ(self) -> dict[str, str]:
        given = Cli.environ.fget(self)  # type: ignore[attr-defined]
        return {key: value for key, value in given.items() if not key.startswith("KEBAB_")}


def refused(result: Result) -> bool:
    named = ("workspace.root", "models.embedding.endpoint", "models.embedding.api_key_env")
    return result.code == 2 and all(key in result.err for key in named) and "kebab trust" in result.err


@pytest.mark.parametrize(
    "command",
    [["ingest"], ["search", "diary"], ["doctor"], ["index"], ["models", "list"], ["reset", "--yes"]],
)
def test_a_planted_repository_reads_nothing_outside_and_sends_nothing(
    planted: Cli, listener: Listener, command: list[str]
) -> None:
    result = planted(*command)
    assert refused(result), result
    assert listener.received == []
    assert not list(planted.home.rglob("*.sqlite*"))
    assert SECRET not in result.out + result.err


def test_a_trusted_file_is_obeyed_until_it_asks_for_more(planted: Cli, listener: Listener) -> None:
    shown = planted("trust", "--yes")
    assert shown.code == 0, shown.err
    assert 'workspace.root = "~"' in shown.out
    assert 'models.embedding.api_key_env = "AWS_SECRET_ACCESS_KEY"' in shown.out
    assert planted("ingest").code == 0
    assert any("nobody else reads this" in text and SECRET in text for text in listener.received)
    file = planted.home / "src" / "clone" / ".kebab" / "config.toml"
    file.write_text(file.read_text(encoding="utf-8") + '[memory]\nurl = "wss://h"\n', encoding="utf-8")
    result = planted("search", "diary", "--json")
    assert (result.code, result.error["code"]) == (2, "config_invalid")
    assert result.error["details"]["keys"] == ["memory.url"]


def test_trust_asks_on_a_terminal_and_takes_no_for_an_answer(planted: Cli) -> None:
    code, screen = answering(planted, "trust", answers=["n"])
    assert (code, "models.embedding.endpoint" in screen) == (1, True)
    assert refused(planted("ingest"))
    assert answering(planted, "trust", answers=["y"])[0] == 0
    assert planted("search", "diary").code == 2
    assert "not_indexed" in planted("search", "diary", "--json").err


def test_without_a_terminal_trust_needs_yes(planted: Cli) -> None:
    result = planted("trust")
    assert result.code == 2
    assert "--yes" in result.err
    assert refused(planted("ingest"))


def test_trust_is_listed_and_revoked(planted: Cli) -> None:
    clone = str(planted.home / "src" / "clone")
    assert planted("trust", "--list", "--json").json["projects"] == []
    planted("trust", clone, "--yes")
    assert planted("trust", "--list", "--json").json["projects"] == [clone]
    assert planted("trust", "--revoke").code == 0
    assert planted("trust", "--revoke").code == 1
    assert refused(planted("ingest"))


def test_trust_where_there_is_no_project_says_so(cli: Cli) -> None:
    result = cli("trust", "--json")
    assert (result.code, result.error["code"]) == (2, "config_not_found")


def test_trust_shows_neither_passwords_nor_control_characters(cli: Cli) -> None:
    file = cli.cwd / ".kebab" / "config.toml"
    file.parent.mkdir()
    text = '[memory]\nurl = "wss://root:hunter2@host/rpc"\nnamespace = "a\\u001b[2J\\u009b\\u202e"\n'
    file.write_text(text, encoding="utf-8")
    result = cli("trust", "--yes")
    assert result.code == 0
    assert "wss://***@host/rpc" in result.out
    assert "hunter2" not in result.out + result.err
    assert not set("\x1b\x9b\u202e") & set(result.out)


def test_init_trusts_what_it_writes_and_switching_the_model_keeps_trust(cli: Cli, tmp_path: Path) -> None:
    (cli.cwd / "note.md").write_text("# Note\n", encoding="utf-8")
    plain = replace(cli, extra={"KEBAB_MODELS__EMBEDDING__PROVIDER": "static"})
    assert plain("init", ".", "--data-dir", str(tmp_path / "elsewhere")).code == 0
    assert plain("ingest").code == 0
    assert (tmp_path / "elsewhere" / "kebab.sqlite").exists()
    assert plain("models", "use", "none").code == 0
    assert plain("list", "docs", "--json").code == 0


def test_switching_the_model_of_a_named_file_blesses_nothing_else_in_it(planted: Cli) -> None:
    file = planted.home / "src" / "clone" / ".kebab" / "config.toml"
    assert planted("models", "use", "none", "--config", str(file)).code == 0
    result = planted("ingest", "--json")
    assert (result.code, result.error["code"]) == (2, "config_invalid")
    assert "workspace.root" in result.error["message"]
