"""The memory as a user meets it: the real engine, the real analyzer, both ways of searching."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from kebab.adapters.execution_index.index import SidecarExecutionIndex
from kebab.adapters.surreal.native import SurrealExecutionIndex
from kebab.adapters.surreal.store import SurrealExecutionStore
from kebab.domain.executions import ExecutionFilters, TaskRecord
from kebab.domain.fusion import Ranked
from kebab.memory.follow import Followed
from kebab.memory.room import ExecutionMemory
from kebab.ports import MemoryKind, VectorSpace
from kebab.search.analyze import Analyzer
from tests.adapters.surreal.conftest import Connect
from tests.fakes import FakeEmbedder
from tests.folders import remove
from tests.memory_fakes import NOON, FakeExecutionIndex, run

BARE = {"embedding": None, "embedding_model": None}

TASKS = [
    "Fix the flaky login test on CI",
    "소유권 규칙을 설명하는 문서를 번역하다",
    "Rename HybridRetriever and find_similar_executions",
    "빌림 검사기 오류를 고치기",
    "Write release notes for version 2.1.0",
    "Update the certificate of the staging server",
]


def build(way: str, connect: Connect, folder: Path) -> ExecutionMemory:
    analyzer, connection = Analyzer(), connect()
    store = SurrealExecutionStore(connection, analyzer=analyzer)

    def derived(kind: MemoryKind) -> SidecarExecutionIndex:
        return SidecarExecutionIndex(lambda: folder / store.identity() / kind, analyzer=analyzer)

    def native(kind: MemoryKind) -> SurrealExecutionIndex:
        return SurrealExecutionIndex(connection, kind=kind, analyzer=analyzer)

    made: Callable[[MemoryKind], SidecarExecutionIndex | SurrealExecutionIndex]
    made = derived if way == "derived" else native

    def index(kind: MemoryKind) -> Followed:
        return Followed(store, made(kind), kind)

    return ExecutionMemory(store, index(MemoryKind.EXECUTIONS), index(MemoryKind.TASKS), FakeEmbedder())


@pytest.fixture(params=["derived", "native"])
def memory(request: pytest.FixtureRequest, connect: Connect, tmp_path: Path) -> Iterator[ExecutionMemory]:
    made = build(request.param, connect, tmp_path / "index")
    made.record_many(run(n, task_description=text, **BARE) for n, text in enumerate(TASKS, start=1))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("login test flaky", 1),
        ("소유권", 2),
        ("규칙 번역", 2),
        ("빌림 검사기를", 4),
        ("release notes", 5),
        ("certificates", 6),
    ],
)
def test_words_in_both_languages_find_their_task(memory: ExecutionMemory, query: str, expected: int) -> None:
    found = memory.search_words(query)

    assert found.hits[0].execution.id == f"run-{expected:05d}"


def test_hybrid_search_joins_both_signals(memory: ExecutionMemory) -> None:
    hit = memory.hybrid_search("Update the staging certificate").hits[0]

    assert hit.execution.id == "run-00006"
    assert (hit.lexical_rank, hit.semantic_rank) == (1, 1)
    assert hit.hybrid_score == pytest.approx(1.0)


def check_similarity_is_real(memory: ExecutionMemory) -> None:
    """What the seed's stub got wrong: the nearest run is old and failed, the newest successes are far."""
    memory.record(run(100, embedding=(1.0, 0.0, 0.0), success=False, started_at=NOON, finished_at=NOON))
    late = NOON + timedelta(days=50)
    for number in range(101, 106):
        far = (0.0, 1.0, float(number))
        memory.record(run(number, embedding=far, success=True, started_at=late, finished_at=late))
    found = memory.find_similar_executions(embedding=(1.0, 0.05, 0.0), embedding_model="toy@1", limit=3)
    assert found.hits[0].execution.id == "run-00100"
    assert (found.hits[0].semantic_score or 0) > 0.99
    assert (found.hits[1].semantic_score or 1) < 0.5


class RecentRowsIndex(FakeExecutionIndex):
    """The seed's first bug: the embedding is ignored and the newest successful runs come back."""

    def nearest(
        self, vector: Sequence[float], *, space: VectorSpace, filters: ExecutionFilters, limit: int
    ) -> list[Ranked]:
        recent = sorted(self._entries.values(), key=lambda entry: entry.finished_at, reverse=True)
        return [Ranked(entry.id, 1.0) for entry in recent if entry.success][:limit]


def test_similar_runs_are_near_and_not_merely_recent(memory: ExecutionMemory) -> None:
    check_similarity_is_real(memory)


