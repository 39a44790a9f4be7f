"""The MCP server in a process of its own, over standard input and output and over HTTP."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, TypeVar

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.drivers.conftest import Cli
from tests.drivers.mcp_talk import failed, structured, told

T = TypeVar("T")


def over_stdio(cli: Cli, talk: Callable[[Client], Awaitable[T]], *arguments: str) -> T:
    command, *rest = cli.command("mcp", *arguments)
    started = StdioServerParameters(command=command, args=rest, env=cli.environ, cwd=str(cli.cwd))

    async def run() -> T:
        with open(os.devnull, "w") as quiet:
            async with Client(stdio_client(started, errlog=quiet)) as client:
                return await talk(client)

    return anyio.run(run)


@contextmanager
def serving(cli: Cli, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server that runs while the block does, and its port."""
    process = subprocess.Popen(
        cli.command("mcp", "--http", "0", *arguments),
        cwd=cli.cwd,
        env=cli.environ,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stderr
        said = process.stderr.readline()
        port = re.search(r"http://127\.0\.0\.1:(\d+)/mcp", said)
        assert port, said
        yield process, int(port[1])
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture(scope="module")
def port(library: Cli) -> Iterator[int]:
    with serving(library, "--readonly") as (_, port):
        yield port


def sent(
    port: int, *, host: str | None = None, origin: str | None = None, body: bytes = b"", path: str = "/mcp"
) -> int:
    """The status that a bare request gets, 0 where the connection is closed instead."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest("POST", path, skip_host=True)
    if host is not None:
        connection.putheader("Host", host)
    if origin is not None:
        connection.putheader("Origin", origin)
    for name, value in (
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("Content-Length", str(len(body))),
    ):
        connection.putheader(name, value)
    with closing(connection):
        try:
            connection.endheaders(body)
            with connection.getresponse() as response:
                response.read()
                return response.status
        except ConnectionError:
            return 0


HELLO = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
).encode()


def test_the_official_client_finds_and_reads_over_stdio(library: Cli) -> None:
    async def talk(client: Client) -> tuple[Any, Any]:
        found = await client.call_tool("search", {"query": "restic restore", "k": 2})
        uri = structured(found)["hits"][0]["citation"]["uri"]
        return uri, await client.call_tool("fetch", {"reference": uri})

    uri, read = over_stdio(library, talk, "--readonly")
    assert structured(read)["citation"]["uri"] == uri


def test_the_official_client_finds_and_reads_over_http(port: int) -> None:
    async def talk() -> str:
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            return told(await client.call_tool("search", {"query": "restic restore", "k": 2}))

    assert "homelab/백업.md" in anyio.run(talk)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_old_and_new_versions_of_the_protocol_are_spoken(port: int, mode: str) -> None:
    async def talk() -> list[str]:
        async with Client(f"http://127.0.0.1:{port}/mcp", mode=mode) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert "search" in anyio.run(talk)


def test_clients_over_http_do_not_wait_for_each_other(port: int) -> None:
    async def one(found: list[str]) -> None:
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            found.append(told(await client.call_tool("search", {"query": "restic", "k": 1})))

    async def all_of_them() -> list[str]:
        found: list[str] = []
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(one, found)
        return found

    found = anyio.run(all_of_them)
    assert len(found) == 10
    assert len(set(found)) == 1


def test_a_request_for_this_computer_is_answered(port: int) -> None:
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert sent(port, host=f"{name}:{port}", body=HELLO) == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1:{port}.evil.example",
        "127.0.0.1",
        "localhost:1",
        "127.0.0.1:{port}@evil.example",
        "",
        None,
    ],
)
def test_a_request_under_another_name_is_refused(port: int, host: str | None) -> None:
    """What DNS rebinding does: the site's own name points to this computer."""
    named = host.format(port=port) if host is not None else None
    assert sent(port, host=named, body=HELLO) in (0, 400, 421)


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://localhost:1",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1",
        "x",
    ],
)
def test_a_request_from_another_site_is_refused(port: int, origin: str) -> None:
    answer = sent(port, host=f"127.0.0.1:{port}", origin=origin.format(port=port), body=HELLO)
    assert answer == 403


def test_a_page_of_this_server_may_ask(port: int) -> None:
    answer = sent(port, host=f"localhost:{port}", origin=f"http://localhost:{port}", body=HELLO)
    assert answer == 200


def test_another_path_is_not_found(port: int) -> None:
    assert sent(port, host=f"127.0.0.1:{port}", path="/", body=HELLO) == 404


