"""Servers under load beside changing files: right answers, and no growth of memory, handles, threads or disk.

Some seconds in every run; KEBAB_SOAK_MINUTES=60 is the long form.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kebab.domain.queries import SearchMode
from tests.drivers.watched import until
from tests.faults.conftest import sick
from tests.faults.kill_victims import PROJECT, Victim, asked, mcp, serve, watch
from tests.faults.kill_world import World, stored, word_of

SECONDS = 60 * float(os.environ.get("KEBAB_SOAK_MINUTES", "0.2"))
LONG = SECONDS >= 60
READERS = 16
READER = """
import sys
from pathlib import Path
from kebab.app import Kebab
from kebab.domain.queries import SearchMode
with Kebab.open(Path(sys.argv[1])) as kb:
    for number in range(int(sys.argv[2])):
        found = kb.search("rope 밧줄", mode=list(SearchMode)[number % 3], k=20)
        assert found.hits and len({hit.chunk_id for hit in found.hits}) == len(found.hits)
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("kills"),
    pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="what processes use is read from /proc"),
]


@dataclass(frozen=True, slots=True)
class Use:
    """What a process uses."""

    megabytes: float
    handles: int
    threads: int

    @classmethod
    def of(cls, pid: int) -> Use:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        return cls(
            int(status["VmRSS"].split()[0]) / 1024,
            len(os.listdir(f"/proc/{pid}/fd")),
            int(status["Threads"]),
        )


@dataclass
class Load:
    """Threads that do something over and over until it is over; the first failure ends theirs."""

    over: threading.Event = field(default_factory=threading.Event)
    failures: list[BaseException] = field(default_factory=list)
    count: int = 0

    def repeat(self, work: Callable[[random.Random], None], *, pause: float) -> threading.Thread:
        def run() -> None:
            dice = random.Random(repr(work))
            try:
                while not self.over.wait(pause):
                    work(dice)
                    self.count += 1
            except BaseException as error:  # noqa: BLE001 - whatever it is, the test tells of it
                self.failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        return thread


@contextmanager
def at_work(*works: tuple[Callable[[random.Random], None], float]) -> Iterator[Load]:
    load = Load()
    threads = [load.repeat(work, pause=pause) for work, pause in works]
    try:
        yield load
    finally:
        load.over.set()
        for thread in threads:
            thread.join()


def search_over_http(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        body = json.dumps({"query": "rope 밧줄", "k": 20}).encode()
        connection.request("POST", "/api/v1/search", body, {"content-type": "application/json"})
        reply = connection.getresponse()
        hits = json.loads(reply.read())["hits"]
        assert reply.status == 200
        assert len({hit["chunk_id"] for hit in hits}) == len(hits) > 0
    finally:
        connection.close()


def search_over_stdio(victim: Victim) -> None:
    reply = asked(victim, "tools/call", {"name": "search", "arguments": {"query": "rope 밧줄"}})
    assert not reply["result"].get("isError"), reply


def disk_kb(folder: Path) -> float:
    def size(file: Path) -> int:
        try:
            return file.stat().st_blocks * 512
        except FileNotFoundError:
            return 0

    return sum(size(file) for file in folder.rglob("*")) / 1024


def test_servers_under_load_answer_rightly_and_grow_by_nothing(tmp_path: Path) -> None:
    world = World.made(tmp_path, random.Random(7))
    victims = [serve(world), mcp(world), watch(world)]
    served, agent = victims[:2]
    guard = threading.Lock()

    def edit(dice: random.Random) -> None:
        with guard:
            world.write(dice.choice(sorted(world.texts)))

    try:
        works = [(lambda _: search_over_http(served.port), 0.02)] * 3
        with at_work(*works, (lambda _: search_over_stdio(agent), 0.05), (edit, 0.5)) as load:
            load.over.wait(SECONDS / 3)
            before = [Use.of(victim.process.pid) for victim in victims]
            space = disk_kb(world.data)
            load.over.wait(2 * SECONDS / 3)
            after = [Use.of(victim.process.pid) for victim in victims]
            grown = disk_kb(world.data)
        assert load.failures == []
        print(f"{load.count} uses in {SECONDS:.0f} s", before, after, f"{space:.0f} -> {grown:.0f} KB")  # noqa: T201
        check_use(victims, before, after)
        assert grown <= 2 * space + 20_000
        assert until(lambda: _follows(world), seconds=60)
    finally:
        for victim in victims:
            victim.process.kill()
            victim.end()
    world.settle()


def check_use(victims: list[Victim], before: list[Use], after: list[Use]) -> None:
    for victim, early, late in zip(victims, before, after, strict=True):
        assert late.megabytes <= 1.2 * early.megabytes + 60, (victim.name, early, late)
        assert late.handles <= early.handles + 30, (victim.name, early, late)
        assert late.threads <= early.threads + 12, (victim.name, early, late)


def _follows(world: World) -> bool:
    with world.open() as kb:
        return stored(kb)[0] == world.texts


def test_sixteen_processes_read_while_one_ingests(tmp_path: Path) -> None:
    world = World.made(tmp_path, random.Random(8))
    searches = 200 if LONG else 6
    command = [sys.executable, "-c", READER, str(world.config), str(searches)]
    readers = [
        subprocess.Popen(command, cwd=PROJECT, stderr=subprocess.PIPE, text=True) for _ in range(READERS)
    ]
    with world.open() as kb:
        while any(reader.poll() is None for reader in readers):
            world.stir()
            kb.ingest(allow_mass_delete=True)
            time.sleep(0.2)
        said = [reader.communicate(timeout=120)[1] for reader in readers]
        assert [reader.returncode for reader in readers] == [0] * READERS, said
        path = sorted(world.texts)[0]
        assert kb.search(word_of(world.texts[path]), mode=SearchMode.LEXICAL).hits[0].doc_path == path
        assert sick(kb.doctor(full=True)) == []
