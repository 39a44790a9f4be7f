"""What every ExecutionIndex promises: the fake, the derived one and the engine's own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kebab.domain.executions import Execution, ExecutionFilters
from kebab.ports import FollowerIndex, MemoryChanges, MemoryEntry, MemoryKind, VectorSpace
from tests.contracts.test_execution_store import surreal_store
from tests.fakes import FakeAnalyzer
from tests.memory_fakes import NOON, FakeExecutionIndex, FakeExecutionStore, run

TOY = VectorSpace("toy@1", 3)
EVERYTHING = ExecutionFilters()

Pair = tuple[Any, Any]


@pytest.fixture(params=["fake", "derived", "native", "shelf", "settled"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    """A store and an index that follows it: the native one searches the store itself."""
    if request.param == "native":
        from kebab.adapters.surreal.native import SurrealExecutionIndex

        store = surreal_store(f"surrealkv://{tmp_path / 'store'}")
        connection = store._connection
        yield store, SurrealExecutionIndex(connection, kind=MemoryKind.EXECUTIONS, analyzer=FakeAnalyzer())
        store.close()
    elif request.param in ("shelf", "settled"):
        yield from shelf_pair(tmp_path, settled=request.param == "settled")
    elif request.param == "derived":
        from kebab.adapters.execution_index.index import SidecarExecutionIndex

        yield FakeExecutionStore(), SidecarExecutionIndex(lambda: tmp_path / "index", analyzer=FakeAnalyzer())
    else:
        yield FakeExecutionStore(), FakeExecutionIndex()


def shelf_pair(folder: Path, *, settled: bool) -> Iterator[Pair]:
    """A folder's memory: with everything still in the journal, or all of it settled."""
    pytest.importorskip("surrealdb", reason="the memory extra is not installed")
    from kebab.adapters.journaled.settle import settle
    from kebab.assembly.memory import MemoryEngines
    from kebab.config.sections import Memory

    engines = MemoryEngines(Memory(), folder=folder / "memory", analyzer=FakeAnalyzer(), readonly=False)  # type: ignore[arg-type]
    engines.store._take_in = lambda **options: None  # type: ignore[attr-defined]  # nothing moves by itself

    class Shelf(ShelfLike):
        def apply(self, changes: object) -> None:
            if settled:
                assert engines.shelf.catch_up(wait=True)
                assert settle(engines.shelf, step=1, wait=True)

    yield engines.store, Shelf(engines.index(MemoryKind.EXECUTIONS))
    engines.close()


class ShelfLike:
    """An index that reads what the store wrote has nothing to apply."""

    def __init__(self, index: Any) -> None:
        self._index = index

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)


def put(pair: Pair, *executions: Execution) -> None:
    store, index = pair
    saved = store.save(executions)
    index.apply(MemoryChanges(saved.upto if saved else 0, tuple(MemoryEntry.of(item) for item in executions)))


def fed(pair: Pair) -> FollowerIndex:
    """The index, where it is one that is fed."""
    _, index = pair
    if isinstance(index, ShelfLike):
        pytest.skip("a shelf is not fed: it reads what the journal holds")
    found: FollowerIndex = index
    return found


def test_a_new_index_is_empty(pair: Pair) -> None:
    _, index = pair

    assert index.spaces() == {}
    assert index.words("mend", filters=EVERYTHING, limit=5) == []
    assert index.nearest((1.0, 0.0, 0.0), space=TOY, filters=EVERYTHING, limit=5) == []


def test_words_find_what_shares_a_word_and_nothing_else(pair: Pair) -> None:
    put(
        pair,
        run(1, task_description="repair the login page"),
        run(2, task_description="write release notes"),
        run(3, task_description="translate the handbook"),
    )
    _, index = pair

    assert [hit.id for hit in index.words("login nowhere", filters=EVERYTHING, limit=5)] == ["run-00001"]
    assert index.words("elsewhere", filters=EVERYTHING, limit=5) == []
    assert index.words("?! ...", filters=EVERYTHING, limit=5) == []


def test_korean_words_are_found_by_words(pair: Pair) -> None:
    put(
        pair,
        run(1, task_description="소유권 규칙 설명"),
        run(2, task_description="빌림 검사 고치기"),
        run(3, task_description="수명 표시 추가"),
    )
    _, index = pair

    assert [hit.id for hit in index.words("빌림", filters=EVERYTHING, limit=5)] == ["run-00002"]