def large_call(size: int) -> bytes:
    arguments = {"name": "search", "arguments": {"query": "x" * size}}
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": arguments}
    return json.dumps(message).encode()


def test_ten_megabytes_of_arguments_are_refused_over_http(port: int) -> None:
    assert sent(port, host=f"127.0.0.1:{port}", body=large_call(10 << 20)) in (0, 413)
    assert sent(port, host=f"127.0.0.1:{port}", body=HELLO) == 200


def test_ten_megabytes_of_arguments_are_refused_over_stdio(library: Cli) -> None:
    async def talk(client: Client) -> tuple[Any, Any]:
        refused = await client.call_tool("search", {"query": "x" * (10 << 20)})
        return refused, await client.call_tool("search", {"query": "restic", "k": 1})

    refused, found = over_stdio(library, talk, "--readonly")
    assert failed(refused) == "invalid_input"
    assert structured(found)["hits"]


def test_a_server_that_loses_its_client_ends(library: Cli) -> None:
    process = subprocess.Popen(
        library.command("mcp"), cwd=library.cwd, env=library.environ, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    _, said = process.communicate(b"", timeout=30)
    assert process.returncode == 0, said


def test_a_line_that_is_no_message_does_not_end_the_server(library: Cli) -> None:
    lines = b"not json\n{}\n[1,2]\n" + b"\xff\xfe\n" + HELLO + b"\n"
    done = subprocess.run(
        library.command("mcp"),
        cwd=library.cwd,
        env=library.environ,
        input=lines,
        capture_output=True,
        timeout=30,
    )
    assert done.returncode == 0
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert any(answer.get("id") == 1 and "result" in answer for answer in answers)
    assert b"Traceback" not in done.stdout


def test_a_taken_port_is_named(library: Cli, port: int) -> None:
    refused = library("mcp", "--http", str(port))
    assert refused.code == 2
    assert f"port {port} cannot be used" in refused.err


@pytest.mark.slow
def test_a_server_is_ready_not_long_after_the_sdk_is_loaded(library: Cli) -> None:
    """Against the bare SDK, since the machine may be busy; docs/agents.md has the figure of a quieter one."""

    def seconds(*command: str) -> float:
        begun = time.perf_counter()
        subprocess.run(
            command, cwd=library.cwd, env=library.environ, input=HELLO + b"\n", capture_output=True
        )
        return time.perf_counter() - begun

    bare = (library.command()[0], "-c", "import mcp.server.lowlevel.server, mcp.server.stdio")
    sdk, ready = (min(seconds(*command) for _ in range(4)) for command in (bare, library.command("mcp")))
    assert ready < 2 * sdk + 0.3


def test_walls_given_at_the_start_hold_for_every_client(library: Cli) -> None:
    async def talk(client: Client) -> list[Any]:
        listed = structured(await client.call_tool("list_documents", {"limit": 1000}))
        return [doc["doc_path"] for doc in listed["documents"]]

    inside = over_stdio(library, talk, "--path", "homelab/**", "--scope", "project=atlas")
    assert inside
    assert all(path.startswith("homelab/") for path in inside)


@pytest.mark.parametrize("walls", [("--scope", "atlas"), ("--scope", "planet=mars"), ("--source", "nosuch")])
def test_a_wall_that_cannot_be_is_refused_at_the_start(library: Cli, walls: tuple[str, str]) -> None:
    refused = library("mcp", *walls)
    assert refused.code == 2
    assert refused.err.startswith("error: ")


def test_what_is_saved_while_the_server_watches_can_be_found(cli: Cli) -> None:
    (cli.cwd / "in").mkdir()
    (cli.cwd / "in" / "a.md").write_text("# A\n\nan ibex\n")
    (cli.cwd / "out.md").write_text("# Out\n\na capybara\n")
    assert cli("init", ".").code == 0
    assert cli("ingest").code == 0

    async def talk(client: Client) -> str:
        (cli.cwd / "in" / "new.md").write_text("# New\n\na tapir\n")
        for _ in range(100):
            found = structured(await client.call_tool("search", {"query": "tapir"}))["hits"]
            if found:
                return str(found[0]["doc_path"])
            await anyio.sleep(0.1)
        return "nothing"

    assert over_stdio(cli, talk, "--watch", "--path", "in/**") == "in/new.md"


def test_watching_is_refused_where_nothing_may_be_written(library: Cli) -> None:
    refused = library("mcp", "--watch", "--readonly", "--json")
    assert refused.error["code"] == "readonly"