def test_the_check_fails_on_a_stub_that_returns_recent_rows(memory: ExecutionMemory) -> None:
    assert isinstance(memory.store, SurrealExecutionStore)
    stub = Followed(memory.store, RecentRowsIndex(), MemoryKind.EXECUTIONS)
    with pytest.raises(AssertionError):
        check_similarity_is_real(replace(memory, executions=stub))


def test_similar_tasks_use_their_embeddings(memory: ExecutionMemory) -> None:
    for number, vector in enumerate([(1.0, 0.0), (0.0, 1.0), (0.7, 0.7)]):
        task = TaskRecord(id=f"t{number}", description="same words", recorded_at=NOON)
        memory.record_task(replace(task, embedding=vector, embedding_model="m@1"))

    found = memory.find_similar_rlm_tasks(embedding=(0.1, 1.0), embedding_model="m@1")
    assert [hit.task.id for hit in found.hits] == ["t1", "t2", "t0"]


def test_a_search_takes_in_what_another_process_recorded(memory: ExecutionMemory) -> None:
    memory.store.save([run(50, task_description="recorded elsewhere", **BARE)])

    assert memory.search_words("elsewhere").hits[0].execution.id == "run-00050"


def test_exported_and_imported_the_memory_is_the_same(
    memory: ExecutionMemory, connect: Connect, tmp_path: Path
) -> None:
    memory.record_task(TaskRecord(id="t", description="요약", recorded_at=NOON, details={"a": None}))
    lines = list(memory.export_lines())
    other = connect(f"surrealkv://{tmp_path / 'other'}")
    store = SurrealExecutionStore(other, analyzer=Analyzer())
    second = replace(
        memory,
        store=store,
        executions=Followed(store, FakeExecutionIndex(), MemoryKind.EXECUTIONS),
        tasks=Followed(store, FakeExecutionIndex(), MemoryKind.TASKS),
        embedder=None,
    )
    report = second.import_lines(lines)

    assert (report.recorded, report.failures) == (len(TASKS) + 1, ())
    assert list(store.every()) == list(memory.store.every())
    assert list(store.every_task()) == list(memory.store.every_task())


@pytest.mark.parametrize(
    "damage", ["folder gone", "words gone", "vectors gone", "vectors garbage", "words garbage"]
)
def test_a_damaged_derived_index_is_built_again(connect: Connect, tmp_path: Path, damage: str) -> None:
    memory = build("derived", connect, tmp_path / "index")
    memory.record_many(run(n, task_description=text, **BARE) for n, text in enumerate(TASKS, start=1))
    memory.close()
    (folder,) = (tmp_path / "index").glob("*/executions")
    if damage == "folder gone":
        remove(tmp_path / "index")
    elif damage == "words gone":
        remove(folder / "words")
    elif damage == "vectors gone":
        (folder / "vectors.db").unlink()
    elif damage == "vectors garbage":
        for file in folder.glob("vectors.db*"):
            file.write_bytes(b"garbage" * 500)
    else:
        (folder / "words" / "meta.json").write_text("{")
    again = build("derived", connect, tmp_path / "index")

    found = again.hybrid_search("소유권 규칙")
    assert found.hits[0].execution.id == "run-00002"
    assert found.degraded == ()
    assert len(again.find_similar_executions("release notes").hits) == len(TASKS)


def test_another_analyzer_builds_the_derived_index_again(connect: Connect, tmp_path: Path) -> None:
    memory = build("derived", connect, tmp_path / "index")
    memory.record(run(1, task_description="old way", **BARE))

    class Later(Analyzer):
        version = "later-v9"

    assert isinstance(memory.executions, Followed)
    assert isinstance(memory.executions.index, SidecarExecutionIndex)
    changed = SidecarExecutionIndex(memory.executions.index._where, analyzer=Later())
    assert changed.position() == 0


def test_a_store_put_back_from_an_older_copy_makes_the_index_start_anew(
    connect: Connect, tmp_path: Path
) -> None:
    memory = build("derived", connect, tmp_path / "index")
    memory.record(run(1, task_description="kept", **BARE))
    memory.close()
    shutil.copytree(tmp_path / "store", tmp_path / "copy")
    memory.record(run(2, task_description="lost", **BARE))
    memory.close()
    remove(tmp_path / "store")
    shutil.copytree(tmp_path / "copy", tmp_path / "store")

    assert memory.search_words("lost").hits == ()
    assert len(memory.search_words("kept").hits) == 1
