"""What every ExecutionStore promises: the fake, the embedded engine, and a server over a web socket."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from kebab.domain.executions import ExecutionFilters, TaskRecord
from kebab.ports import ExecutionStore, MemoryEntry, MemoryKind
from tests.fakes import FakeAnalyzer
from tests.memory_fakes import NOON, FakeExecutionStore, run
from tests.surreal_bridge import Bridge

# The SDK opens its socket in a way that websockets 17 deprecates.
pytestmark = pytest.mark.filterwarnings(r"ignore:connect\(\) must be used:DeprecationWarning")

EVERYTHING = ExecutionFilters()


def surreal_store(url: str, *, username: str = "", password: str = "") -> ExecutionStore:
    pytest.importorskip("surrealdb", reason="the memory extra is not installed")
    from kebab.adapters.surreal.connection import SurrealConnection
    from kebab.adapters.surreal.schema import migrate
    from kebab.adapters.surreal.store import SurrealExecutionStore

    connection = SurrealConnection(
        url,
        namespace="test",
        database=f"t{uuid.uuid4().hex}",
        username=username,
        password=password,
        on_open=migrate,
    )
    store = SurrealExecutionStore(connection, analyzer=FakeAnalyzer())
    connection.query("RETURN 1")  # a store that was never written is NotIndexed; this one is merely empty
    return store


@pytest.fixture(scope="module")
def bridge() -> Iterator[Bridge]:
    pytest.importorskip("surrealdb", reason="the memory extra is not installed")
    made = Bridge()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A server of our own where the binary is installed, or the one that KEBAB_TEST_SURREAL_URL names."""
    if url := os.environ.get("KEBAB_TEST_SURREAL_URL"):
        yield url
        return
    binary = shutil.which("surreal")
    if binary is None:
        pytest.skip("no surreal binary on the path and no KEBAB_TEST_SURREAL_URL")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments = ["start", "--bind", f"127.0.0.1:{port}", "--user", "root", "--pass", "root", "memory"]
    process = subprocess.Popen([binary, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1.0)
    yield f"ws://127.0.0.1:{port}"
    process.terminate()
    process.wait(timeout=10)


@pytest.fixture(params=["fake", "memory", "folder", "websocket", "server"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ExecutionStore]:
    if request.param == "fake":
        yield FakeExecutionStore()
        return
    if request.param == "websocket":
        made = surreal_store(request.getfixturevalue("bridge").url, username="root", password="root")
    elif request.param == "server":
        user, password = (
            os.environ.get("KEBAB_MEMORY_USER", "root"),
            os.environ.get("KEBAB_MEMORY_PASSWORD", "root"),
        )
        made = surreal_store(request.getfixturevalue("server"), username=user, password=password)
    else:
        made = surreal_store("mem://" if request.param == "memory" else f"surrealkv://{tmp_path / 'store'}")
    yield made
    made.close()


def test_what_is_saved_is_read_back_equal(store: ExecutionStore) -> None:
    store.save([run(1), run(2, embedding=None, embedding_model=None, error=None, agent_role=None)])

    assert store.load(["run-00001", "run-00002", "unknown"]) == {
        "run-00001": run(1),
        "run-00002": run(2, embedding=None, embedding_model=None, error=None, agent_role=None),
    }


def test_saving_a_known_id_replaces_the_record_and_what_it_used(store: ExecutionStore) -> None:
    store.save([run(1, parent="run-00000", documents_used=("a.md", "b.md"))])
    store.save([run(1, parent=None, documents_used=("b.md",), success=True)])

    assert store.load(["run-00001"])["run-00001"].success
    assert store.documents_of(["run-00001"]) == {"run-00001": ("b.md",)}
    assert store.users_of("a.md") == ()
    assert store.causes(["run-00001"]) == {"run-00001": ()}
    assert store.stats().executions == 1


def test_replacing_a_record_keeps_what_it_led_to(store: ExecutionStore) -> None:
    store.save([run(1), run(2, parent="run-00001")])
    store.link("run-00000", "run-00001")
    store.save([run(1, success=True)])

    assert store.effects(["run-00001"]) == {"run-00001": ("run-00002",)}
    assert store.causes(["run-00001"]) == {"run-00001": ("run-00000",)}


def test_linking_twice_is_linking_once(store: ExecutionStore) -> None:
    store.save([run(1), run(2)])
    store.link("run-00001", "run-00002")
    store.link("run-00001", "run-00002")

    assert store.causes(["run-00002", "run-00001"]) == {"run-00002": ("run-00001",), "run-00001": ()}


def test_ids_may_hold_any_characters(store: ExecutionStore) -> None:
    strange = ["a:b", "kg_executions:x", "⟨x⟩", "`q`", "한글 키", "12", "'; DELETE kg_executions; --", "u'1'"]
    store.save([run(1, id=key, documents_used=(key,), parent="p:1") for key in strange])

    assert set(store.load(strange)) == set(strange)
    assert store.causes(["a:b"]) == {"a:b": ("p:1",)}
    assert store.users_of("⟨x⟩") == ("⟨x⟩",)
    assert [item.id for item in store.every()] == sorted(strange)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (EVERYTHING, [5, 4, 3, 2, 1, 0]),
        (ExecutionFilters(agent=("agent-1",)), [4, 1]),
        (ExecutionFilters(agent=("agent-1", "agent-2")), [5, 4, 2, 1]),
        (ExecutionFilters(role=("reviewer",)), [3]),
        (ExecutionFilters(task_type=("review",)), [2]),
        (ExecutionFilters(provider=("remote",)), [1]),
        (ExecutionFilters(success=True), [4, 2, 0]),
        (ExecutionFilters(success=False), [5, 3, 1]),
        (ExecutionFilters(after=NOON + timedelta(hours=3, seconds=1.5)), [5, 4, 3]),
        (ExecutionFilters(before=NOON + timedelta(hours=3, seconds=1.5)), [2, 1, 0]),
        (ExecutionFilters(max_cost_cents=2), [2, 1, 0]),
        (ExecutionFilters(success=True, agent=("agent-1",)), [4]),
    ],
)
def test_select_filters_and_orders_newest_first(
    store: ExecutionStore, filters: ExecutionFilters, expected: list[int]
) -> None:
    special = {1: {"provider": "remote"}, 2: {"task_type": "review"}, 3: {"agent_role": "reviewer"}}
    store.save([run(number, **special.get(number, {})) for number in range(6)])

    assert [int(item.id[-5:]) for item in store.select(filters, limit=None)] == expected
    assert [int(item.id[-5:]) for item in store.select(filters, limit=2)] == expected[:2]
    outcomes = store.outcomes(filters)
    assert sorted(outcome.cost_cents for outcome in outcomes) == sorted(expected)


