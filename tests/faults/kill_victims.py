"""Who is killed: every command that writes and every server, each with somebody who makes it write."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.drivers.watched import until
from tests.faults.kill_world import World

PROJECT = Path(__file__).parents[2]
END_S = 120.0


@dataclass
class Victim:
    """A process at work in a group of its own, and what it said it had kept."""

    name: str
    process: subprocess.Popen[str]
    drive: Callable[[Victim], None]
    port: int = 0
    notes: set[str] = field(default_factory=set)
    runs: set[str] = field(default_factory=set)
    thread: threading.Thread | None = None

    def work(self) -> None:
        """Let it work, in a thread that ends when the process does."""
        self.thread = threading.Thread(target=self.drive, args=(self,))
        self.thread.start()

    def kill(self, dice: random.Random, *, how: str) -> bool:
        """Whether it was at work when it was killed: itself, its whole group or one of its workers."""
        met = self.process.poll() is None
        workers = children(self.process.pid) if how == "worker" else []
        if workers:
            with suppress(ProcessLookupError):
                os.kill(dice.choice(workers), signal.SIGKILL)
            if self.name in SERVERS:
                time.sleep(0.2)
        if how == "group":
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        elif not workers or self.name in SERVERS:
            self.process.kill()
        return met

    def end(self) -> None:
        """Wait for the end of the process, of who drives it, and of every process it had started."""
        self.process.wait(END_S)
        if self.thread:
            self.thread.join(END_S)
            assert not self.thread.is_alive()
        left = until(lambda: not is_group(self.process.pid), seconds=30)
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                with suppress(BrokenPipeError):
                    stream.close()
        assert left, f"{self.name} left processes behind: {children(self.process.pid)}"
        # 1: a worker was killed, and its file failed alone.
        assert self.process.returncode in (0, 1, -9), f"{self.name} ended with {self.process.returncode}"


def children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def is_group(leader: int) -> bool:
    with suppress(ProcessLookupError):
        os.killpg(leader, 0)
        return True
    return False


# --- those who make it write -----------------------------------------------------------------------------


def listen(victim: Victim) -> None:
    """Read what a victim says of itself; a last line that was cut by the kill says nothing."""
    assert victim.process.stdout
    for line in victim.process.stdout:
        what, _, name = line.rstrip("\n").partition(" ")
        if line.endswith("\n") and what in ("note", "run"):
            (victim.notes if what == "note" else victim.runs).add(name)


def wait(victim: Victim) -> None:
    victim.process.wait(END_S)


def write_over_http(victim: Victim) -> None:
    """Save notes, record runs and ingest over HTTP, until there is no answer any more."""
    number = 0
    with suppress(OSError, http.client.HTTPException):
        while victim.process.poll() is None:
            text, key = f"zh{victim.process.pid}n{number} by wire", f"zh{victim.process.pid}-{number}"
            if _post(victim.port, "ingest/text", {"text": text, "title": f"Wire {number}"}):
                victim.notes.add(text)
            if _post(victim.port, "memory/record", _run(key)):
                victim.runs.add(key)
            if number % 3 == 2:
                _post(victim.port, "ingest", {})
            number += 1


def _run(key: str) -> dict[str, object]:
    return {"task_description": f"mend {key}", "success": True, "id": key, "agent_id": "wire"}


def _post(port: int, path: str, body: dict[str, object]) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        headers = {"content-type": "application/json"}
        connection.request("POST", f"/api/v1/{path}", json.dumps(body).encode(), headers)
        reply = connection.getresponse()
        reply.read()
        return reply.status == 200
    finally:
        connection.close()


def write_over_stdio(victim: Victim) -> None:
    """The same as an agent does it, on standard input and output."""
    number = 0
    with suppress(OSError, ValueError):
        while victim.process.poll() is None:
            text, key = f"zm{victim.process.pid}n{number} by agent", f"zm{victim.process.pid}-{number}"
            if _called(victim, "ingest_text", {"text": text, "title": f"Agent {number}"}):
                victim.notes.add(text)
            if _called(victim, "memory_record", _run(key)):
                victim.runs.add(key)
            number += 1


def _called(victim: Victim, tool: str, arguments: dict[str, object]) -> bool:
    reply = asked(victim, "tools/call", {"name": tool, "arguments": arguments})
    return "result" in reply and not reply["result"].get("isError")


def asked(victim: Victim, method: str, params: dict[str, object]) -> dict[str, dict[str, object]]:
    """Raises ValueError when the server is gone before it answered."""
    _send(victim, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    assert victim.process.stdout
    while line := victim.process.stdout.readline():
        reply: dict[str, dict[str, object]] = json.loads(line)
        if "id" in reply:
            return reply
    raise ValueError("the server is gone")


def _send(victim: Victim, message: dict[str, object]) -> None:
    assert victim.process.stdin
    victim.process.stdin.write(json.dumps(message) + "\n")
    victim.process.stdin.flush()


# --- the table ---------------------------------------------------------------------------------------------


def _started(name: str, arguments: list[str], drive: Callable[[Victim], None]) -> Victim:
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=PROJECT,
        text=True,
        encoding="utf-8",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return Victim(name, process, drive)


def task(name: str) -> Callable[[World], Victim]:
    def start(world: World) -> Victim:
        victim = _started(name, ["tests.faults.kill_victim", name, str(world.config)], listen)
        assert victim.process.stdout
        assert victim.process.stdout.readline() == "begin\n"
        return victim

    return start


def watch(world: World) -> Victim:
    return _started("watch", ["kebab", "--config", str(world.config), "watch"], wait)


def serve(world: World) -> Victim:
    port = free_port()
    arguments = ["kebab", "--config", str(world.config), "serve", "--watch", "--port", str(port)]
    victim = _started("serve", arguments, write_over_http)
    victim.port = port
    assert until(lambda: _answers(port) or victim.process.poll() is not None)
    return victim


def mcp(world: World) -> Victim:
    victim = _started("mcp", ["kebab", "--config", str(world.config), "mcp", "--watch"], write_over_stdio)
    client = {"name": "harbour", "version": "1"}
    params: dict[str, object] = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    asked(victim, "initialize", params)
    _send(victim, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    return victim


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


SERVERS: dict[str, Callable[[World], Victim]] = {"watch": watch, "serve": serve, "mcp": mcp}
TASK_NAMES = ("ingest", "force", "rebuild", "index", "repair", "notes", "record", "move", "prune")
VICTIMS = SERVERS | {name: task(name) for name in TASK_NAMES}
LASTS_S = {"watch": 2.5, "serve": 1.5, "mcp": 1.5, "move": 2.0, "record": 1.5}
"""Within how many seconds of its beginning a victim is killed; 1.0 where nothing is said."""
