"""``kebab watch`` in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.drivers.conftest import Cli

WAIT_S = 60.0


def until(fulfilled: Callable[[], bool], *, seconds: float = WAIT_S) -> bool:
    """Whether a condition comes true in time."""
    end = time.monotonic() + seconds
    while not fulfilled():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@dataclass
class Watched:
    """A running watcher; what it says is read from files, so that it never waits for a reader."""

    process: subprocess.Popen[bytes]
    out: Path
    err: Path

    @classmethod
    def start(cls, cli: Cli, *arguments: str, name: str = "watch", **extra: str) -> Watched:
        out, err = cli.home / f"{name}.out", cli.home / f"{name}.err"
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(
                cli.command("watch", *arguments),
                cwd=cli.cwd,
                env=cli.environ | extra,
                stdout=stdout,
                stderr=stderr,
            )
        return cls(process, out, err)

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left behind, whatever a test met."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def ready(self) -> bool:
        return until(lambda: "watching;" in self.err.read_text() or self.process.poll() is not None)

    def reports(self) -> list[Any]:
        return [json.loads(line) for line in self.out.read_text().splitlines() if line.endswith("}")]

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=WAIT_S)