def test_rarer_words_and_more_of_them_rank_higher(pair: Pair) -> None:
    put(
        pair,
        *(run(number, task_description=f"update page number{number}") for number in range(1, 9)),
        run(9, task_description="update certificate"),
        run(10, task_description="something else entirely"),
        run(11, task_description="another different matter"),
    )
    _, index = pair

    hits = index.words("update certificate", filters=EVERYTHING, limit=20)
    assert hits[0].id == "run-00009"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_vectors_come_by_cosine_best_first(pair: Pair) -> None:
    put(
        pair,
        run(1, embedding=(1.0, 0.0, 0.0)),
        run(2, embedding=(5.0, 5.0, 0.0)),
        run(3, embedding=(-1.0, 0.0, 0.0)),
        run(4, embedding=None, embedding_model=None),
    )
    _, index = pair

    hits = index.nearest((2.0, 0.0, 0.0), space=TOY, filters=EVERYTHING, limit=5)
    assert [hit.id for hit in hits] == ["run-00001", "run-00002", "run-00003"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.70711, -1.0], abs=1e-4)
    assert [hit.id for hit in index.nearest((0.0, 1.0, 0.0), space=TOY, filters=EVERYTHING, limit=1)] == [
        "run-00002"
    ]


def test_models_are_never_mixed(pair: Pair) -> None:
    other = VectorSpace("other@2", 2)
    put(
        pair, run(1), run(2, embedding=(1.0, 0.0), embedding_model="other@2"), run(3, embedding_model="toy@2")
    )
    _, index = pair

    assert index.spaces() == {TOY: 1, other: 1, VectorSpace("toy@2", 3): 1}
    assert [hit.id for hit in index.nearest((1.0, 1.0), space=other, filters=EVERYTHING, limit=9)] == [
        "run-00002"
    ]
    assert [hit.id for hit in index.nearest((1.0, 1.0, 1.0), space=TOY, filters=EVERYTHING, limit=9)] == [
        "run-00001"
    ]


@pytest.mark.parametrize(
    "filters",
    [
        ExecutionFilters(agent=("agent-1",)),
        ExecutionFilters(agent=("agent-1", "agent-2"), success=True),
        ExecutionFilters(role=("reviewer",)),
        ExecutionFilters(task_type=("review",)),
        ExecutionFilters(provider=("remote",)),
        ExecutionFilters(success=False),
        ExecutionFilters(after=NOON + timedelta(hours=20, seconds=1.5)),
        ExecutionFilters(before=NOON + timedelta(hours=20, seconds=1.5)),
        ExecutionFilters(max_cost_cents=7),
        ExecutionFilters(agent=("nobody",)),
    ],
    ids=str,
)
def test_a_filtered_search_still_returns_all_that_pass(pair: Pair, filters: ExecutionFilters) -> None:
    special = {1: {"provider": "remote"}, 2: {"task_type": "review"}, 3: {"agent_role": "reviewer"}}
    items = [
        run(
            number,
            task_description=f"mend thing{number}" if number < 30 else "other",
            **special.get(number, {}),
        )
        for number in range(70)
    ]
    put(pair, *items)
    store, index = pair
    expected = {item.id for item in store.select(filters, limit=None)}

    by_words = {hit.id for hit in index.words("mend", filters=filters, limit=100)}
    by_meaning = {hit.id for hit in index.nearest((1.0, 2.0, 3.0), space=TOY, filters=filters, limit=100)}
    assert by_words == {key for key in expected if int(key[-5:]) < 30}
    assert by_meaning == expected


def test_replaced_and_removed_records_are_not_found_as_they_were(pair: Pair) -> None:
    put(
        pair,
        run(1, task_description="old words", embedding=(1.0, 0.0, 0.0)),
        run(2, task_description="gone words"),
        run(3, task_description="unrelated matter"),
        run(4, task_description="unrelated question"),
        run(5, task_description="unrelated answer"),
    )
    put(pair, run(1, task_description="new phrase", embedding=(0.0, 1.0, 0.0), embedding_model="toy@1"))
    store, index = pair
    store.remove(MemoryKind.EXECUTIONS, ["run-00000", "run-00001", "run-00002"])
    store.save([run(1, task_description="new phrase", embedding=(0.0, 1.0, 0.0))])
    if isinstance(index, ShelfLike):
        index.apply(None)
    else:
        index.apply(store.changes(MemoryKind.EXECUTIONS, after=index.position(), limit=100))
        assert index.position() == store.revision(MemoryKind.EXECUTIONS)

    assert index.words("old gone", filters=EVERYTHING, limit=9) == []
    assert [hit.id for hit in index.words("phrase", filters=EVERYTHING, limit=9)] == ["run-00001"]
    nearest = index.nearest((0.0, 1.0, 0.0), space=TOY, filters=EVERYTHING, limit=9)
    assert nearest[0].id in {"run-00001", "run-00003", "run-00004", "run-00005"}
    assert "run-00002" not in {hit.id for hit in nearest}


