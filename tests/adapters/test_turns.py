"""Writers of one data folder, threads and processes, one step after the other."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kebab.adapters.turns import WriterRun, WriterTurns
from kebab.errors import Locked

STEP_S = 0.05
GREEDY = """
import sys, time
from pathlib import Path
from kebab.adapters.turns import WriterTurns
turns = WriterTurns(Path(sys.argv[1]), timeout_s=30)
with turns.charge("kebab ingest"):
    while True:
        with turns.turn("kebab ingest"):
            print("begun", flush=True)
            time.sleep(float(sys.argv[2]))
"""


def turns(tmp_path: Path, timeout_s: float = 30.0, **more: object) -> WriterTurns:
    return WriterTurns(tmp_path / "writer.lock", timeout_s=timeout_s, **more)  # type: ignore[arg-type]


@contextmanager
def greedy_process(tmp_path: Path, step_s: float = STEP_S) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", GREEDY, str(tmp_path / "writer.lock"), str(step_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def greedy_thread(tmp_path: Path) -> Iterator[None]:
    own, over = turns(tmp_path), threading.Event()

    def run() -> None:
        while not over.is_set():
            with own.turn("kebab ingest"):
                time.sleep(STEP_S)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("greedy", [greedy_process, greedy_thread])
def test_whoever_waits_comes_next_however_greedy_the_other_is(tmp_path: Path, greedy: object) -> None:
    with greedy(tmp_path):  # type: ignore[operator]
        waited = []
        for _ in range(10):
            began = time.monotonic()
            with turns(tmp_path).turn("kebab ingest -"):
                waited.append(time.monotonic() - began)
    # The step that is under way is waited for, never a second one; the rest is what a busy machine takes.
    assert sorted(waited)[len(waited) // 2] < 2 * STEP_S + 0.1, waited
    assert max(waited) < 20 * STEP_S, waited


def test_no_two_have_a_turn_at_once(tmp_path: Path) -> None:
    inside, most, lock = 0, 0, threading.Lock()

    def run() -> None:
        nonlocal inside, most
        own = turns(tmp_path)
        for _ in range(20):
            with own.turn("kebab ingest"):
                with lock:
                    inside += 1
                    most = max(most, inside)
                time.sleep(0.001)
                with lock:
                    inside -= 1

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_turn_inside_a_turn_of_the_same_thread_is_a_part_of_it(tmp_path: Path) -> None:
    own = turns(tmp_path, timeout_s=0)
    with own.turn("kebab ingest"):
        with own.turn("kebab ingest"):
            pass
        with pytest.raises(Locked), turns(tmp_path, timeout_s=0).turn("kebab index"):
            pytest.fail("the inner turn gave the lock away")


def test_a_writer_that_waits_says_for_whom_and_gives_up_in_time(tmp_path: Path) -> None:
    heard: list[str] = []
    with greedy_process(tmp_path, step_s=60) as other:
        began = time.monotonic()
        with pytest.raises(Locked) as refused, turns(tmp_path, 1.2, waiting=heard.append).turn("kebab index"):
            pytest.fail("two writers")
        assert 1.0 < time.monotonic() - began < 20
    assert f"another process writes: `kebab ingest` (process {other.pid}" in refused.value.message
    assert "lock_timeout_s" in (refused.value.hint or "")
    assert len(heard) == 1
    assert f"waiting for `kebab ingest` (process {other.pid}" in heard[0]


def test_a_thread_of_the_same_process_is_not_called_another_process(tmp_path: Path) -> None:
    with turns(tmp_path).turn("kebab ingest"):
        said: list[str] = []

        def attempt() -> None:
            try:
                with turns(tmp_path, timeout_s=0).turn("kebab index"):
                    pass
            except Locked as error:
                said.append(error.message)

        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
    assert said[0].startswith("another thread of this process writes: `kebab ingest`")


def test_one_run_is_in_charge_until_it_leaves_or_dies(tmp_path: Path) -> None:
    first = WriterRun(turns(tmp_path), "kebab ingest", check=lambda: None)
    second = WriterRun(turns(tmp_path, timeout_s=0), "kebab index", check=lambda: None)
    assert first.take_charge()
    assert first.take_charge()
    assert not second.take_charge()
    assert "`kebab ingest`" in (second.in_charge() or "")
    with pytest.raises(Locked):
        second.take_charge(wait=True)
    with second.turn():
        pass  # a turn needs no charge
    first.leave_charge()
    assert second.take_charge()
    second.leave_charge()
    with greedy_process(tmp_path):
        assert not second.take_charge()
    assert second.take_charge()
    second.leave_charge()


def test_every_turn_of_a_run_is_checked(tmp_path: Path) -> None:
    def refuse() -> None:
        raise ValueError("replaced")

    run = WriterRun(turns(tmp_path), "kebab ingest", check=refuse)
    with pytest.raises(ValueError, match="replaced"), run.turn():
        pytest.fail("the turn was not checked")
    with turns(tmp_path, timeout_s=0).turn("kebab index"):
        pass
