from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.executions import Execution, TaskRecord, single_precision
from kebab.errors import InvalidInput
from kebab.memory.follow import Followed
from kebab.memory.room import ExecutionMemory
from kebab.memory.shape import from_json, to_json
from kebab.ports import MemoryKind
from tests.memory_fakes import NOON, FakeExecutionIndex, FakeExecutionStore, run
from tests.unit.memory.conftest import Bench

LEAST = {
    "agent_id": "a",
    "task_id": "t",
    "task_type": "fix",
    "task_description": "x",
    "success": True,
    "quality_score": 1,
    "started_at": "2026-03-01T12:00:00Z",
    "latency_ms": 1500,
}

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
names = texts.filter(lambda text: text.strip() != "")
moments = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
vectors = st.lists(st.floats(-10, 10, width=32), min_size=1, max_size=8).filter(any).map(single_precision)


@st.composite
def executions(draw: st.DrawFn) -> Execution:
    started = draw(moments)
    embedding = draw(st.none() | vectors)
    return Execution(
        id=draw(names),
        agent_id=draw(names),
        agent_role=draw(st.none() | texts),
        task_id=draw(names),
        task_type=draw(names),
        task_description=draw(texts),
        success=draw(st.booleans()),
        error=draw(st.none() | texts),
        quality_score=draw(st.floats(0, 1)),
        latency_ms=draw(st.integers(0, 2**40)),
        cost_cents=draw(st.integers(0, 2**40)),
        provider=draw(names),
        started_at=started,
        finished_at=started + draw(st.timedeltas(timedelta(), timedelta(days=9))),
        documents_used=tuple(draw(st.lists(names, max_size=3))),
        embedding=embedding,
        embedding_model=draw(names) if embedding else None,
    )


@given(executions())
def test_an_execution_survives_json(execution: Execution) -> None:
    assert from_json(json.loads(json.dumps(to_json(execution)))) == execution


def test_a_task_record_survives_json() -> None:
    task = TaskRecord(id="t", description="요약", recorded_at=NOON, details={"a": [1, None]})

    assert from_json(json.loads(json.dumps(to_json(task)))) == task


def test_what_follows_from_the_rest_may_be_left_out() -> None:
    made = from_json(LEAST)

    assert isinstance(made, Execution)
    assert made.finished_at == NOON + timedelta(seconds=1.5)
    assert (made.provider, made.cost_cents, made.agent_role) == ("unknown", 0, None)
    assert from_json(LEAST) == made
    other = from_json({**LEAST, "agent_id": "b"})
    assert isinstance(other, Execution)
    assert other.id != made.id


def test_output_without_the_vector_can_be_imported() -> None:
    shaped = to_json(run(1), embedding=False)

    found = from_json(shaped)
    assert isinstance(found, Execution)
    assert found.embedding_model is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"agent_role": 3}, "agent_role must be a string"),
        ({"success": "yes"}, "success must be true or false"),
        ({"latency_ms": True}, "latency_ms must be a whole number"),
        ({"quality_score": 2}, "quality_score does not lie"),
        ({"started_at": "yesterday"}, "started_at must be a time"),
        ({"started_at": "2026-03-01T12:00:00"}, "started_at lacks a time zone"),
        ({"finished_at": "2020-01-01T00:00:00Z"}, "finished_at is before"),
        ({"cost_cents": -1}, "cost_cents must not be negative"),
        ({"documents_used": "a.md"}, "documents_used must be a list"),
        ({"documents_used": [1]}, "documents_used must be a list"),
        ({"embedding": [1, "x"], "embedding_model": "m"}, "embedding must be a list"),
        ({"embedding": [1.0]}, "embedding_model go together"),
        ({"embedding": [0, 0], "embedding_model": "m"}, "zero everywhere"),
        ({"agent_id": " "}, "agent_id must not be empty"),
        ({"colour": "red"}, "colour is not a field"),
        ({"task_type": None}, "task_type is missing"),
        ({"schema_version": "execution.v9"}, "neither execution.v1"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        from_json({**LEAST, **change})


def test_a_wrong_line_is_reported_with_its_number_and_costs_no_other(bench: Bench) -> None:
    good = [json.dumps({**LEAST, "task_id": f"t{number}"}) for number in range(3)]
    task = json.dumps({"schema_version": "task.v1", "description": "x", "recorded_at": LEAST["started_at"]})
    lines: list[str | bytes] = [
        good[0],
        "not json",
        "",
        "[1]",
        good[1].encode(),
        b"\xff\xfe",
        '{"agent_id": 7}',
        good[2],
        task,
    ]
    report = bench.memory.import_lines(lines)

    assert report.recorded == 4
    assert [failure.line for failure in report.failures] == [2, 4, 6, 7]
    assert "not JSON" in report.failures[0].message
    assert "agent_id" in report.failures[3].message
    assert (bench.memory.stats().executions, bench.memory.stats().tasks) == (3, 1)


def test_importing_twice_records_nothing_twice(bench: Bench) -> None:
    lines = [json.dumps({**LEAST, "task_id": f"t{number}"}) for number in range(5)]
    bench.memory.import_lines(lines)
    bench.memory.import_lines(lines)

    assert bench.memory.stats().executions == 5


def test_what_is_exported_can_be_imported_elsewhere_and_is_the_same(bench: Bench) -> None:
    bench.memory.record_many(run(number, cost_cents=number / 3) for number in range(5))
    bench.memory.link("run-00004", "run-00001")
    bench.memory.record_task(TaskRecord(id="t", description="요약", recorded_at=NOON, details={"a": None}))
    store = FakeExecutionStore()
    elsewhere = ExecutionMemory(
        store,
        Followed(store, FakeExecutionIndex(), MemoryKind.EXECUTIONS),
        Followed(store, FakeExecutionIndex(), MemoryKind.TASKS),
        None,
    )
    report = elsewhere.import_lines(bench.memory.export_lines())

    assert (report.recorded, report.failures) == (6, ())
    assert list(elsewhere.store.every()) == list(bench.store.every())
    assert list(elsewhere.store.every_task()) == list(bench.store.every_task())
    assert elsewhere.store.links() == [("run-00004", "run-00001")]
    bare = [json.loads(line) for line in bench.memory.export_lines(vectors=False)]
    assert not any("embedding" in line for line in bare)
