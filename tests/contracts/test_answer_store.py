"""What every answer store promises, on the fake and on SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kebab.adapters.sqlite.answer_store import SqliteAnswerStore
from kebab.adapters.sqlite.connection import Database
from kebab.ports import AnswerStore
from tests.store_fakes import FakeAnswerStore


@pytest.fixture(params=["fake", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AnswerStore]:
    if request.param == "fake":
        yield FakeAnswerStore()
        return
    database = Database(tmp_path / "kebab.sqlite")
    yield SqliteAnswerStore(database)
    database.close()


def put(store: AnswerStore, trace_id: str, minute: int, body: str = "{}") -> None:
    created = f"2026-01-01T00:{minute:02d}:00.000Z"
    store.put(trace_id, created_at=created, question="왜?", answer_json=body)


def test_an_answer_comes_back_as_it_was_put(store: AnswerStore) -> None:
    put(store, "ans_1", 1, '{"text": "소유권 \\u0000 🍢"}')
    assert store.get("ans_1") == '{"text": "소유권 \\u0000 🍢"}'


def test_an_unknown_answer_is_none(store: AnswerStore) -> None:
    assert store.get("ans_nope") is None


def test_the_newest_come_first(store: AnswerStore) -> None:
    for minute in range(5):
        put(store, f"ans_{minute}", minute, str(minute))
    assert store.recent(3) == ["4", "3", "2"]


def test_the_same_trace_id_replaces(store: AnswerStore) -> None:
    put(store, "ans_1", 1, "old")
    put(store, "ans_1", 1, "new")
    assert store.get("ans_1") == "new"
    assert store.recent() == ["new"]
