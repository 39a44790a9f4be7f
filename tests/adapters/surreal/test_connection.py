"""Opening, sharing and losing the engine."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kebab.adapters.surreal.connection import SurrealConnection
from kebab.adapters.surreal.store import SurrealExecutionStore
from kebab.domain.executions import ExecutionFilters
from kebab.errors import EngineUnavailable, Locked, NotIndexed
from tests.adapters.surreal.conftest import Connect
from tests.memory_fakes import run

HOLDER = """
import sys, time
from kebab.adapters.surreal.connection import SurrealConnection
url, idle_s, hold_s = sys.argv[1:]
connection = SurrealConnection(url, namespace="test", database="test", idle_release_s=float(idle_s))
connection.query("RETURN 1")
print("open", flush=True)
time.sleep(float(hold_s))
"""


@contextmanager
def holder(folder: Path, *, idle_s: float) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the folder open, and lets go when idle."""
    arguments = [sys.executable, "-c", HOLDER, f"surrealkv://{folder}", str(idle_s), "60"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield process
        process.kill()


def test_reading_where_nothing_was_recorded_is_not_indexed_and_creates_nothing(
    store: SurrealExecutionStore, tmp_path: Path
) -> None:
    with pytest.raises(NotIndexed, match="no execution memory") as caught:
        store.select(ExecutionFilters(), limit=1)
    assert "kebab memory record" in (caught.value.hint or "")
    assert not (tmp_path / "store").exists()


def test_a_closed_store_opens_again_with_what_it_held(store: SurrealExecutionStore) -> None:
    store.save([run(1)])
    store.close()

    assert store.load(["run-00001"]) == {"run-00001": run(1)}


def test_a_folder_in_use_is_locked_after_the_wait(connect: Connect, tmp_path: Path) -> None:
    with holder(tmp_path / "store", idle_s=60):
        began = time.monotonic()
        with pytest.raises(Locked, match="another process"):
            connect(lock_wait_s=0.3).query("RETURN 1")
        assert 0.3 <= time.monotonic() - began < 5


def test_an_idle_process_lets_another_in(connect: Connect, tmp_path: Path) -> None:
    with holder(tmp_path / "store", idle_s=0.2):
        assert connect(lock_wait_s=10).query("RETURN 7") == [7]


def test_a_killed_process_leaves_no_lock(connect: Connect, tmp_path: Path) -> None:
    with holder(tmp_path / "store", idle_s=60) as other:
        other.kill()
        other.wait()
        assert connect(lock_wait_s=2).query("RETURN 7") == [7]


def test_an_idle_connection_lets_go_and_comes_back(connect: Connect) -> None:
    connection = connect(idle_release_s=0.1)
    connection.query("RETURN 1")
    deadline = time.monotonic() + 5
    while connection._db is not None and time.monotonic() < deadline:
        time.sleep(0.05)

    assert connection._db is None
    assert connection.query("RETURN 2") == [2]


def test_an_unreachable_server_is_an_error_with_a_hint() -> None:
    connection = SurrealConnection("ws://127.0.0.1:9", namespace="test", database="test")

    with pytest.raises(EngineUnavailable, match=r"127\.0\.0\.1:9") as caught:
        connection.query("RETURN 1")
    assert "memory.url" in (caught.value.hint or "")


@pytest.mark.parametrize("url", ["postgres://x", "memory", ""])
def test_a_url_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(EngineUnavailable, match="names no engine"):
        SurrealConnection(url, namespace="test", database="test")


def test_without_the_engine_installed_the_error_says_what_to_install(tmp_path: Path) -> None:
    program = f"""
import sys
sys.modules["surrealdb"] = None
from kebab.adapters.surreal.connection import SurrealConnection
from kebab.errors import EngineUnavailable
try:
    SurrealConnection("surrealkv://{tmp_path}/store", namespace="n", database="d")
except EngineUnavailable as error:
    sys.stdout.write(error.hint)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "install it with: pip install 'kebab[memory]'"
