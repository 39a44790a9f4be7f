"""The memory on a server: the SDK's remote transport against the engine behind a socket."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kebab.adapters.execution_index.index import SidecarExecutionIndex
from kebab.adapters.surreal.connection import SurrealConnection
from kebab.adapters.surreal.schema import migrate
from kebab.adapters.surreal.store import SurrealExecutionStore
from kebab.errors import EngineUnavailable
from kebab.memory.follow import Followed
from kebab.memory.room import ExecutionMemory
from kebab.ports import MemoryKind
from tests.fakes import FakeAnalyzer, FakeEmbedder
from tests.memory_fakes import run
from tests.surreal_bridge import Bridge

# The SDK opens its socket in a way that websockets 17 deprecates.
pytestmark = pytest.mark.filterwarnings(r"ignore:connect\(\) must be used:DeprecationWarning")

BARE = {"embedding": None, "embedding_model": None}


@pytest.fixture
def bridge() -> Iterator[Bridge]:
    made = Bridge()
    yield made
    made.stop()


def connection(url: str, *, password: str = "root") -> SurrealConnection:
    return SurrealConnection(
        url, namespace="n", database="d", username="root", password=password, on_open=migrate
    )


def remote_memory(url: str, folder: Path) -> ExecutionMemory:
    analyzer = FakeAnalyzer()
    store = SurrealExecutionStore(connection(url), analyzer=analyzer)

    def index(kind: MemoryKind) -> Followed:
        made = SidecarExecutionIndex(lambda: folder / store.identity() / kind, analyzer=analyzer)
        return Followed(store, made, kind)

    return ExecutionMemory(
        store, index(MemoryKind.EXECUTIONS), index(MemoryKind.TASKS), FakeEmbedder(dimensions=384)
    )


def test_thousands_of_runs_travel_to_a_server_and_back(bridge: Bridge, tmp_path: Path) -> None:
    memory = remote_memory(bridge.url, tmp_path)
    memory.record_many(run(number, **BARE) for number in range(2500))

    assert sum(1 for _ in memory.store.every()) == 2500
    assert memory.hybrid_search("number2499").hits[0].execution.id == "run-02499"
    memory.close()


def test_another_machine_builds_its_own_index_of_the_same_server(bridge: Bridge, tmp_path: Path) -> None:
    one = remote_memory(bridge.url, tmp_path / "one")
    one.record_many(run(number, **BARE) for number in range(5))
    other = remote_memory(bridge.url, tmp_path / "other")

    assert other.search_words("number3").hits[0].execution.id == "run-00003"
    other.record(run(9, **BARE))
    assert one.search_words("number9").hits[0].execution.id == "run-00009"
    one.close()
    other.close()


def test_a_wrong_password_is_an_error_that_says_where_it_belongs(bridge: Bridge) -> None:
    refused = connection(bridge.url, password="wrong")

    with pytest.raises(EngineUnavailable, match="authentication") as caught:
        refused.query("RETURN 1")
    assert "KEBAB_MEMORY_PASSWORD" in (caught.value.hint or "")
    assert "wrong" not in caught.value.message


def test_a_cut_connection_is_an_error_once_and_is_made_again(bridge: Bridge) -> None:
    opened = connection(bridge.url)
    assert opened.query("RETURN 1") == [1]
    bridge.drop_connections()

    with pytest.raises(EngineUnavailable):
        opened.query("RETURN 2")
    assert opened.query("RETURN 3") == [3]
    opened.close()


def test_a_server_that_went_away_is_an_error_and_not_an_empty_result(tmp_path: Path) -> None:
    bridge = Bridge()
    memory = remote_memory(bridge.url, tmp_path)
    memory.record(run(1, **BARE))
    bridge.stop()

    for search in (memory.hybrid_search, memory.find_similar_executions, memory.search_words):
        with pytest.raises(EngineUnavailable):
            search("mend")
