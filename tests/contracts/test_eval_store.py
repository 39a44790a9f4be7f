"""What every EvalStore promises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.eval_store import SqliteEvalStore
from kebab.ports import EvalStore
from tests.store_fakes import FakeEvalStore


@pytest.fixture(params=["fake", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EvalStore]:
    if request.param == "fake":
        yield FakeEvalStore()
        return
    database = Database(tmp_path / "kebab.sqlite")
    yield SqliteEvalStore(database)
    database.close()


def put(store: EvalStore, run_id: str, minute: int, body: str = "{}") -> None:
    store.put(run_id, created_at=f"2026-01-01T00:{minute:02d}:00.000Z", report_json=body)


def test_a_report_comes_back_as_it_was_put(store: EvalStore) -> None:
    put(store, "r1", 1, '{"name": "평가 🍢"}')
    assert store.get("r1") == '{"name": "평가 🍢"}'
    assert store.get("r2") is None


def test_reports_come_newest_first_whatever_the_order_they_were_put_in(store: EvalStore) -> None:
    for minute in (3, 1, 4, 2):
        put(store, f"r{minute}", minute, str(minute))
    assert store.recent(3) == ["4", "3", "2"]


def test_the_same_run_id_replaces(store: EvalStore) -> None:
    put(store, "r1", 1, "old")
    put(store, "r1", 2, "new")
    assert store.recent() == ["new"]
