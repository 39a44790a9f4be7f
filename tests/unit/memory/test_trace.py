from __future__ import annotations

import pytest

from kebab.errors import RecordNotFound
from tests.memory_fakes import run
from tests.unit.memory.conftest import Bench

BARE = {"embedding": None, "embedding_model": None}


def test_causes_are_walked_back_to_the_first(bench: Bench) -> None:
    bench.memory.record_many(run(n, parent=f"run-{n - 1:05d}" if n else None) for n in range(5))
    bench.memory.link("run-00000", "run-00003")

    causes = bench.memory.trace_causes("run-00004")
    assert [(cause.execution.id, cause.distance) for cause in causes] == [
        ("run-00003", 1),
        ("run-00000", 2),
        ("run-00002", 2),
        ("run-00001", 3),
    ]


def test_a_circle_of_causes_ends(bench: Bench) -> None:
    bench.memory.record_many([run(1, parent="run-00002"), run(2, parent="run-00001")])

    assert [cause.execution.id for cause in bench.memory.trace_causes("run-00001")] == ["run-00002"]


def test_a_cause_that_was_never_recorded_is_passed_over(bench: Bench) -> None:
    bench.memory.record(run(1, parent="unknown"))

    assert bench.memory.trace_causes("run-00001") == []


def test_an_unknown_execution_is_an_error(bench: Bench) -> None:
    with pytest.raises(RecordNotFound, match="nobody"):
        bench.memory.trace_causes("nobody")


def test_documents_of_similar_successes_come_first(bench: Bench) -> None:
    bench.memory.record_many(
        [
            run(
                1, task_description="repair login page", success=True, documents_used=("a.md", "b.md"), **BARE
            ),
            run(
                2,
                task_description="repair login form",
                success=False,
                documents_used=("c.md", "b.md"),
                **BARE,
            ),
            run(3, task_description="paint the fence", success=True, documents_used=("d.md",), **BARE),
        ]
    )
    documents = bench.memory.documents_that_helped("repair login")

    assert [item.document for item in documents][:2] == ["b.md", "a.md"]
    shared = documents[0]
    assert (shared.succeeded, shared.failed, set(shared.executions)) == (1, 1, {"run-00001", "run-00002"})
    ranks = {item.document: place for place, item in enumerate(documents)}
    assert ranks["a.md"] < ranks["c.md"]


def test_an_empty_memory_knows_no_helpful_documents(bench: Bench) -> None:
    assert bench.memory.documents_that_helped("anything") == []
