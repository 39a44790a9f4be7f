"""What every ExecutionIndex promises: the fake, the derived one and the engine's own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from kebab.domain.executions import Execution, ExecutionFilters
from kebab.ports import ExecutionIndex, ExecutionStore, MemoryChanges, MemoryEntry, MemoryKind, VectorSpace
from tests.contracts.test_execution_store import surreal_store
from tests.fakes import FakeAnalyzer
from tests.memory_fakes import NOON, FakeExecutionIndex, FakeExecutionStore, run

TOY = VectorSpace("toy@1", 3)
EVERYTHING = ExecutionFilters()

Pair = tuple[ExecutionStore, ExecutionIndex]


@pytest.fixture(params=["fake", "derived", "native"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    """A store and an index that follows it: the native one searches the store itself."""
    if request.param == "native":
        from kebab.adapters.surreal.native import SurrealExecutionIndex

        store = surreal_store(f"surrealkv://{tmp_path / 'store'}")
        connection = store._connection  # type: ignore[attr-defined]
        yield store, SurrealExecutionIndex(connection, kind=MemoryKind.EXECUTIONS, analyzer=FakeAnalyzer())
        store.close()
    elif request.param == "derived":
        from kebab.adapters.execution_index.index import SidecarExecutionIndex

        yield FakeExecutionStore(), SidecarExecutionIndex(lambda: tmp_path / "index", analyzer=FakeAnalyzer())
    else:
        yield FakeExecutionStore(), FakeExecutionIndex()


def put(pair: Pair, *executions: Execution) -> None:
    store, index = pair
    saved = store.save(executions)
    index.apply(MemoryChanges(saved.upto, tuple(MemoryEntry.of(item) for item in executions)))


def test_a_new_index_is_empty(pair: Pair) -> None:
    _, index = pair

    assert index.position() == 0
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
    store.prune(before=run(2).finished_at + timedelta(seconds=1), dry_run=False)
    store.save([run(1, task_description="new phrase", embedding=(0.0, 1.0, 0.0))])
    index.apply(store.changes(MemoryKind.EXECUTIONS, after=index.position(), limit=100))

    assert index.words("old gone", filters=EVERYTHING, limit=9) == []
    assert [hit.id for hit in index.words("phrase", filters=EVERYTHING, limit=9)] == ["run-00001"]
    nearest = index.nearest((0.0, 1.0, 0.0), space=TOY, filters=EVERYTHING, limit=9)
    assert nearest[0].id in {"run-00001", "run-00003", "run-00004", "run-00005"}
    assert "run-00002" not in {hit.id for hit in nearest}
    assert index.position() == store.revision(MemoryKind.EXECUTIONS)


def test_applying_the_same_change_twice_is_applying_it_once(pair: Pair) -> None:
    store, index = pair
    saved = store.save([run(1), run(2)])
    changes = MemoryChanges(saved.upto, (MemoryEntry.of(run(1)), MemoryEntry.of(run(2))))
    index.apply(changes)
    index.apply(changes)

    assert len(index.words("mend", filters=EVERYTHING, limit=9)) == 2
    assert index.spaces() == {TOY: 2}


def test_a_cleared_index_starts_anew(pair: Pair) -> None:
    put(pair, run(1))
    store, index = pair
    index.clear()

    assert index.position() == 0
    assert index.spaces() == {}
    index.apply(store.changes(MemoryKind.EXECUTIONS, after=0, limit=9))
    assert index.spaces() == {TOY: 1}
