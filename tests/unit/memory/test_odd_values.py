"""Values that no store can hold fail their own line and no other."""

from __future__ import annotations

import json

import pytest

from tests.unit.memory.conftest import Bench

GOOD = {
    "agent_id": "ann",
    "task_id": "t",
    "task_type": "fix",
    "task_description": "mend",
    "success": True,
    "quality_score": 1,
    "latency_ms": 5,
    "started_at": "2026-03-01T10:00:00Z",
}
TASK = {"schema_version": "task.v1", "id": "t", "description": "x", "recorded_at": "2026-03-01T10:00:00Z"}


def odd(**changed: object) -> str:
    return json.dumps({**GOOD, **changed})


ODD = [
    odd(latency_ms=2**63),
    odd(latency_ms=10**400),
    odd(cost_cents=10**400),
    odd(quality_score=10**400),
    odd(metadata={"n": 2**64}),
    odd(metadata={"deep": {"a": 1}}),
    odd(tokens={"input": 2**63}),
    odd(tokens={"input": -1}),
    odd(scope={"planet": "earth"}),
    odd(embedding=[10**400, 1], embedding_model="m"),
    odd(embedding=[1e39, 1e39], embedding_model="m"),
    odd(embedding=[0, 0], embedding_model="m"),
    odd(started_at="0001-01-01T00:00:00+14:00"),
    odd(started_at="9999-12-31T23:59:59-12:00"),
    odd(started_at="1969-12-31T23:59:59Z"),
    odd(started_at="2026-02-30T10:00:00Z"),
    odd(expires_at="9999-12-31T00:00:00Z"),
    odd(feedback=[{"note": "no time"}]),
    odd(feedback=["text"]),
    json.dumps({**TASK, "details": {"n": 2**70}}),
    json.dumps({**TASK, "details": {"n": float("nan")}}),
    json.dumps({**TASK, "recorded_at": "2300-01-01T00:00:00Z"}),
    "[" * 100_000,
    json.dumps({"schema_version": "link.v1", "cause": "a", "effect": 3}),
]


@pytest.mark.parametrize("line", ODD, ids=lambda line: line[-60:])
def test_an_odd_value_fails_its_own_line_only(bench: Bench, line: str) -> None:
    report = bench.memory.import_lines([odd(task_id="before"), line, odd(task_id="after")])

    assert [failure.line for failure in report.failures] == [2]
    assert report.new == 2


def test_lone_surrogates_and_zeros_are_replaced_in_every_text(bench: Bench) -> None:
    text = "a\ud800b\0c"
    line = odd(
        id=text, lesson=text, tags=[text], metadata={text: text}, scope={"user": text}, tokens={text: 1}
    )
    task = json.dumps({**TASK, "id": text, "details": {text: [text]}})
    report = bench.memory.import_lines([line, task])

    assert report.failures == ()
    (run,) = bench.store.every()
    assert (run.id, run.lesson, run.tags, run.metadata) == ("a?bc", "a?bc", ("a?bc",), {"a?bc": "a?bc"})
    (kept,) = bench.store.every_task()
    assert (kept.id, kept.details) == ("a?bc", {"a?bc": ["a?bc"]})
    json.dumps(list(bench.memory.export_lines())).encode()
