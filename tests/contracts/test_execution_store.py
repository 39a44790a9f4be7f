"""What every ExecutionStore promises: the fake, the embedded engine, and a server over a web socket."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kebab.domain.executions import ExecutionFilters, Feedback, TaskRecord
from kebab.domain.learning import RetiredDay
from kebab.ports import ExecutionStore, MemoryEntry, MemoryKind, RevisedStore
from tests.fakes import FakeAnalyzer
from tests.memory_fakes import NOON, FakeExecutionStore, run
from tests.surreal_bridge import Bridge

# The SDK opens its socket in a way that websockets 17 deprecates.
pytestmark = pytest.mark.filterwarnings(r"ignore:connect\(\) must be used:DeprecationWarning")

EVERYTHING = ExecutionFilters()


def surreal_store(url: str, *, username: str = "", password: str = "") -> Any:
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


def journaled_store(folder: Path) -> ExecutionStore:
    """A folder's memory: its journal and shelf, with the engine's store behind them."""
    pytest.importorskip("surrealdb", reason="the memory extra is not installed")
    from kebab.assembly.memory import MemoryEngines
    from kebab.config.sections import Memory

    return MemoryEngines(Memory(), folder=folder, analyzer=FakeAnalyzer(), readonly=False).store  # type: ignore[arg-type]


@pytest.fixture(params=["fake", "memory", "folder", "websocket", "server"])
def revised(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RevisedStore]:
    yield from opened(request, tmp_path)


@pytest.fixture(params=["fake", "journaled", "memory", "folder", "websocket", "server"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ExecutionStore]:
    yield from opened(request, tmp_path)


def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "fake":
        yield FakeExecutionStore()
        return
    if request.param == "journaled":
        made = journaled_store(tmp_path / "memory")
    elif request.param == "websocket":
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


def test_every_write_moves_the_revision_and_shows_in_the_changes(revised: RevisedStore) -> None:
    first = revised.save([run(1), run(2)])
    second = revised.save([run(1, success=True)])

    assert (first.before, first.upto, second.before, second.upto) == (0, 2, 2, 3)
    assert revised.revision(MemoryKind.EXECUTIONS) == 3
    assert revised.revision(MemoryKind.TASKS) == 0
    changes = revised.changes(MemoryKind.EXECUTIONS, after=0, limit=10)
    assert changes.upto == 3
    assert changes.entries == (MemoryEntry.of(run(2)), MemoryEntry.of(run(1, success=True)))
    assert revised.changes(MemoryKind.EXECUTIONS, after=3, limit=10).entries == ()


def test_changes_come_in_pieces_that_lose_nothing(revised: RevisedStore) -> None:
    revised.save([run(number) for number in range(7)])
    revised.remove(MemoryKind.EXECUTIONS, ["run-00000"])
    seen: dict[str, MemoryEntry] = {}
    removed: list[str] = []
    position = 0
    while position < revised.revision(MemoryKind.EXECUTIONS):
        changes = revised.changes(MemoryKind.EXECUTIONS, after=position, limit=2)
        seen |= {entry.id: entry for entry in changes.entries}
        removed += changes.removed
        position = changes.upto

    assert sorted(seen) == [f"run-{number:05d}" for number in range(1, 7)]
    assert removed == ["run-00000"]


def test_what_is_removed_shows_in_the_changes(revised: RevisedStore) -> None:
    revised.save([run(number) for number in range(1, 5)])
    revised.remove(MemoryKind.EXECUTIONS, ["run-00001", "run-00002"])

    removed = revised.changes(MemoryKind.EXECUTIONS, after=4, limit=10).removed
    assert sorted(removed) == ["run-00001", "run-00002"]


def test_what_is_outdated_is_older_or_expired(store: ExecutionStore) -> None:
    expired = run(9, expires_at=NOON + timedelta(days=2))
    store.save([*(run(number) for number in range(1, 5)), expired])
    store.save_tasks(
        [TaskRecord(id=f"t{n}", description="x", recorded_at=NOON + timedelta(hours=n)) for n in (1, 5)]
    )
    border = NOON + timedelta(hours=3, seconds=1.5)

    def outdated(kind: MemoryKind, moment: datetime) -> list[str]:
        return store.outdated(kind, before=border, expired_at=moment)

    assert outdated(MemoryKind.EXECUTIONS, NOON) == ["run-00001", "run-00002"]
    assert outdated(MemoryKind.EXECUTIONS, NOON + timedelta(days=3)) == [
        "run-00001",
        "run-00002",
        "run-00009",
    ]
    assert outdated(MemoryKind.TASKS, NOON) == ["t1"]


def test_removing_takes_edges_and_unused_documents_along(store: ExecutionStore) -> None:
    store.save([run(number, parent=f"run-{number - 1:05d}") for number in range(1, 5)])
    store.save([run(5, documents_used=("docs/1.md", "docs/5.md"))])
    store.link("run-00005", "run-00001")
    store.remove(MemoryKind.EXECUTIONS, ["run-00001", "run-00002", "unknown"])

    assert [item.id for item in store.every()] == ["run-00003", "run-00004", "run-00005"]
    assert store.users_of("docs/1.md") == ("run-00005",)
    assert store.users_of("docs/2.md") == ()
    assert store.effects(["run-00005"]) == {"run-00005": ()}
    assert store.links() == []
    assert store.stats().documents == 4


def test_task_records_are_removed_too(store: ExecutionStore) -> None:
    store.save_tasks([TaskRecord(id=key, description="x", recorded_at=NOON) for key in ("a", "b")])
    store.remove(MemoryKind.TASKS, ["a"])

    assert [task.id for task in store.every_task()] == ["b"]


def test_retired_days_add_up(store: ExecutionStore) -> None:
    def day(agent: str, runs: int) -> RetiredDay:
        return RetiredDay(
            agent_id=agent,
            task_type="fix",
            day=date(2026, 3, 1),
            runs=runs,
            successes=1,
            quality=0.5,
            latency_ms=10.0,
            cost_cents=0.25,
            total=0.5,
            squares=0.25,
        )

    store.save([run(1)])
    store.remove(MemoryKind.EXECUTIONS, ["run-00001"], retired=[day("ann", 2), day("bob", 1)])
    store.remove(MemoryKind.EXECUTIONS, [], retired=[day("ann", 3)])

    ann, bob = store.retired()
    assert (ann.agent_id, ann.runs, ann.successes, ann.cost_cents) == ("ann", 5, 2, 0.5)
    assert (bob.agent_id, bob.runs) == ("bob", 1)


def test_links_are_listed_once(store: ExecutionStore) -> None:
    store.save([run(1), run(2, parent="run-00001"), run(3)])
    for _ in range(2):
        store.link("run-00003", "run-00001")

    assert store.links() == [("run-00003", "run-00001")]
    assert store.causes(["run-00001"]) == {"run-00001": ("run-00003",)}


def test_every_new_field_is_kept_and_can_be_asked_for(store: ExecutionStore) -> None:
    full = run(
        1,
        approach="bisect",
        result="found the commit",
        lesson="문제는 캐시였다",
        tokens={"input": 900, "output": 12},
        cost_cents=0.375,
        scope={"project": "kebab", "user": "ann", "session": "s-1"},
        tags=("ci", "캐시"),
        metadata={"attempt": 2, "ratio": 0.5, "model": "small", "green": True},
        expires_at=NOON + timedelta(days=30),
        feedback=(
            Feedback(at=NOON, by="ci", success=False, quality_score=0.0, note="red build"),
            Feedback(at=NOON),
        ),
    )
    store.save([full, run(2)])

    assert store.load(["run-00001", "run-00002"]) == {"run-00001": full, "run-00002": run(2)}
    for filters in (
        ExecutionFilters(tag=("ci",)),
        ExecutionFilters(tag=("none", "캐시")),
        ExecutionFilters(scope={"project": "kebab", "user": "ann"}),
        ExecutionFilters(metadata={"attempt": 2}),
        ExecutionFilters(metadata={"green": True, "ratio": 0.5, "model": "small"}),
    ):
        assert [item.id for item in store.select(filters, limit=None)] == ["run-00001"]
    for filters in (
        ExecutionFilters(tag=("cd",)),
        ExecutionFilters(scope={"project": "kebab", "user": "bob"}),
        ExecutionFilters(metadata={"attempt": 3}),
        ExecutionFilters(metadata={"green": False}),
        ExecutionFilters(max_cost_cents=0.3, tag=("ci",)),
        ExecutionFilters(valid_at=NOON + timedelta(days=30), tag=("ci",)),
    ):
        assert store.select(filters, limit=None) == []
    assert [item.id for item in store.select(ExecutionFilters(), limit=1, offset=1)] == ["run-00001"]


def test_a_pruned_record_that_comes_back_is_a_change_again(revised: RevisedStore) -> None:
    revised.save([run(1)])
    revised.remove(MemoryKind.EXECUTIONS, ["run-00001"])
    revised.save([run(1)])

    changes = revised.changes(MemoryKind.EXECUTIONS, after=0, limit=10)
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


def test_task_records_show_in_the_changes(revised: RevisedStore) -> None:
    revised.save_tasks([TaskRecord(id=key, description=f"sum {key}", recorded_at=NOON) for key in ("1", "2")])

    entries = revised.changes(MemoryKind.TASKS, after=0, limit=9).entries
    assert [entry.text for entry in entries] == ["sum 1", "sum 2"]


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


def test_the_identity_stays(revised: RevisedStore) -> None:
    first = revised.identity()
    revised.save([run(1)])

    assert first
    assert revised.identity() == first
