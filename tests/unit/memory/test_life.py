"""Records have a life: looked up, changed, judged later, forgotten."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kebab.domain.executions import Feedback, TaskRecord
from kebab.errors import Conflict, InvalidInput, RecordNotFound
from tests.memory_fakes import NOON, run
from tests.unit.memory.conftest import Bench

BARE = {"embedding": None, "embedding_model": None}


def test_a_record_is_read_by_its_id(bench: Bench) -> None:
    bench.memory.record(run(1))
    bench.memory.record_task(TaskRecord(id="t", description="x", recorded_at=NOON))

    assert bench.memory.get("run-00001") == run(1)
    task = bench.memory.get("t")
    assert isinstance(task, TaskRecord)
    assert task.description == "x"
    with pytest.raises(RecordNotFound, match="nobody"):
        bench.memory.get("nobody")


def test_fields_are_changed_and_a_new_text_gets_a_new_vector(bench: Bench) -> None:
    bench.memory.record(run(1, **BARE))
    before = bench.memory.get("run-00001").embedding
    changed = bench.memory.update("run-00001", {"lesson": "clear the cache", "success": True, "error": None})

    assert (changed.lesson, changed.success, changed.error, changed.embedding) == (
        "clear the cache",
        True,
        None,
        before,
    )
    again = bench.memory.update("run-00001", {"task_description": "something quite different"})
    assert again.embedding != before
    assert bench.memory.get("run-00001") == again


@pytest.mark.parametrize("name", ["id", "embedding", "feedback", "colour"])
def test_what_cannot_be_changed_is_named(bench: Bench, name: str) -> None:
    bench.memory.record(run(1))

    with pytest.raises(InvalidInput, match=name):
        bench.memory.update("run-00001", {name: "x"})


def test_a_red_build_turns_a_success_into_a_failure(bench: Bench) -> None:
    bench.memory.record(run(2, success=True, quality_score=0.9))
    red = Feedback(at=NOON, by="ci", success=False, note="red build")
    judged = bench.memory.feedback("run-00002", red, {"error": "test_login failed"})

    assert (judged.success, judged.quality_score, judged.error) == (False, 0.0, "test_login failed")
    assert judged.feedback == (red,)
    noted = bench.memory.feedback("run-00002", Feedback(at=NOON, note="looked at"))
    assert (noted.success, [each.note for each in noted.feedback]) == (False, ["red build", "looked at"])
    better = bench.memory.feedback("run-00002", Feedback(at=NOON, success=True, quality_score=0.4))
    assert (better.success, better.quality_score) == (True, 0.4)


def test_forgetting_tells_how_many_there_were(bench: Bench) -> None:
    bench.memory.record_many([run(1), run(2)])
    bench.memory.record_task(TaskRecord(id="t", description="x", recorded_at=NOON))

    assert bench.memory.delete(["run-00001", "t", "nobody"]) == 2
    assert [item.id for item in bench.store.every()] == ["run-00002"]
    assert list(bench.store.every_task()) == []


def test_another_agents_record_is_not_replaced(bench: Bench) -> None:
    bench.memory.record(run(1, agent_id="ann"))

    with pytest.raises(Conflict, match="recorded by ann") as caught:
        bench.memory.record_many([run(2), run(1, agent_id="bob")])
    assert caught.value.details == {"id": "run-00001", "agent_id": "ann"}
    assert bench.memory.get("run-00001") == run(1, agent_id="ann")


def test_age_weighs_where_it_is_asked_for_and_says_so(bench: Bench) -> None:
    for number, days in ((1, 300), (2, 1)):
        at = NOON - timedelta(days=days)
        bench.memory.record(
            run(number, task_description="mend the pump", started_at=at, finished_at=at, **BARE)
        )

    plain = bench.memory.hybrid_search("mend the pump")
    assert [hit.recency_weight for hit in plain.hits] == [1.0, 1.0]
    weighed = bench.memory.hybrid_search("mend the pump", half_life_days=30)
    assert [hit.execution.id for hit in weighed.hits] == ["run-00002", "run-00001"]
    assert weighed.hits[0].recency_weight > 0.95
    assert 0.5 <= weighed.hits[1].recency_weight < 0.51
    assert "its age counts ×0.5" in weighed.hits[1].reason
    for wrong in (0, -1, float("nan"), float("inf")):
        with pytest.raises(InvalidInput):
            bench.memory.hybrid_search("x", half_life_days=wrong)
