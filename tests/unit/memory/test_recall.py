from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab.domain.executions import ExecutionFilters, TaskRecord
from kebab.domain.fusion import Ranked
from kebab.domain.recalls import Prefer, Recalled
from kebab.errors import EngineUnavailable, InvalidInput, ModelMismatch, ModelUnavailable
from kebab.memory.follow import Followed
from kebab.memory.recall import FAILURE_WEIGHT
from kebab.memory.room import ExecutionMemory
from kebab.ports import MemoryKind, VectorSpace
from tests.fakes import FakeEmbedder
from tests.memory_fakes import NOON, FakeExecutionIndex, FakeExecutionStore, run
from tests.unit.memory.conftest import Bench

BARE = {"embedding": None, "embedding_model": None}


def fill(bench: Bench, *texts: str, **changed: Any) -> None:
    bench.memory.record_many(
        run(number, task_description=text, **BARE, **changed) for number, text in enumerate(texts, start=1)
    )


def ids(found: Recalled) -> list[str]:
    return [hit.execution.id for hit in found.hits]


def test_first_in_both_lists_beats_first_in_one(bench: Bench) -> None:
    class Scripted(FakeExecutionIndex):
        def words(self, text: str, *, filters: ExecutionFilters, limit: int) -> list[Ranked]:
            return [Ranked("run-00001", 9.0), Ranked("run-00002", 8.0)]

        def nearest(
            self, vector: Sequence[float], *, space: VectorSpace, filters: ExecutionFilters, limit: int
        ) -> list[Ranked]:
            return [Ranked("run-00001", 0.9), Ranked("run-00003", 0.8)]

    memory = replace(bench.memory, executions=Followed(bench.store, Scripted(), MemoryKind.EXECUTIONS))
    memory.record_many(run(number, **BARE) for number in (1, 2, 3))
    found = memory.hybrid_search("x")

    assert ids(found)[0] == "run-00001"
    assert [hit.hybrid_score for hit in found.hits] == pytest.approx([1.0, 61 / 124, 61 / 124])


def test_each_hit_tells_the_score_and_rank_of_each_signal(bench: Bench) -> None:
    fill(bench, "repair login page", "write release notes")
    hit, other = bench.memory.hybrid_search("repair login").hits

    assert (hit.lexical_rank, hit.semantic_rank) == (1, 1)
    assert hit.lexical_score is not None
    assert hit.semantic_score is not None
    assert 0 < hit.lexical_score < 1
    assert 0 < hit.semantic_score <= 1
    assert "words: place 1" in hit.reason
    assert "meaning: place 1" in hit.reason
    assert (other.lexical_rank, other.lexical_score) == (None, None)
    assert other.semantic_rank == 2


def test_both_legs_give_pools_of_the_same_size(bench: Bench) -> None:
    fill(bench, "repair login page")
    for limit in (5, 80, 101, 1000):
        bench.memory.hybrid_search("repair", limit=limit)

    assert bench.executions.limits == [100, 100, 100, 100, 1000, 1000, 1000, 1000]


def test_the_first_hits_of_any_limit_are_the_same(bench: Bench) -> None:
    """Two lists of 400 that share their records in opposite order: deep places would tip the balance."""
    keys = [f"run-{number:05d}" for number in range(400)]

    class Scripted(FakeExecutionIndex):
        def words(self, text: str, *, filters: ExecutionFilters, limit: int) -> list[Ranked]:
            return [Ranked(key, 400.0 - place) for place, key in enumerate(keys)][:limit]

        def nearest(
            self, vector: Sequence[float], *, space: VectorSpace, filters: ExecutionFilters, limit: int
        ) -> list[Ranked]:
            turned = keys[200:] + keys[:200]
            return [Ranked(key, 1 - place / 500) for place, key in enumerate(turned)][:limit]

    memory = replace(bench.memory, executions=Followed(bench.store, Scripted(), MemoryKind.EXECUTIONS))
    memory.record_many(run(number, **BARE) for number in range(400))
    whole = ids(memory.hybrid_search("x", limit=1000))

    assert len(whole) == 400
    for limit in (1, 10, 50, 51, 99, 100, 101, 150, 399):
        assert ids(memory.hybrid_search("x", limit=limit)) == whole[:limit]


