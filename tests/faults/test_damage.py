"""Damaged files: a clear error or a finding, nothing lost, and the doctor mends what is derived."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kebab.domain.hits import SearchResponse
from kebab.domain.queries import SearchMode
from kebab.domain.reports import CheckStatus
from kebab.errors import Corrupt, KebabError, NotIndexed
from tests.faults.conftest import Base, Damage, check_of, sick

pytestmark = pytest.mark.slow


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def scribble(path: Path) -> None:
    path.write_bytes(bytes(reversed(path.read_bytes())) or b"\0" * 64)


DAMAGES: dict[str, Damage] = {"cut": cut, "emptied": empty, "scribbled": scribble, "deleted": Path.unlink}


def files(folder: Path, pattern: str) -> Iterator[Path]:
    return (
        path for path in sorted(folder.rglob(pattern)) if path.is_file() and not path.name.endswith(".lock")
    )


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(("part", "engine"), [("tantivy", "auto"), ("vectors", "auto"), ("vectors", "lance")])
def test_whichever_index_file_is_damaged_the_doctor_mends_it(
    base: Base, part: str, engine: str, damage: str
) -> None:
    with base.open(search__vector_engine=engine) as kb:
        kb.index()
    folder = base.data / "index" / part
    names = [path.relative_to(folder) for path in files(folder, "*")]
    assert len(names) >= 3
    whole = base.data.parent / "whole"
    shutil.copytree(folder, whole)
    for name in names:
        shutil.rmtree(folder)
        shutil.copytree(whole, folder)
        DAMAGES[damage](folder / name)
        with base.open(search__vector_engine=engine) as kb:
            assert search_answers(kb.search), name
            report = kb.doctor(repair=True)
            assert sick(report) == [], (name, sick(report))
        with base.open(search__vector_engine=engine) as kb:
            assert sick(kb.doctor()) == [], name
            for mode in SearchMode:
                assert kb.search("rope ship3", mode=mode).hits[0].doc_path == "n3.md", (name, mode)


def search_answers(search: Callable[[str], SearchResponse]) -> bool:
    """A hybrid search on a damaged index answers, saying so, or raises with a hint; it never breaks."""
    try:
        found = search("rope ship3")
    except KebabError as error:
        return bool(error.hint)
    return bool(found.hits or found.degraded)


def test_noise_in_the_vectors_that_are_searched_is_found_and_mended(base: Base) -> None:
    with base.open() as kb:
        before = kb.search("rope ship3", mode=SearchMode.VECTOR).hits
    (codes,) = (base.data / "index").rglob("*.codes")
    codes.write_bytes(random.Random(5).randbytes(codes.stat().st_size))
    with base.open() as kb:
        assert check_of(kb.doctor(), "vector index").detail == f"{codes.name} is damaged"
        assert check_of(kb.doctor(repair=True), "vector index").status is CheckStatus.REPAIRED
    with base.open() as kb:
        assert kb.search("rope ship3", mode=SearchMode.VECTOR).hits == before


def test_noise_in_the_copy_of_the_vectors_is_told_and_mended(base: Base) -> None:
    with base.open(search__vector_engine="lance") as kb:
        kb.index()
    (copy,) = (base.data / "index").rglob("*.vectors.npy")
    content = bytearray(copy.read_bytes())
    content[128:] = random.Random(5).randbytes(len(content) - 128)  # behind the header of the file
    copy.write_bytes(content)
    with base.open(search__vector_engine="lance") as kb:
        with pytest.raises(Corrupt) as raised:
            kb.search("rope ship3", mode=SearchMode.VECTOR)
        assert "doctor --repair" in (raised.value.hint or "")
        found = kb.search("rope ship3")
        assert found.hits[0].doc_path == "n3.md"
        assert [note.part for note in found.degraded] == ["vector"]
        assert kb.doctor(repair=True).healthy
    with base.open(search__vector_engine="lance") as kb:
        assert kb.search("rope ship3", mode=SearchMode.VECTOR).hits


def test_a_truncated_store_is_called_damaged_and_left_as_it_is(base: Base) -> None:
    store = base.data / "kebab.sqlite"
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    cut(store)
    before = store.read_bytes()
    with base.open() as kb:
        report = kb.doctor(repair=True)
    finding = check_of(report, "store")
    assert finding.status is CheckStatus.FAULT
    assert finding.hint
    assert not report.healthy
    assert store.read_bytes() == before, "what may still be rescued was changed"
    with base.open() as kb, pytest.raises(KebabError) as raised:
        kb.ingest(force=True)
    assert isinstance(raised.value, Corrupt)


def test_a_store_that_is_no_database_is_called_damaged(base: Base) -> None:
    store = base.data / "kebab.sqlite"
    store.write_bytes(b"this is no database " * 400)
    for suffix in ("-wal", "-shm"):
        store.with_name(store.name + suffix).unlink(missing_ok=True)
    with base.open() as kb:
        with pytest.raises(Corrupt) as raised:
            kb.search("rope")
        assert "restore" in (raised.value.hint or "")
        assert check_of(kb.doctor(), "store").status is CheckStatus.FAULT


def test_moved_away_the_store_is_built_again_from_the_sources(base: Base) -> None:
    before = base.texts()
    (base.data / "kebab.sqlite").rename(base.data / "damaged.sqlite")
    with base.open() as kb:
        with pytest.raises(NotIndexed):
            kb.search("rope")
        kb.ingest()
        assert sick(kb.doctor()) == []
        assert kb.search("rope ship3").hits[0].doc_path == "n3.md"
    assert base.texts() == before


def test_a_damaged_text_in_the_store_is_found_out(base: Base) -> None:
    with closing(sqlite3.connect(base.data / "kebab.sqlite")) as connection, connection:
        connection.execute("UPDATE assets SET text = x'00ff00ff'")
    connection.close()
    with base.open() as kb:
        finding = check_of(kb.doctor(), "documents")
        assert finding.status is CheckStatus.FAULT
        assert "doctor --repair" in (finding.hint or "")
        kb.ingest()
        assert sick(kb.doctor()) == []


def test_chunks_that_the_store_does_not_know_are_found_and_removed(base: Base) -> None:
    with base.open() as kb:
        stored = next(iter(kb.engines.reading.documents.stored_chunks()))
        position = kb.engines.lexical_index.checkpoint()
        ghost = type(stored.chunk)(
            **{name: getattr(stored.chunk, name) for name in stored.chunk.__slots__}
            | {"chunk_id": "f" * 32, "doc_id": "e" * 32}
        )
        alien = type(stored)(**{name: getattr(stored, name) for name in stored.__slots__} | {"chunk": ghost})
        kb.engines.lexical_index.apply(removed=(), chunks=[alien], checkpoint=position)
        finding = check_of(kb.doctor(), "words index")
        assert (finding.status, finding.detail) == (
            CheckStatus.FAULT,
            "1 chunk is in the index and not in the store",
        )
        assert check_of(kb.doctor(repair=True), "words index").status is CheckStatus.REPAIRED
        assert sick(kb.doctor()) == []


def test_an_index_that_lost_its_way_is_brought_up_to_date(base: Base) -> None:
    for file in base.data.rglob("*checkpoint.json"):
        note = json.loads(file.read_text())
        file.write_text(json.dumps(note | {"layout": "another"}))
    with base.open() as kb:
        found = kb.search("rope ship3")
        assert {one.code for one in found.degraded} == {"index_behind"}
        assert not kb.doctor().healthy
        assert sick(kb.doctor(repair=True)) == []


def test_vectors_that_the_model_no_longer_gives_are_embedded_again(base: Base) -> None:
    with closing(sqlite3.connect(base.data / "kebab.sqlite")) as connection, connection:
        rows = connection.execute("SELECT id, vector FROM embeddings").fetchall()
        turned = [(resealed(blob[4:-8] + blob[:4] + blob[-8:-4]), row) for row, blob in rows]
        connection.executemany("UPDATE embeddings SET vector = ? WHERE id = ?", turned)
    connection.close()
    with base.open() as kb:
        kb.index(rebuild=True)
        finding = check_of(kb.doctor(), "embedding model")
        assert finding.status is CheckStatus.FAULT
        assert "no longer gives" in finding.detail
        assert check_of(kb.doctor(repair=True), "embedding model").status is CheckStatus.REPAIRED
        assert sick(kb.doctor()) == []


def resealed(content: bytes) -> bytes:
    """The content of a vector's row with a checksum that fits."""
    return content + zlib.crc32(content).to_bytes(4, "little")


