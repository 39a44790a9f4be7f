"""Many processes on one memory, some of them killed: what was acknowledged is there once, and nobody failed.

``KEBAB_CROWD=120 pytest -s tests/faults/test_memory_crowd.py`` runs 16 that record and 8 that search for so
many seconds, and then again with 100 kills; it prints the percentiles.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytest.importorskip("surrealdb", reason="the memory extra is not installed")

from tests.faults.memory_crowd_worker import engines_of, memory_of

LONG = float(os.environ.get("KEBAB_CROWD", "0"))
SECONDS = LONG or 4.0
RECORDERS, SEARCHERS = (16, 8) if LONG else (5, 2)
KILLS = 100 if LONG else 6

pytestmark = pytest.mark.slow


@dataclass
class Crowd:
    folder: Path
    told: list[str] = field(default_factory=list)
    living: list[tuple[str, subprocess.Popen[str]]] = field(default_factory=list)
    readers: list[threading.Thread] = field(default_factory=list)
    started: Counter[str] = field(default_factory=Counter)

    def start(self, what: str, name: str, *, seconds: float) -> None:
        """A new process; one that comes after a killed one has a name of its own."""
        self.started[name] += 1
        own = f"{name}-{self.started[name]}"
        arguments = [what, str(self.folder), own, "2", f"{seconds:.1f}"]
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.memory_crowd_worker", *arguments],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.living.append((what, process))
        reader = threading.Thread(target=self._listen, args=(process,))
        reader.start()
        self.readers.append(reader)

    def kill_one(self, dice: random.Random) -> str:
        place = dice.randrange(len(self.living))
        what, process = self.living.pop(place)
        process.kill()
        process.wait()
        return what

    def wait(self) -> None:
        assert [process.wait(timeout=180) for _, process in self.living] == [0] * len(self.living)
        for reader in self.readers:
            reader.join(timeout=60)

    def acknowledged(self) -> list[str]:
        return [line.split()[1] for line in self.told if line.startswith("record ")]

    def failures(self) -> list[str]:
        return [line for line in self.told if line.startswith("error ")]

    def times(self, what: str) -> list[float]:
        return sorted(float(line.split()[2]) for line in self.told if line.startswith(f"{what} "))

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                if line.endswith("\n"):
                    self.told.append(line.strip())


@pytest.fixture
def crowd(tmp_path: Path) -> Iterator[Crowd]:
    made = Crowd(tmp_path / "memory")
    yield made
    for _, process in made.living:
        if process.poll() is None:
            process.kill()
            process.wait()
    for reader in made.readers:
        reader.join(timeout=30)


def gather(crowd: Crowd, *, seconds: float) -> None:
    for number in range(RECORDERS):
        crowd.start("record", f"agent{number}", seconds=seconds)
    for number in range(SEARCHERS):
        crowd.start("search", f"reader{number}", seconds=seconds)


def check(crowd: Crowd) -> None:
    """On the shelf and, after a drain, in the store: each acknowledged record once, nothing twice."""
    asked = crowd.acknowledged()
    assert crowd.failures() == []
    assert len(asked) == len(set(asked))
    assert asked
    engines = engines_of(crowd.folder)
    memory = memory_of(engines)
    assert set(asked) <= set(memory.store.load(asked))
    held = memory.stats().executions
    assert engines.drain.run()
    behind = [item.id for item in engines._behind.every()]
    assert len(behind) == len(set(behind)) == held
    assert set(asked) <= set(behind)
    assert engines.faults() == []
    engines.close()
    for what in ("record", "search"):
        times = crowd.times(what)
        p50, p95 = times[len(times) // 2], times[int(len(times) * 0.95)]
        sys.stderr.write(
            f"\n{what}: {len(times)}, p50 {p50:.1f} ms, p95 {p95:.1f} ms, most {times[-1]:.1f} ms\n"
        )


def test_every_record_of_many_processes_is_there_once_and_none_failed(crowd: Crowd) -> None:
    gather(crowd, seconds=SECONDS)
    crowd.wait()

    check(crowd)


def test_nothing_acknowledged_is_lost_or_doubled_when_processes_are_killed(crowd: Crowd) -> None:
    dice, end = random.Random(3), time.monotonic() + SECONDS + 30
    gather(crowd, seconds=SECONDS)
    for _ in range(KILLS):
        time.sleep(dice.uniform(0, 2 * SECONDS / KILLS))
        what = crowd.kill_one(dice)
        crowd.start(what, what, seconds=max(2.0, min(SECONDS, end - time.monotonic() - 30)))
    crowd.wait()

    check(crowd)
