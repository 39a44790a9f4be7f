"""A copy of the store says how far it is, and can be stopped."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kebab.adapters.sqlite import copying
from kebab.domain.ingests import IngestPhase, IngestProgress


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """Some twenty megabytes; whoever copies them looks often."""
    monkeypatch.setattr(copying, "_STEPS", 100)
    monkeypatch.setattr(copying, "EVERY_S", 0.0)
    with closing(sqlite3.connect(tmp_path / "store", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE texts (number INTEGER PRIMARY KEY, text BLOB)")
        connection.executemany(
            "INSERT INTO texts VALUES (?, randomblob(2000))", [(n,) for n in range(10_000)]
        )
        yield connection


def test_a_copy_is_whole_and_tells_its_megabytes(store: sqlite3.Connection, tmp_path: Path) -> None:
    events: list[IngestProgress] = []
    copying.copy_into(store, tmp_path / "copy", events.append)
    with closing(sqlite3.connect(tmp_path / "copy")) as copy:
        assert copy.execute("SELECT count(*) FROM texts").fetchone() == (10_000,)
    done = [event.done for event in events]
    assert {(event.kind, event.phase) for event in events} == {("progress", IngestPhase.COPY)}
    assert done == sorted(done)
    assert 0 < max(done) <= events[-1].total == pytest.approx(20, abs=3)


def test_ctrl_c_ends_a_copy_at_once_and_the_store_goes_on(store: sqlite3.Connection, tmp_path: Path) -> None:
    def interrupted(event: IngestProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copying.copy_into(store, tmp_path / "copy", interrupted)
    assert store.execute("SELECT count(*) FROM texts").fetchone() == (10_000,)
