"""One writer at a time, whatever becomes of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kebab.adapters.writer_lock import lock_owner, writer_lock
from kebab.errors import Locked, StorageError

HOLD = """
import sys, os, time
from pathlib import Path
from kebab.adapters.writer_lock import writer_lock
with writer_lock(Path(sys.argv[1]), command="kebab ingest"):
    if sys.argv[2] == "fork" and os.fork() == 0:
        os.close(1)
        time.sleep(20)
        os._exit(0)
    print("held", flush=True)
    time.sleep(60)
"""


def holder(path: Path, how: str = "plain") -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", HOLD, str(path), how]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_a_second_writer_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "data" / "writer.lock"
    process = holder(path)
    try:
        told = rf"`kebab ingest` \(process {process.pid} on .*\), for \d+ s"
        with pytest.raises(Locked, match=told), writer_lock(path, command="kebab index"):
            pytest.fail("two writers")
        owner = lock_owner(path)
        assert owner is not None
        assert (owner.pid, owner.command) == (process.pid, "kebab ingest")
        assert owner.age_s < 60
    finally:
        kill(process)


@pytest.mark.parametrize("how", ["plain", "fork"])
def test_the_lock_of_a_killed_writer_is_taken_over(tmp_path: Path, how: str) -> None:
    path = tmp_path / "writer.lock"
    kill(holder(path, how))
    assert path.read_text(), "the dead writer's note is still there"
    assert lock_owner(path) is None
    with writer_lock(path, command="kebab index"):
        owner = lock_owner(path)
        assert owner is not None
        assert owner.pid == os.getpid()


def test_the_lock_is_free_after_use_and_after_an_error(tmp_path: Path) -> None:
    path = tmp_path / "writer.lock"
    with pytest.raises(KeyError), writer_lock(path, command="kebab ingest"):
        raise KeyError
    assert lock_owner(path) is None
    first, second = (writer_lock(path, command=f"kebab {name}") for name in ("ingest", "index"))
    with first, pytest.raises(Locked), second:
        pytest.fail("two writers in one process")
    assert lock_owner(path) is None


def test_a_lock_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError), writer_lock(tmp_path / "file" / "writer.lock", command="kebab ingest"):
        pytest.fail("locked nothing")
    assert lock_owner(tmp_path / "nothing" / "writer.lock") is None
