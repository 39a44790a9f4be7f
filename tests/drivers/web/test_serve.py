"""``kebab serve`` as a process: one for the page, the interface, MCP and the watcher."""

from __future__ import annotations

import json
import signal
import socket
import ssl
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import anyio
import pytest
from mcp.client.client import Client

from tests.drivers.conftest import Cli


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True, slots=True)
class Process:
    url: str
    running: subprocess.Popen[str]
    told: list[str]

    def get(self, path: str, **parameters: str) -> Any:
        with urlopen(f"{self.url}/api/v1{path}?{urlencode(parameters)}", timeout=20) as response:
            return json.loads(response.read())


@contextmanager
def serving(
    cli: Cli, *options: str, scheme: str = "http", end: signal.Signals = signal.SIGINT
) -> Iterator[Process]:
    port = free_port()
    running = subprocess.Popen(
        cli.command("serve", "--port", str(port), *options),
        cwd=cli.cwd,
        env=cli.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    told: list[str] = []
    assert running.stderr is not None
    try:
        for line in running.stderr:
            told.append(line)
            if "listens at" in line:
                break
        yield Process(f"{scheme}://127.0.0.1:{port}", running, told)
    finally:
        running.send_signal(end)
        running.wait(30)
        running.stdout.close() if running.stdout else None
        running.stderr.close()


def until(true: Any) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.1)


@pytest.fixture
def notes(cli: Cli) -> Cli:
    (cli.cwd / "one.md").write_text("# One\n\nThe heron nests by the lock.\n", encoding="utf-8")
    assert cli("init", ".").code == 0
    assert cli("ingest").code == 0
    return cli


@pytest.mark.slow
def test_one_process_serves_the_page_the_interface_mcp_and_follows_the_files(notes: Cli) -> None:
    with serving(notes, "--watch", "--mcp") as process:
        with urlopen(process.url, timeout=20) as page:
            assert b"<title>kebab</title>" in page.read()
        assert process.get("/search", query="heron")["hits"]
        (notes.cwd / "two.md").write_text("# Two\n\nA walrus came to visit.\n", encoding="utf-8")
        until(lambda: process.get("/search", query="walrus", mode="lexical")["hits"])

        async def talk() -> list[str]:
            async with Client(f"{process.url}/mcp") as client:
                return [tool.name for tool in (await client.list_tools()).tools]

        assert "search" in anyio.run(talk)
        foreign = Request(f"{process.url}/mcp", data=b"{}", headers={"origin": "http://evil.example"})
        with pytest.raises(HTTPError) as refused:
            urlopen(foreign, timeout=20)
        assert refused.value.code == 403
        refused.value.close()
    assert process.running.returncode == 0


@pytest.mark.slow
def test_a_server_for_other_computers_shows_its_token_once_and_asks_for_it(notes: Cli) -> None:
    with serving(notes, "--host", "0.0.0.0") as process:
        told = "".join(process.told)
        assert "can be reached from other computers" in told
        token = told.split("#token=")[1].split()[0]
        file = notes.cwd / ".kebab" / "data" / "serve.token"
        assert file.read_text().strip() == token
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        with pytest.raises(HTTPError) as refused:
            process.get("/status")
        assert refused.value.code == 401
        refused.value.close()
        asked = Request(f"{process.url}/api/v1/status", headers={"authorization": f"Bearer {token}"})
        with urlopen(asked, timeout=20) as response:
            assert response.status == 200
    with serving(notes, "--host", "0.0.0.0", end=signal.SIGTERM) as process:
        assert token not in "".join(process.told)
    assert process.running.returncode == 0


@pytest.mark.slow
def test_a_port_that_is_taken_is_told_in_words(notes: Cli) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = notes("serve", "--port", str(taken.getsockname()[1]))
    assert result.code == 2
    first, hint = result.err.splitlines()
    assert first.startswith("error: ")
    assert first.endswith("cannot be listened at: Address already in use")
    assert "--port" in hint


@pytest.mark.slow
def test_with_a_certificate_the_server_speaks_tls(notes: Cli) -> None:
    made = subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            "key.pem",
            "-out",
            "cert.pem",
            "-days",
            "1",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
        ],
        cwd=notes.home,
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("openssl cannot make a certificate here")
    certificate, key = str(notes.home / "cert.pem"), str(notes.home / "key.pem")
    with serving(notes, "--tls-cert", certificate, "--tls-key", key, scheme="https") as process:
        context = ssl.create_default_context(cafile=certificate)
        with urlopen(f"{process.url}/api/v1/status", timeout=20, context=context) as response:
            assert response.status == 200


def test_a_certificate_without_its_key_is_refused(notes: Cli) -> None:
    result = notes("serve", "--tls-cert", "cert.pem")
    assert result.code == 2
    assert "TLS needs both" in result.err
