"""The protocol's own conformance checks, run against ``kebab mcp --http``.

Left out are the scenarios that ask for things a server need not have (logging, sampling, elicitation,
subscriptions) or for tools, resources and prompts of fixed names that only a demonstration server has.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drivers.conftest import Cli
from tests.drivers.test_mcp_transports import serving

CHECKS = Path(sys.prefix) / "conformance" / "node_modules"
NODE = CHECKS / "node" / "bin" / "node"
RUNNER = CHECKS / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"

SCENARIOS = (
    "server-initialize",
    "ping",
    "completion-complete",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (NODE.exists() and RUNNER.exists()),
        reason="the MCP conformance checks are not installed: make .venv/.conformance (needs npm)",
    ),
]


@pytest.fixture(scope="module")
def port(library: Cli) -> Iterator[int]:
    with serving(library, "--readonly") as (_, port):
        yield port


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_server_conforms_to_the_protocol(port: int, scenario: str) -> None:
    address = f"http://127.0.0.1:{port}/mcp"
    command = [str(NODE), str(RUNNER), "server", "--url", address, "--scenario", scenario]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "Passed: " in run.stdout, run.stdout + run.stderr
    assert ", 0 failed" in run.stdout, run.stdout
    assert run.returncode == 0, run.stdout