def test_stored_vectors_that_hold_no_numbers_are_embedded_again(base: Base) -> None:
    with closing(sqlite3.connect(base.data / "kebab.sqlite")) as connection, connection:
        rows = connection.execute("SELECT id, vector FROM embeddings").fetchall()
        nan = bytes.fromhex("0000c07f")  # for the scale
        connection.executemany(
            "UPDATE embeddings SET vector = ? WHERE id = ?",
            [(resealed(b[:-8] + nan), row) for row, b in rows],
        )
    connection.close()
    with base.open() as kb:
        finding = check_of(kb.doctor(), "embedding model")
        assert finding.status is CheckStatus.FAULT
        assert "hold what is no number" in finding.detail
        assert check_of(kb.doctor(repair=True), "embedding model").status is CheckStatus.REPAIRED
        assert sick(kb.doctor()) == []


def test_stored_vectors_that_were_overwritten_are_embedded_again(base: Base) -> None:
    with closing(sqlite3.connect(base.data / "kebab.sqlite")) as connection, connection:
        connection.execute("UPDATE embeddings SET vector = randomblob(length(vector))")
    connection.close()
    with base.open(readonly=True) as kb:
        finding = check_of(kb.doctor(), "vectors")
        assert (finding.status, finding.detail) == (CheckStatus.FAULT, "12 stored vectors are damaged")
    with base.open() as kb:
        assert check_of(kb.doctor(repair=True), "vectors").status is CheckStatus.REPAIRED
        assert sick(kb.doctor()) == []


def test_an_interrupted_run_is_noticed_and_its_record_closed(base: Base) -> None:
    with closing(sqlite3.connect(base.data / "kebab.sqlite")) as connection, connection:
        connection.execute("UPDATE ingest_runs SET run_json = json_set(run_json, '$.status', 'running')")
    connection.close()
    with base.open() as kb:
        assert check_of(kb.doctor(), "ingest runs").status is CheckStatus.WARNING
        assert check_of(kb.doctor(repair=True), "ingest runs").status is CheckStatus.REPAIRED
        assert kb.runs()[0].error == "the process ended before the run did"
