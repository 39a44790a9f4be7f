"""Several writers at once: nobody's record is lost, and every revision is taken once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from kebab.adapters.surreal.store import SurrealExecutionStore
from kebab.ports import MemoryKind, Saved
from tests.adapters.surreal.conftest import Connect
from tests.fakes import FakeAnalyzer
from tests.memory_fakes import run


def test_writers_that_meet_try_again_and_lose_nothing(connect: Connect) -> None:
    connection = connect()
    connection.query("RETURN 1")

    def write(writer: int) -> list[Saved]:
        store = SurrealExecutionStore(connection, analyzer=FakeAnalyzer())
        return [store.save([run(1000 * writer + 2 * n), run(1000 * writer + 2 * n + 1)]) for n in range(15)]

    with ThreadPoolExecutor(3) as pool:
        saved = [each for writer in pool.map(write, range(3)) for each in writer]

    store = SurrealExecutionStore(connection, analyzer=FakeAnalyzer())
    assert sum(1 for _ in store.every()) == 90
    assert store.revision(MemoryKind.EXECUTIONS) == 90
    assert sorted(each.before for each in saved) == list(range(0, 90, 2))
    assert len(store.changes(MemoryKind.EXECUTIONS, after=0, limit=200).entries) == 90
