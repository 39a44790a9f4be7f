"""Real Qdrant servers on loopback, for tests and benchmarks: one, or a cluster of several nodes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.ray_nodes import free_port

NEEDED = "needs the Qdrant server: make .venv/.qdrant"
_READY_S = 60.0


def program() -> str | None:
    """The server, where it is installed."""
    beside = Path(sys.executable).parents[1] / "qdrant" / "package" / "bin" / "qdrant"
    return str(beside) if beside.exists() else shutil.which("qdrant")


@dataclass
class Node:
    folder: Path
    http: int = field(default_factory=free_port)
    grpc: int = field(default_factory=free_port)
    p2p: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    def start(self, *, first: Node | None, clustered: bool) -> None:
        """Start, or start again on the same data; ``first`` is the node to join."""
        own = {
            "QDRANT__SERVICE__HOST": "127.0.0.1",
            "QDRANT__SERVICE__HTTP_PORT": str(self.http),
            "QDRANT__SERVICE__GRPC_PORT": str(self.grpc),
            "QDRANT__CLUSTER__ENABLED": "true" if clustered else "false",
            "QDRANT__CLUSTER__P2P__PORT": str(self.p2p),
            "QDRANT__TELEMETRY_DISABLED": "true",
            "QDRANT__STORAGE__STORAGE_PATH": str(self.folder / "storage"),
            "QDRANT__STORAGE__SNAPSHOTS_PATH": str(self.folder / "snapshots"),
            "QDRANT__LOG_LEVEL": "WARN",
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [str(program()), "--disable-telemetry"]
        if clustered:
            command += ["--uri", f"http://127.0.0.1:{self.p2p}"]
        if first is not None:
            command += ["--bootstrap", f"http://127.0.0.1:{first.p2p}"]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command, env={**os.environ, **own}, cwd=self.folder, stdout=log, stderr=log
            )
        self.wait()

    def wait(self) -> None:
        deadline = time.monotonic() + _READY_S
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/readyz", timeout=2):
                    return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError((self.folder / "log").read_text()[-2000:])

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def get(self, path: str) -> object:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}{path}", timeout=10) as reply:
            return json.load(reply)["result"]


@contextmanager
def running_qdrant(folder: Path, *, nodes: int = 1) -> Iterator[list[Node]]:
    """A server, or a cluster of several nodes, in a folder."""
    made = [Node(folder / f"node-{number}") for number in range(nodes)]
    try:
        for node in made:
            node.start(first=None if node is made[0] else made[0], clustered=nodes > 1)
        yield made
    finally:
        for node in made:
            node.kill()


def address(nodes: list[Node], name: str) -> str:
    return f"qdrant://{','.join(f'127.0.0.1:{node.http}' for node in nodes)}/{name}"
