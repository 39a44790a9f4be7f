"""What only the SQLite adapters promise: opening, migrating, and failing well."""

from __future__ import annotations

import gc
import os
import random
import sqlite3
import subprocess
import sys
import threading
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from kebab.adapters.sqlite.answer_store import SqliteAnswerStore
from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.document_store import SqliteDocumentStore
from kebab.adapters.sqlite.eval_store import SqliteEvalStore
from kebab.adapters.sqlite.migrations import SCHEMA_VERSION, migration_files
from kebab.adapters.sqlite.outbox import moment
from kebab.domain.queries import SearchFilters
from kebab.errors import Corrupt, EngineUnavailable, InvalidInput, Locked, NotIndexed, ReadOnly, StorageError
from tests.samples import sample


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "kebab.sqlite"


def filled(file: Path, documents: int = 200) -> None:
    database = Database(file)
    store = SqliteDocumentStore(database)
    for n in range(documents):
        one = sample(f"{n}.md", f"text {n} " * 50)
        store.put(one.document, one.chunks, one.state)
    database.close()


def test_a_file_that_cannot_be_opened_is_an_error_and_nothing_more(file: Path) -> None:
    file.mkdir(parents=True)
    with pytest.raises(StorageError):
        Database(file, readonly=True)
    gc.collect()  # a connection that never was must not complain when it goes: warnings are errors here


def test_opening_a_missing_file_for_reading_creates_nothing(file: Path) -> None:
    with pytest.raises(NotIndexed):
        Database(file, readonly=True)
    assert not file.parent.exists()


def test_a_file_without_a_schema_is_not_indexed_for_readers(file: Path) -> None:
    file.parent.mkdir()
    file.touch()
    with pytest.raises(NotIndexed):
        Database(file, readonly=True)


def test_a_new_file_has_the_newest_schema_and_its_settings(file: Path) -> None:
    database = Database(file)
    assert database.schema_version() == SCHEMA_VERSION == len(migration_files())
    assert database.faults() == []
    with database.read() as connection:
        pragmas = ["journal_mode", "foreign_keys", "synchronous"]
        assert [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas] == ["wal", 1, 1]


def test_migrations_are_numbered_without_a_gap() -> None:
    assert [int(path.name[:3]) for path in migration_files()] == list(range(1, SCHEMA_VERSION + 1))


def test_a_newer_schema_is_refused(file: Path) -> None:
    Database(file).close()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    for readonly in (True, False):
        with pytest.raises(EngineUnavailable, match="schema"):
            Database(file, readonly=readonly)


def test_writing_through_a_reader_is_refused(file: Path) -> None:
    filled(file, 1)
    store = SqliteDocumentStore(Database(file, readonly=True))
    assert store.counts() == (1, 1)
    with pytest.raises(ReadOnly):
        store.remove([sample("0.md", "text 0 " * 50).doc_id])


@pytest.mark.parametrize("readonly", [True, False])
def test_garbage_is_corrupt(file: Path, readonly: bool) -> None:
    file.parent.mkdir()
    file.write_bytes(b"this is not a database, " * 500)
    with pytest.raises(Corrupt, match=r"kebab\.sqlite"):
        Database(file, readonly=readonly)


