"""A Ray cluster on this machine: nodes as processes that the tests start and kill."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

STORE_BYTES = 80 << 20


_GIVEN: set[int] = set()


def free_port() -> int:
    """A free port below those that the system gives to connections, and above those of other test servers."""
    while True:
        port = 30_000 + secrets.randbelow(2_768)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("0.0.0.0", port))
            if port not in _GIVEN:
                _GIVEN.add(port)
                return port


@dataclass
class RayNodes:
    """Nodes on addresses of the loopback network, so that each looks like a machine of its own."""

    folder: str
    cluster_port: int = field(default_factory=free_port)
    client_port: int = field(default_factory=free_port)
    nodes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    token: str = field(default_factory=lambda: secrets.token_hex(32))

    @property
    def address(self) -> str:
        return f"ray://127.0.0.2:{self.client_port}"

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs that is to use the cluster, or to belong to it."""
        own = {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": self.token,
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_worker_niceness": "0",
            # A lost node is believed to be lost after five seconds, not after half a minute.
            "RAY_health_check_period_ms": "1000",
        }
        return {**os.environ, **own}

    def start(self, *, cores: int = 1) -> subprocess.Popen[bytes]:
        """One more node; the first one leads the cluster and cannot be lost."""
        if not self.nodes:
            ports = [f"--port={self.cluster_port}", f"--ray-client-server-port={self.client_port}"]
            which = ["--head", *ports, "--include-dashboard=false", f"--temp-dir={self.folder}"]
        else:
            which = [f"--address=127.0.0.2:{self.cluster_port}"]
        node = subprocess.Popen(
            [
                sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *which,
                f"--node-ip-address=127.0.0.{2 + len(self.nodes)}", f"--num-cpus={cores}",
                f"--object-store-memory={STORE_BYTES}", "--disable-usage-stats",
                # Workers ask the system for ports: by default they take 10,002 and up, as other servers do.
                "--min-worker-port=0", "--max-worker-port=0",
            ],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        self.nodes.append(node)
        return node

    def wait(self, *, cores: int, seconds: float = 90) -> None:
        """Until the cluster has so many cores."""
        asking = (
            "import ray, time\n"
            f"ray.init({self.address!r})\n"
            f"while ray.cluster_resources().get('CPU', 0) < {cores}: time.sleep(0.2)\n"
        )
        deadline = time.monotonic() + seconds
        while True:
            asked = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", asking],
                env=self.environment, timeout=max(1.0, deadline - time.monotonic()), check=False,
                capture_output=True,
            )  # fmt: skip
            if asked.returncode == 0:
                return

    def listening(self, *, seconds: float = 90) -> None:
        """Until the first node can be spoken to."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.2", self.client_port)) == 0:
                    return
            time.sleep(0.2)

    def kill(self, node: subprocess.Popen[bytes]) -> None:
        """As a power cut would: every process of the node at once."""
        for pid in [*_descendants(node.pid), node.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        node.wait()


@contextmanager
def ray_nodes(count: int) -> Iterator[RayNodes]:
    """A running cluster of so many nodes with a core each."""
    # Not below pytest's folder: the path of a socket has a hundred characters at most.
    with tempfile.TemporaryDirectory(prefix="kebab-ray-", ignore_cleanup_errors=True) as folder:
        cluster = RayNodes(folder)
        try:
            cluster.start()
            cluster.listening()
            for _ in range(1, count):
                cluster.start()
            cluster.wait(cores=count)
            yield cluster
        finally:
            for node in reversed(cluster.nodes):
                cluster.kill(node)


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in task.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *_descendants(child)]
    return found
