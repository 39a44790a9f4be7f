from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kebab.domain.executions import TaskRecord
from kebab.errors import EngineUnavailable, ModelUnavailable, ReadOnly
from kebab.memory.embedding import UnavailableEmbedder
from kebab.memory.follow import catch_up
from kebab.memory.room import ExecutionMemory
from kebab.ports import MemoryKind
from tests.fakes import FakeEmbedder
from tests.memory_fakes import NOON, run
from tests.unit.memory.conftest import Bench

BARE = {"embedding": None, "embedding_model": None}


def test_a_run_without_a_vector_gets_one_of_the_configured_model(bench: Bench) -> None:
    saved = bench.memory.record(run(1, **BARE))

    assert saved.embedding_model == "fake-bag@1"
    assert bench.store.load(["run-00001"]) == {"run-00001": saved}
    assert bench.executions.position() == 1


def test_a_run_that_brings_its_vector_keeps_it(bench: Bench) -> None:
    assert bench.memory.record(run(1)) == run(1)
    assert bench.embedder.calls == []


def test_an_empty_description_gets_no_vector(bench: Bench) -> None:
    assert bench.memory.record(run(1, task_description="  ", **BARE)).embedding is None


def test_record_many_writes_in_batches_and_counts_each_run_once(bench: Bench) -> None:
    runs = [run(number) for number in range(2500)] + [run(3, success=True)]

    assert bench.memory.record_many(iter(runs)) == 2501
    assert bench.memory.stats().executions == 2500
    assert bench.store.load(["run-00003"])["run-00003"].success
    assert bench.executions.position() == bench.store.revision(MemoryKind.EXECUTIONS) == 2501


def test_an_index_that_fails_costs_no_record_and_catches_up_later(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.executions.broken = {"apply"}
    bench.memory.record(run(1, task_description="lost and found", **BARE))
    assert "behind" in caplog.text
    bench.executions.broken = set()

    found = bench.memory.hybrid_search("found")
    assert [hit.execution.id for hit in found.hits] == ["run-00001"]
    assert found.degraded == ()


def test_an_index_that_missed_a_write_of_another_process_takes_it_in_with_the_next(bench: Bench) -> None:
    bench.store.save([run(1)])
    bench.memory.record(run(2))

    assert bench.executions.position() == 2
    assert len(bench.memory.search_words("mend").hits) == 2


def test_a_model_that_cannot_be_used_costs_no_record(bench: Bench) -> None:
    broken = replace(bench.memory, embedder=UnavailableEmbedder(EngineUnavailable("no weights")))
    broken.record(run(1, **BARE))

    assert bench.store.load(["run-00001"])["run-00001"].embedding is None
    with pytest.raises(ModelUnavailable, match="no weights"):
        broken.embed_missing()


def test_switching_the_model_gives_every_run_its_vector(bench: Bench) -> None:
    bench.memory.record_many([run(1), run(2, **BARE)])
    other = replace(bench.memory, embedder=FakeEmbedder(8, version="2"))

    assert other.embed_missing() == 2
    assert {item.embedding_model for item in bench.store.every()} == {"fake-bag@2"}
    assert other.embed_missing() == 0


def test_a_read_only_memory_refuses_every_write(bench: Bench) -> None:
    memory = replace(bench.memory, readonly=True)
    writes = (
        lambda: memory.record(run(1)),
        lambda: memory.record_many([run(1)]),
        lambda: memory.record_task(TaskRecord(id="t", description="x", recorded_at=NOON)),
        lambda: memory.link("a", "b"),
        lambda: memory.prune(older_than=timedelta()),
        lambda: memory.embed_missing(),
        lambda: memory.delete(["a"]),
    )
    for write in writes:
        with pytest.raises(ReadOnly):
            write()
    assert memory.prune(older_than=timedelta(), dry_run=True).executions == 0


def test_pruning_by_age_forgets_in_the_index_too(bench: Bench) -> None:
    bench.memory.record_many(run(number) for number in range(4))
    memory: ExecutionMemory = replace(bench.memory, clock=lambda: NOON + timedelta(days=10, hours=2))

    assert memory.prune(older_than=timedelta(days=10), dry_run=True).executions == 2
    assert len(memory.search_words("mend").hits) == 4
    assert memory.prune(older_than=timedelta(days=10)).executions == 2
    assert {hit.execution.id for hit in memory.search_words("mend").hits} == {"run-00002", "run-00003"}


def test_an_index_that_another_process_brought_further_is_not_built_again(bench: Bench) -> None:
    bench.memory.record_many([run(1), run(2)])
    cleared: list[bool] = []
    bench.executions.clear = lambda: cleared.append(True)  # type: ignore[method-assign]

    catch_up(bench.store, bench.executions, MemoryKind.EXECUTIONS, latest=1)
    assert cleared == []
    assert bench.executions.position() == 2