def test_every_write_moves_the_revision_and_shows_in_the_changes(store: ExecutionStore) -> None:
    first = store.save([run(1), run(2)])
    second = store.save([run(1, success=True)])

    assert (first.before, first.upto, second.before, second.upto) == (0, 2, 2, 3)
    assert store.revision(MemoryKind.EXECUTIONS) == 3
    assert store.revision(MemoryKind.TASKS) == 0
    changes = store.changes(MemoryKind.EXECUTIONS, after=0, limit=10)
    assert changes.upto == 3
    assert changes.entries == (MemoryEntry.of(run(2)), MemoryEntry.of(run(1, success=True)))
    assert store.changes(MemoryKind.EXECUTIONS, after=3, limit=10).entries == ()


def test_changes_come_in_pieces_that_lose_nothing(store: ExecutionStore) -> None:
    store.save([run(number) for number in range(7)])
    store.prune(before=NOON + timedelta(hours=1), dry_run=False)
    seen: dict[str, MemoryEntry] = {}
    removed: list[str] = []
    position = 0
    while position < store.revision(MemoryKind.EXECUTIONS):
        changes = store.changes(MemoryKind.EXECUTIONS, after=position, limit=2)
        seen |= {entry.id: entry for entry in changes.entries}
        removed += changes.removed
        position = changes.upto

    assert sorted(seen) == [f"run-{number:05d}" for number in range(1, 7)]
    assert removed == ["run-00000"]


def test_pruning_removes_what_is_older_and_its_edges(store: ExecutionStore) -> None:
    store.save([run(number, parent=f"run-{number - 1:05d}") for number in range(1, 5)])
    border = NOON + timedelta(hours=3, seconds=1.5)

    assert store.prune(before=border, dry_run=True) == 2
    assert store.stats().executions == 4
    assert store.prune(before=border, dry_run=False) == 2
    assert [item.id for item in store.every()] == ["run-00003", "run-00004"]
    assert store.users_of("docs/1.md") == ()
    removed = store.changes(MemoryKind.EXECUTIONS, after=4, limit=10).removed
    assert sorted(removed) == ["run-00001", "run-00002"]


def test_a_pruned_record_that_comes_back_is_a_change_again(store: ExecutionStore) -> None:
    store.save([run(1)])
    store.prune(before=NOON + timedelta(days=9), dry_run=False)
    store.save([run(1)])

    changes = store.changes(MemoryKind.EXECUTIONS, after=0, limit=10)
    assert [entry.id for entry in changes.entries] == ["run-00001"]


def test_task_records_keep_their_free_form(store: ExecutionStore) -> None:
    details = {"model": "x", "steps": [1, 2.5, {"deep": None}], "ok": True, "nothing": None, "text": "한글"}
    bare = TaskRecord(id="t:1", description="요약", recorded_at=NOON, details=details)
    full = TaskRecord(
        id="t:2", description="sum up", recorded_at=NOON, embedding=(0.25, -1.5), embedding_model="toy@1"
    )
    store.save_tasks([bare, full])

    assert store.load_tasks(["t:1", "t:2", "t:3"]) == {"t:1": bare, "t:2": full}
    assert list(store.every_task()) == [bare, full]
    assert [entry.text for entry in store.changes(MemoryKind.TASKS, after=0, limit=9).entries] == [
        "요약",
        "sum up",
    ]


def test_stats_count_what_there_is(store: ExecutionStore) -> None:
    store.save([run(number, documents_used=("a.md",)) for number in range(4)])
    stats = store.stats()

    assert (stats.executions, stats.successes, stats.agents, stats.documents) == (4, 2, 3, 1)
    assert (stats.total_cost_cents, dict(stats.models)) == (6, {"toy@1": 4})
    assert stats.first_started_at == NOON
    assert stats.last_finished_at == run(3).finished_at


def test_an_empty_store_is_empty(store: ExecutionStore) -> None:
    stats = store.stats()

    assert (stats.executions, stats.tasks, stats.first_started_at, dict(stats.models)) == (0, 0, None, {})
    assert store.select(EVERYTHING, limit=10) == []
    assert list(store.every()) == []
    assert store.changes(MemoryKind.EXECUTIONS, after=0, limit=5).entries == ()


def test_the_identity_stays(store: ExecutionStore) -> None:
    first = store.identity()
    store.save([run(1)])

    assert first
    assert store.identity() == first
