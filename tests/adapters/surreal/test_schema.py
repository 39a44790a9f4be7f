"""Schema and code cannot drift: each field round-trips, and every difference is an error that names it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any, get_type_hints

import pytest

from kebab.adapters.surreal.connection import StatementFailed
from kebab.adapters.surreal.schema import Migration, check_drift, migrate, shipped
from kebab.adapters.surreal.store import SurrealExecutionStore
from kebab.domain.executions import Execution, ExecutionFilters, Feedback, Scalar, TaskRecord
from kebab.errors import Corrupt, EngineUnavailable
from kebab.ports import MemoryKind
from tests.adapters.surreal.conftest import Connect
from tests.memory_fakes import NOON, run

SAMPLES: dict[Any, list[Any]] = {
    str: ["plain", "한글 “quotes” ' ; -- \n\t", "e\u0301 → é"],
    str | None: [None, "", "text"],
    bool: [True, False],
    int: [0, 1, 2**53 + 1, 2**62],
    float: [0.0, 1.0, 0.1, 1 / 3],
    datetime: [datetime(2026, 3, 1, 13, 0, 0, 123456, tzinfo=UTC)],
    tuple[str, ...]: [(), ("a.md", "b c/한글.md")],
    tuple[float, ...] | None: [(0.1, -2.5, 1e-20), (3.0,) * 1536],
    datetime | None: [None, datetime(2030, 3, 1, 13, 0, 0, 5, tzinfo=UTC)],
    Mapping[str, int]: [{}, {"input": 2**53 + 1, "output": 0}],
    Mapping[str, str]: [{}, {"project": "kebab", "user": "안나"}],
    Mapping[str, Scalar]: [{}, {"a": 1, "b": 0.5, "c": True, "d": "x", "e f": -(2**62)}],
    tuple[Feedback, ...]: [(), (Feedback(at=NOON, by="ci", success=False, note="빨강"), Feedback(at=NOON))],
    Mapping[str, object]: [{}, {"a": {"b": [1, 2.5, None, "x", True]}}],
}
"""Values of every type a field may have. A field of a new type fails below until it has some."""

TASK = TaskRecord(id="t", description="d", recorded_at=NOON, embedding=(1.0,), embedding_model="m")


def cases(base: Execution | TaskRecord) -> list[Any]:
    hints = get_type_hints(type(base))
    return [
        pytest.param(base, field.name, value, id=f"{type(base).__name__}-{field.name}-{number}")
        for field in fields(base)
        for number, value in enumerate(SAMPLES[hints[field.name]])
        # The vector's model is absent exactly when the vector is, and nothing is named by an empty text.
        if not (field.name == "embedding_model" and not value)
        and not (field.name == "parent" and value == "")
    ]


def changed(base: Any, name: str, value: Any) -> Any:
    values = {field.name: getattr(base, field.name) for field in fields(base)} | {name: value}
    if name == "started_at":
        values["finished_at"] = value
    if name == "finished_at":
        values["started_at"] = value
    return type(base)(**values)


@pytest.mark.parametrize(("base", "name", "value"), cases(run(1)) + cases(TASK))
def test_every_field_of_the_type_round_trips(
    store: SurrealExecutionStore, base: Any, name: str, value: Any
) -> None:
    record = changed(base, name, value)
    if isinstance(record, Execution):
        store.save([record])
        assert store.load([record.id]) == {record.id: record}
        assert list(store.every()) == [record]
        assert store.select(ExecutionFilters(), limit=1) == [record]
    else:
        store.save_tasks([record])
        assert store.load_tasks([record.id]) == {record.id: record}


def test_every_field_of_the_type_is_declared(connect: Connect) -> None:
    connection = connect()
    declared = set(connection.query("INFO FOR TABLE kg_executions")[0]["fields"])

    assert {field.name for field in fields(Execution)} - {"id"} <= declared


def seeds_first_schema() -> list[Migration]:
    """The seed's bug: a SCHEMAFULL table without three fields that the code writes."""
    lines = shipped()[0].statements.splitlines()
    kept = [line for line in lines if not re.match(r"DEFINE FIELD (agent_role|provider|cost_cents) ", line)]
    assert len(lines) - len(kept) == 3
    later = [
        replace(each, statements=re.sub(r"(?m)^DEFINE FIELD OVERWRITE .*", "", each.statements))
        for each in shipped()[1:]
    ]
    return [Migration("001_executions", "\n".join(kept)), *later]