def test_without_a_text_meaning_answers_alone_and_says_so(bench: Bench) -> None:
    bench.memory.record_many([run(1, embedding=(1.0, 0.0, 0.0)), run(2, embedding=(0.0, 1.0, 0.0))])
    found = bench.memory.hybrid_search("", embedding=(1.0, 0.1, 0.0))

    assert ids(found) == ["run-00001", "run-00002"]
    assert [(note.part, note.code) for note in found.degraded] == [("lexical", "invalid_input")]
    assert found.hits[0].lexical_rank is None


def test_with_an_empty_embedding_words_answer_alone_and_say_so(bench: Bench) -> None:
    fill(bench, "repair login page", "write release notes")
    found = bench.memory.hybrid_search("login", embedding=())

    assert ids(found) == ["run-00001"]
    assert [(note.part, note.code) for note in found.degraded] == [("semantic", "invalid_input")]


def test_without_any_input_there_is_an_error_and_not_the_newest_runs(bench: Bench) -> None:
    fill(bench, "repair login page")
    for search in (bench.memory.hybrid_search, bench.memory.find_similar_executions):
        with pytest.raises(InvalidInput, match="nothing to look for"):
            search("  ", embedding=())


def test_an_empty_memory_gives_an_empty_list_without_complaint(bench: Bench) -> None:
    found = bench.memory.hybrid_search("anything")

    assert (found.hits, found.degraded) == ((), ())
    assert bench.memory.find_similar_executions("anything").hits == ()
    assert bench.memory.find_similar_rlm_tasks("anything").hits == ()


def test_words_that_nothing_holds_find_nothing_rather_than_the_newest(bench: Bench) -> None:
    fill(bench, "repair login page", "write release notes")

    assert bench.memory.search_words("quantum chromodynamics").hits == ()


@pytest.mark.parametrize(("broken", "part"), [("words", "lexical"), ("nearest", "semantic")])
def test_one_failing_leg_is_declared_and_the_other_answers(bench: Bench, broken: str, part: str) -> None:
    fill(bench, "repair login page")
    bench.executions.broken = {broken}
    found = bench.memory.hybrid_search("repair login page")

    assert ids(found) == ["run-00001"]
    assert [(note.part, note.code) for note in found.degraded] == [(part, "engine_unavailable")]


def test_when_no_leg_can_run_the_error_is_raised(bench: Bench) -> None:
    fill(bench, "repair login page")
    bench.executions.broken = {"words", "nearest"}

    with pytest.raises(EngineUnavailable):
        bench.memory.hybrid_search("repair")


def test_an_unreachable_store_is_an_error_and_not_an_empty_result(bench: Bench) -> None:
    bench.store.down = True

    with pytest.raises(EngineUnavailable, match="down"):
        bench.memory.hybrid_search("repair")


def test_an_index_that_cannot_follow_answers_with_what_it_has_and_says_so(bench: Bench) -> None:
    fill(bench, "repair login page")
    bench.executions.broken = {"apply"}
    bench.memory.record(run(9, task_description="repair logout page"))
    found = bench.memory.hybrid_search("repair")

    assert ids(found) == ["run-00001"]
    assert [note.part for note in found.degraded] == ["index"]


def test_without_a_model_similar_raises_and_search_uses_words(bench: Bench) -> None:
    fill(bench, "repair login page")
    memory = replace(bench.memory, embedder=None)

    with pytest.raises(ModelUnavailable):
        memory.find_similar_executions("repair")
    found = memory.hybrid_search("repair")
    assert ids(found) == ["run-00001"]
    assert [note.code for note in found.degraded] == ["model_unavailable"]


def test_vectors_of_another_model_are_never_compared(bench: Bench) -> None:
    bench.memory.record(run(1))  # toy@1, three dimensions

    with pytest.raises(ModelMismatch, match="toy@1"):
        bench.memory.find_similar_executions("mend")
    with pytest.raises(ModelMismatch):
        bench.memory.find_similar_executions(embedding=(1.0, 0.0))
    assert bench.memory.hybrid_search("mend").degraded[0].code == "model_mismatch"


