"""Few connections for many threads: bounded, never a thread waiting for itself, closed when done."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.document_store import SqliteDocumentStore
from kebab.adapters.sqlite.pool import SIZE, ClosingConnection, Pool
from kebab.errors import Locked
from tests.samples import sample

SOON = 5.0


class Source:
    """Makes connections and remembers them."""

    def __init__(self) -> None:
        self.made: list[ClosingConnection] = []

    def __call__(self) -> ClosingConnection:
        made = sqlite3.connect(":memory:", check_same_thread=False, factory=ClosingConnection)
        self.made.append(made)
        return made

    def open_now(self) -> int:
        return sum(is_open(connection) for connection in self.made)


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


def test_many_threads_share_few_connections_and_each_is_alone_with_its_own() -> None:
    source = Source()
    pool = Pool(source, size=3)
    busy: set[int] = set()

    def use(_: int) -> bool:
        with pool.lent() as connection:
            alone = id(connection) not in busy
            busy.add(id(connection))
            threading.Event().wait(0.002)
            busy.discard(id(connection))
            return alone

    with ThreadPoolExecutor(16) as threads:
        assert all(threads.map(use, range(100)))
    assert len(source.made) <= 3


def test_a_use_inside_another_gets_the_same_connection_even_from_a_pool_of_one() -> None:
    pool = Pool(Source(), size=1, patience_s=0.01)
    held = [pool.held]
    with pool.lent() as outer, pool.lent() as inner:
        assert outer is inner
        held.append(pool.held)
    assert [*held, pool.held] == [False, True, False]


def test_a_connection_that_came_back_is_lent_again() -> None:
    source = Source()
    pool = Pool(source)
    for _ in range(5):
        with pool.lent():
            pass
    assert len(source.made) == 1


def test_who_waits_too_long_is_told_so() -> None:
    pool = Pool(Source(), size=1, patience_s=0.05)
    with pool.lent(), ThreadPoolExecutor(1) as thread, pytest.raises(Locked, match="all 1 connections"):
        thread.submit(lambda: pool.lent().__enter__()).result(SOON)


def test_who_waits_gets_the_next_one_that_comes_back() -> None:
    pool = Pool(Source(), size=1, patience_s=SOON)
    asked = threading.Event()

    def use() -> bool:
        asked.set()
        with pool.lent() as connection:
            return is_open(connection)

    with ThreadPoolExecutor(1) as thread:
        with pool.lent():
            waiting = thread.submit(use)
            assert asked.wait(SOON)
        assert waiting.result(SOON)


def test_a_connection_that_cannot_be_made_takes_no_place() -> None:
    failures = iter([OSError("no"), OSError("no")])
    source = Source()

    def connect() -> ClosingConnection:
        for failure in failures:
            raise failure
        return source()

    pool = Pool(connect, size=1, patience_s=0.05)
    for _ in range(2):
        with pytest.raises(OSError, match="no"), pool.lent():
            pass
    with pool.lent() as connection:
        assert is_open(connection)


def test_what_is_lent_when_the_pool_closes_is_used_to_its_end_and_closed_then() -> None:
    source = Source()
    pool = Pool(source)
    with pool.lent(), ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: pool.lent().__enter__()).result(SOON)
        pool.close()
        assert is_open(source.made[0])
    assert not is_open(source.made[0])


def test_a_generator_that_another_thread_drops_gives_its_connection_back() -> None:
    source = Source()
    pool = Pool(source, size=1, patience_s=0.05)

    def rows() -> Generator[int, None, None]:
        with pool.lent():
            yield 1
            yield 2

    with ThreadPoolExecutor(1) as thread:
        reading = thread.submit(lambda: (made := rows(), next(made))[0]).result(SOON)
        reading.close()
        assert thread.submit(lambda: pool.held).result(SOON) is False
    with pool.lent() as connection:
        assert is_open(connection)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed in /proc only")
def test_a_file_has_no_more_connections_than_its_pool(tmp_path: Path) -> None:
    database = Database(tmp_path / "kebab.sqlite")
    store = SqliteDocumentStore(database)
    one = sample("a.md", "text")
    store.put(one.document, one.chunks, one.state)
    with ThreadPoolExecutor(4 * SIZE) as threads:
        assert set(threads.map(lambda _: store.counts(), range(400))) == {(1, 1)}
    opened = [link for link in Path("/proc/self/fd").iterdir() if _leads_to(link, database.path)]
    assert len(opened) <= SIZE
    database.close()
    assert not [link for link in Path("/proc/self/fd").iterdir() if _leads_to(link, database.path)]


def _leads_to(link: Path, target: Path) -> bool:
    try:
        return link.readlink() == target
    except OSError:
        return False