def test_a_schema_that_lacks_written_fields_is_an_error_that_names_them(connect: Connect) -> None:
    connection = connect(on_open=lambda opened: migrate(opened, seeds_first_schema()))

    with pytest.raises(Corrupt, match="lacks agent_role, cost_cents, provider"):
        connection.query("RETURN 1")


def test_writing_a_field_that_the_schema_lacks_is_an_error_and_nothing_is_dropped(
    store: SurrealExecutionStore,
) -> None:
    store.save([run(1)])
    store._connection.query("REMOVE FIELD agent_role ON kg_executions")

    with pytest.raises(StatementFailed, match="agent_role"):
        store.save([run(2), run(3)])
    assert [item.id for item in store.every()] == ["run-00001"]


def test_a_declared_field_that_the_type_lacks_is_an_error_that_names_it(connect: Connect) -> None:
    connection = connect()
    connection.query("DEFINE FIELD colour ON kg_executions TYPE option<string>")

    with pytest.raises(Corrupt, match="has colour, which kebab does not know"):
        check_drift(connection)


DAMAGE = {
    "quality_score is absent": "DEFINE FIELD OVERWRITE quality_score ON kg_executions TYPE option<float>; "
    "UPDATE $key SET quality_score = NONE",
    "success holds 'yes'": "DEFINE FIELD OVERWRITE success ON kg_executions TYPE any; "
    "UPDATE $key SET success = 'yes'",
    "quality_score does not lie": "UPDATE $key SET quality_score = 7.0",
    "colour is not a field": "DEFINE FIELD colour ON kg_executions TYPE string; "
    "UPDATE $key SET colour = 'red'",
}


@pytest.mark.parametrize(("named", "statements"), DAMAGE.items(), ids=DAMAGE)
def test_a_row_that_does_not_decode_raises_and_is_never_skipped(
    store: SurrealExecutionStore, named: str, statements: str
) -> None:
    from kebab.adapters.surreal.keys import record_key

    store.save([run(1), run(2)])
    store._connection.query(statements, key=record_key("kg_executions", "run-00001"))
    reads = (
        lambda: store.load(["run-00001", "run-00002"]),
        lambda: store.select(ExecutionFilters(), limit=9),
        lambda: list(store.every()),
        lambda: store.changes(MemoryKind.EXECUTIONS, after=0, limit=9),
    )
    for read in reads:
        with pytest.raises(Corrupt, match=named) as caught:
            read()
        assert caught.value.details["id"] == "run-00001"


def test_migrations_are_applied_once_and_recorded(connect: Connect) -> None:
    connection = connect(on_open=None)

    assert migrate(connection) == [migration.name for migration in shipped()]
    assert migrate(connection) == []
    noted = connection.query("SELECT VALUE record::id(id) FROM kg_migrations ORDER BY id")[0]
    assert noted == [migration.name for migration in shipped()]


def test_a_migration_that_fails_half_way_leaves_nothing_behind(connect: Connect) -> None:
    connection = connect()
    broken = Migration("999_broken", "DEFINE TABLE half_done; THROW 'stop';")

    with pytest.raises(StatementFailed, match="stop"):
        migrate(connection, [*shipped(), broken])
    assert "half_done" not in connection.query("INFO FOR DB")[0]["tables"]
    assert migrate(connection) == []


def test_a_store_of_a_newer_version_is_refused(connect: Connect) -> None:
    connection = connect()
    connection.query("CREATE kg_migrations:`900_future` SET checksum = 'x'")

    with pytest.raises(EngineUnavailable, match="newer kebab"):
        migrate(connection)


def test_an_edited_migration_is_noticed(connect: Connect) -> None:
    connection = connect()
    first, *rest = shipped()

    with pytest.raises(Corrupt, match="001_executions"):
        migrate(connection, [Migration(first.name, first.statements + "-- later"), *rest])


def test_defaults_of_the_seed_stand_in_the_schema(connect: Connect) -> None:
    declared = connect().query("INFO FOR TABLE kg_executions")[0]["fields"]

    assert "TYPE none | string" in declared["agent_role"]
    assert "TYPE string DEFAULT 'unknown'" in declared["provider"]
    assert "TYPE int | float DEFAULT 0" in declared["cost_cents"]