def test_a_truncated_file_is_corrupt(file: Path) -> None:
    filled(file)
    with file.open("r+b") as handle:
        handle.truncate(file.stat().st_size // 3)
    with pytest.raises(Corrupt):
        SqliteDocumentStore(Database(file, readonly=True)).list_documents()


def test_damaged_pages_are_named_by_the_check(file: Path) -> None:
    filled(file)
    with file.open("r+b") as handle:
        handle.seek(file.stat().st_size // 2)
        handle.write(os.urandom(64 * 1024))
    assert Database(file, readonly=True).faults() != []


def test_a_full_disk_is_a_storage_error_and_loses_nothing(file: Path) -> None:
    filled(file, 3)
    database = Database(file)
    with database.read() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 5}")
    store = SqliteDocumentStore(database)
    big = sample("big.md", *[os.urandom(2000).hex() for _ in range(100)])
    with pytest.raises(StorageError, match="full"):
        store.put(big.document, big.chunks, big.state)
    assert store.counts() == (3, 3)
    assert store.pending(store.latest()) is None
    assert database.faults() == []


def test_a_folder_that_is_a_file_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(StorageError):
        Database(tmp_path / "data" / "kebab.sqlite")


def test_an_error_inside_a_transaction_undoes_all_of_it(file: Path) -> None:
    store = SqliteDocumentStore(Database(file))
    one = sample("a.md", "one", "two")
    twice = (one.chunks[0], one.chunks[0])
    with pytest.raises(EngineUnavailable):
        store.put(one.document, twice, one.state)
    assert (store.counts(), store.revision(), store.file_states("default")) == ((0, 0), 0, {})


def test_a_long_writer_makes_others_locked(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kebab.adapters.sqlite.connection.BUSY_TIMEOUT_S", 0.05)
    filled(file, 1)
    first, second = Database(file), Database(file)
    with first.write(), pytest.raises(Locked), second.write():
        pass
    assert SqliteDocumentStore(second).counts() == (1, 1)


def test_readers_see_the_last_commit_while_a_writer_is_in_the_middle(file: Path) -> None:
    filled(file, 1)
    writer, reader = Database(file), SqliteDocumentStore(Database(file, readonly=True))
    with writer.write() as connection:
        connection.execute("DELETE FROM documents")
        assert reader.counts() == (1, 1)
    assert reader.counts() == (0, 0)


def test_threads_share_a_database(file: Path) -> None:
    database = Database(file)
    store = SqliteDocumentStore(database)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for n in range(20):
                one = sample(f"{number}/{n}.md", f"{number} {n}")
                store.put(one.document, one.chunks, one.state)
                assert store.document(one.doc_id) is not None
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert store.counts() == (80, 80)
    database.close()
    assert store.counts() == (80, 80), "closing is not the end"


WRITE_FOREVER = """
import sys
from pathlib import Path
from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.document_store import SqliteDocumentStore
from kebab.adapters.sqlite.outbox import moment
from kebab.domain.queries import SearchFilters
from tests.samples import sample
store = SqliteDocumentStore(Database(Path(sys.argv[1])))
for n in range(1_000_000):
    one = sample(f"{n % 7}.md", *[f"round {n} part {k} " * 30 for k in range(5)])
    store.put(one.document, one.chunks, one.state)
    print(one.doc_id, flush=True)
"""


def test_a_killed_writer_loses_no_acknowledged_document(file: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for acknowledged in (1, 5, 30):
        command = [sys.executable, "-c", WRITE_FOREVER, str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            assert process.stdout is not None
            seen = [process.stdout.readline().strip() for _ in range(acknowledged)]
            process.kill()
            seen += process.stdout.read().split()
        database = Database(file)
        store = SqliteDocumentStore(database)
        assert database.faults() == []
        documents = store.list_documents()
        assert {document.doc_id for document in documents} >= set(seen[-min(len(seen), 6) :])
        assert all(document.chunk_count == len(store.chunks_of(document.doc_id)) for document in documents)


def test_a_store_made_anew_begins_after_its_predecessor(file: Path) -> None:
    filled(file, 20)
    before = SqliteDocumentStore(Database(file)).latest()
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    assert SqliteDocumentStore(Database(file)).oldest() > before


def test_texts_that_an_earlier_version_compressed_are_still_read(file: Path) -> None:
    database = Database(file)
    store, one = SqliteDocumentStore(database), sample("a.md", "소유권 규칙\n")
    store.put(one.document, one.chunks, one.state)
    packed = zlib.compress(one.document.text.encode())
    for blob in (packed, packed[:-6]):
        with database.write() as connection:
            connection.execute("UPDATE assets SET text = ?", (blob,))
        if blob == packed:
            assert store.source_text(one.doc_id) == one.document.text
        else:
            with pytest.raises(Corrupt, match="damaged"):
                store.source_text(one.doc_id)


@pytest.mark.parametrize("field", ["size", "mtime_ns"])
def test_a_number_that_does_not_fit_is_refused_and_nothing_of_it_is_stored(file: Path, field: str) -> None:
    store, odd = SqliteDocumentStore(Database(file)), sample("odd.md", "text")
    with pytest.raises(InvalidInput, match="64 bits"):
        store.put(odd.document, odd.chunks, replace(odd.state, **cast(Any, {field: 10**40})))
    assert store.counts() == (0, 0)


def test_a_text_larger_than_a_row_may_be_is_refused(file: Path) -> None:
    noise = random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=4000)
    database, odd = Database(file), sample("odd.md", "".join(noise))
    with database.read() as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1000)
    with pytest.raises(InvalidInput, match="of this size"):
        SqliteDocumentStore(database).put(odd.document, odd.chunks, odd.state)


def test_answers_and_eval_runs_are_kept_whole(file: Path) -> None:
    database = Database(file)
    answers, runs = SqliteAnswerStore(database), SqliteEvalStore(database)
    answers.put("t1", created_at="2024-01-01", question="왜?", answer_json='{"a": 1}')
    answers.put("t2", created_at="2024-01-02", question="how?", answer_json='{"a": 2}')
    answers.put("t1", created_at="2024-01-03", question="왜?", answer_json='{"a": 3}')
    assert (answers.get("t1"), answers.get("none")) == ('{"a": 3}', None)
    assert answers.recent() == ['{"a": 3}', '{"a": 2}']
    runs.put("r1", created_at="2024-01-01", report_json="{}")
    assert (runs.get("r1"), runs.get("r2"), runs.recent(5)) == ("{}", None, ["{}"])


def test_what_a_filter_lets_through_is_looked_up_again_after_another_process_wrote(file: Path) -> None:
    writer, reader = SqliteDocumentStore(Database(file)), SqliteDocumentStore(Database(file))
    english, one, two = SearchFilters(lang=("en",)), sample("a.md", "one"), sample("b.md", "two")
    writer.put(one.document, one.chunks, one.state)
    seen = reader.matching(english)
    assert reader.matching(english) is seen
    writer.put(two.document, two.chunks, two.state)
    assert reader.matching(english) == frozenset({one.doc_id, two.doc_id})


def test_a_store_in_the_place_of_another_has_its_own_answers_to_filters(file: Path) -> None:
    answers = []
    for text in ("one", "two"):
        for suffix in ("", "-wal", "-shm"):
            file.with_name(file.name + suffix).unlink(missing_ok=True)
        database, one = Database(file), sample("a.md", text)
        store = SqliteDocumentStore(database)
        store.put(one.document, one.chunks, one.state)
        with database.read() as connection:
            answers.append((store.matching(SearchFilters(lang=("en",))), moment(connection)))
        database.close()
    assert answers[0][0] != answers[1][0]
    assert answers[0][1] != answers[1][1]  # though both are at the same revision


def test_long_documents_are_handed_to_the_indexes_in_smaller_lots(file: Path) -> None:
    store = SqliteDocumentStore(Database(file))
    long = [sample(f"{n}.md", *(f"{n} {part}" for part in range(3000))) for n in range(4)]
    for one in long:
        store.put(one.document, one.chunks, one.state)
    position, lots = store.oldest(), []
    while change := store.pending(position):
        lots.append(len(change.changed))
        position = change.upto
    assert (lots, position) == ([2, 2], store.latest())


def test_another_file_in_its_place_has_another_state(file: Path) -> None:
    store = SqliteDocumentStore(Database(file))
    before = store.state()
    for made in file.parent.glob(f"{file.name}*"):
        made.unlink()
    after = store.state()
    assert before.identity != after.identity
    assert store.state() == after


def test_a_reader_sees_the_file_as_of_onemoment(file: Path) -> None:
    writer = SqliteDocumentStore(Database(file))
    first, second = sample("a.md", "first"), sample("a.md", "second")
    writer.put(first.document, first.chunks, first.state)
    reading = Database(file, readonly=True)
    reader = SqliteDocumentStore(reading)
    with reading.read():
        before = reader.counts(), [one.chunk.text for one in reader.stored_chunks()]
        writer.put(second.document, second.chunks, second.state)
        assert (reader.counts(), [one.chunk.text for one in reader.stored_chunks()]) == before
    assert [one.chunk.text for one in reader.stored_chunks()] == ["second"]


def test_readers_of_a_store_that_is_being_made_meet_none_or_all_of_it(tmp_path: Path) -> None:
    met: set[object] = set()
    files = [tmp_path / str(number) / "kebab.sqlite" for number in range(10)]
    made = threading.Event()

    def read() -> None:
        while not made.is_set():
            for file in files:
                try:
                    met.add(Database(file, readonly=True).schema_version())
                except NotIndexed:
                    met.add(None)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for file in files:
        Database(file).close()
    made.set()
    for thread in threads:
        thread.join()
    assert met <= {None, SCHEMA_VERSION}


@pytest.mark.parametrize("readonly", [True, False])
def test_a_file_that_is_being_replaced_is_waited_for(file: Path, readonly: bool) -> None:
    first, aside = SqliteDocumentStore(Database(file)), file.with_name("aside")
    one = sample("a.md", "text")
    first.put(one.document, one.chunks, one.state)
    pending = threading.Event()
    waiting = SqliteDocumentStore(Database(file, readonly=readonly, is_replaced=pending.is_set))
    pending.set()
    file.rename(aside)

    def put_back() -> None:
        aside.rename(file)
        pending.clear()

    threading.Timer(0.1, put_back).start()
    assert waiting.counts() == (1, 1)


def test_a_replacement_that_never_ends_is_not_waited_for_for_ever(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kebab.adapters.sqlite.connection.REPLACED_WITHIN_S", 0.05)
    with pytest.raises(NotIndexed):
        Database(file, readonly=True, is_replaced=lambda: True)


def test_a_schema_that_cannot_even_be_quoted_is_damage(tmp_path: Path) -> None:
    with closing(Database(tmp_path / "kebab.sqlite")) as database, database.write():
        pass
    # SQLite's own message repeats the damaged statement, and Python cannot read that as text.
    content = (tmp_path / "kebab.sqlite").read_bytes()
    assert b"CREATE TABLE " in content
    (tmp_path / "kebab.sqlite").write_bytes(content.replace(b"CREATE TABLE ", b"CREATE\xc3TABLE "))

    with (
        pytest.raises(Corrupt, match="damaged"),
        closing(Database(tmp_path / "kebab.sqlite")) as damaged,
        damaged.read(),
    ):
        pass