def test_an_embedding_whose_length_fits_two_models_must_name_one(bench: Bench) -> None:
    bench.memory.record_many([run(1), run(2, embedding_model="toy@2")])

    with pytest.raises(InvalidInput, match="name one"):
        bench.memory.find_similar_executions(embedding=(1.0, 0.0, 0.0))
    named = bench.memory.find_similar_executions(embedding=(1.0, 0.0, 0.0), embedding_model="toy@2")
    assert ids(named) == ["run-00002"]


def test_preferring_success_weighs_failures_and_explains_it(bench: Bench) -> None:
    bench.memory.record_many(
        [
            run(1, task_description="repair login page", success=False, **BARE),
            run(2, task_description="repair login form on page", success=True, **BARE),
        ]
    )
    assert ids(bench.memory.hybrid_search("repair login page")) == ["run-00001", "run-00002"]
    found = bench.memory.hybrid_search("repair login page", prefer=Prefer.SUCCESS)

    assert ids(found) == ["run-00002", "run-00001"]
    failed = found.hits[1]
    assert failed.outcome_weight == FAILURE_WEIGHT
    assert failed.hybrid_score == pytest.approx(FAILURE_WEIGHT)
    assert "failed run counts" in failed.reason
    assert found.hits[0].outcome_weight == 1.0


def test_a_success_deep_in_the_list_can_still_pass_the_failures_before_it(bench: Bench) -> None:
    bench.memory.record_many(
        run(number, task_description="repair login page", success=number == 30, **BARE)
        for number in range(1, 31)
    )
    found = bench.memory.hybrid_search("repair login page", limit=3, prefer=Prefer.SUCCESS)

    assert found.hits[0].execution.id == "run-00030"


def test_filters_apply_before_the_cut(bench: Bench) -> None:
    fill(bench, *["repair login page"] * 150)
    late = ExecutionFilters(after=NOON + timedelta(hours=141))

    assert len(bench.memory.hybrid_search("repair", limit=20, filters=late).hits) == 10


def test_a_limit_out_of_range_is_refused(bench: Bench) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        bench.memory.hybrid_search("x", limit=0)


@cache
def sixty_runs() -> ExecutionMemory:
    store = FakeExecutionStore()
    index = Followed(store, FakeExecutionIndex(), MemoryKind.EXECUTIONS)
    memory = ExecutionMemory(store, index, index, FakeEmbedder(dimensions=8))
    words = ["login", "page", "notes", "build"]
    memory.record_many(run(n, task_description=" ".join(words[n % 4 :]), **BARE) for n in range(60))
    return memory


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["login", "page", "notes", "build", "test"]), min_size=1, max_size=4))
def test_the_first_hits_do_not_depend_on_the_limit(words: list[str]) -> None:
    few = sixty_runs().hybrid_search(" ".join(words), limit=5)
    many = sixty_runs().hybrid_search(" ".join(words), limit=50)

    assert ids(few) == ids(many)[:5]


def test_task_records_are_found_by_meaning_and_without_a_vector_by_words(bench: Bench) -> None:
    near = TaskRecord(
        id="near", description="zebra", recorded_at=NOON, embedding=(1.0, 0.0), embedding_model="m"
    )
    far = TaskRecord(
        id="far", description="lion", recorded_at=NOON, embedding=(0.0, 1.0), embedding_model="m"
    )
    plain = replace(far, id="plain", description="요약 작업", embedding=None, embedding_model=None)
    memory = replace(bench.memory, embedder=None)
    for task in (far, near, plain):
        memory.record_task(task)

    by_meaning = memory.find_similar_rlm_tasks(embedding=(1.0, 0.1))
    assert [hit.task.id for hit in by_meaning.hits] == ["near", "far"]
    by_words = memory.find_similar_rlm_tasks("요약")
    assert [hit.task.id for hit in by_words.hits] == ["plain"]
    assert by_words.hits[0].task.embedding is None


def test_the_runs_of_an_agent_and_of_a_type_of_task_come_newest_first(bench: Bench) -> None:
    bench.memory.record_many(
        run(n, agent_id=f"agent-{n % 2}", task_type="review" if n > 3 else "coding") for n in range(1, 7)
    )

    of_agent = bench.memory.executions_of_agent("agent-1", limit=2)
    of_type = bench.memory.executions_for_task_type("review")

    assert [one.id for one in of_agent] == ["run-00005", "run-00003"]
    assert [one.id for one in of_type] == ["run-00006", "run-00005", "run-00004"]