def test_applying_the_same_change_twice_is_applying_it_once(pair: Pair) -> None:
    store, index = pair[0], fed(pair)
    saved = store.save([run(1), run(2)])
    changes = MemoryChanges(saved.upto, (MemoryEntry.of(run(1)), MemoryEntry.of(run(2))))
    index.apply(changes)
    index.apply(changes)

    assert len(index.words("mend", filters=EVERYTHING, limit=9)) == 2
    assert index.spaces() == {TOY: 2}


def test_a_cleared_index_starts_anew(pair: Pair) -> None:
    index = fed(pair)
    put(pair, run(1))
    store, _ = pair
    index.clear()

    assert index.position() == 0
    assert index.spaces() == {}
    index.apply(store.changes(MemoryKind.EXECUTIONS, after=0, limit=9))
    assert index.spaces() == {TOY: 1}


def test_errors_approaches_and_lessons_are_searched_too(pair: Pair) -> None:
    put(
        pair,
        run(1, error="ECONNREFUSED while dialling the broker", success=False),
        run(2, error=None, approach="bisected the history"),
        run(3, error=None, lesson="캐시를 먼저 비운다"),
        run(4, error=None),
        run(5, error=None),
        run(6, error=None),
    )
    _, index = pair

    for query, expected in (("econnrefused broker", 1), ("bisected", 2), ("캐시를", 3)):
        assert [hit.id for hit in index.words(query, filters=EVERYTHING, limit=5)] == [f"run-{expected:05d}"]


@pytest.mark.parametrize(
    "filters",
    [
        ExecutionFilters(tag=("ci",)),
        ExecutionFilters(tag=("ci", "cold")),
        ExecutionFilters(scope={"project": "p-1"}),
        ExecutionFilters(metadata={"attempt": 2}),
        ExecutionFilters(metadata={"attempt": 2}, tag=("slow", "ci")),
        ExecutionFilters(max_cost_cents=0.5),
        ExecutionFilters(valid_at=NOON + timedelta(days=5)),
    ],
    ids=str,
)
def test_labels_costs_and_expiry_filter_both_legs(pair: Pair, filters: ExecutionFilters) -> None:
    items = [
        run(
            number,
            tags=("ci",) if number % 2 else ("cold", "slow") if number % 4 else ("cd", "slow"),
            scope={"project": f"p-{number % 3}"},
            metadata={"attempt": number % 4},
            cost_cents=number / 8,
            expires_at=NOON + timedelta(days=number) if number % 5 else None,
        )
        for number in range(20)
    ]
    put(pair, *items)
    store, index = pair
    expected = {item.id for item in store.select(filters, limit=None)}

    assert 0 < len(expected) < 20
    assert {hit.id for hit in index.words("mend", filters=filters, limit=100)} == expected
    nearest = index.nearest((1.0, 2.0, 3.0), space=TOY, filters=filters, limit=100)
    assert {hit.id for hit in nearest} == expected


def test_a_cut_gives_the_best_and_a_term_tells_its_holders(pair: Pair) -> None:
    put(pair, *(run(number, task_description=f"mend part{number % 4}") for number in range(40)))
    _, index = pair

    whole = index.nearest((1.0, 5.0, 0.5), space=TOY, filters=EVERYTHING, limit=40)
    assert index.nearest((1.0, 5.0, 0.5), space=TOY, filters=EVERYTHING, limit=7) == whole[:7]
    assert index.held({"run-00001": "mend part1"}, ["mend", "part1", "part2"]) == {
        "run-00001": {"mend", "part1"}
    }
    known = index.frequencies(["part1", "nowhere"])
    told = 0 if type(index).__name__ == "SurrealExecutionIndex" else 10  # the engine does not tell
    assert (known.records, dict(known.holding)) == (40, {"part1": told, "nowhere": 0})
