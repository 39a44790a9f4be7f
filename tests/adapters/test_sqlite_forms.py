"""How texts and vectors lie in the SQLite file, what seals them, and how the first schema is converted."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.adapters.embedders.static import StaticEmbedder
from kebab.adapters.sqlite import packed_texts, seals, texts, vector_blobs
from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.document_store import SqliteDocumentStore
from kebab.adapters.sqlite.embedding_store import SqliteEmbeddingStore
from kebab.adapters.sqlite.migrations import migration_files
from kebab.adapters.sqlite.rows import as_json
from kebab.domain.documents import Metadata
from kebab.errors import Corrupt
from kebab.ports import ModelKey, Vectors
from tests.samples import Sample, sample

BUILT_IN = ModelKey("kebab-static", "2", 16)
OTHER = ModelKey("vendor/dear", "1", 16)
LINES = st.lists(st.sampled_from(["밧줄", "rope", "", "a a a", "😀", "ab"]), min_size=1, max_size=12)


def unit(count: int, *, seed: int = 1) -> Vectors:
    rows = np.random.default_rng(seed).normal(size=(count, 16)).astype(np.float32)
    unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


# --- texts -----------------------------------------------------------------------------------------


@given(LINES, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=8))
def test_every_piece_of_a_text_is_read_back_from_its_place(
    lines: list[str], cuts: list[tuple[int, int]]
) -> None:
    whole = "\n".join(lines)
    pieces = [whole[start : start + size] for start, size in cuts]
    kept = packed_texts.unpacked(packed_texts.packed(whole), "asset")
    assert kept == whole
    assert [texts.text_at(*place, text=kept, name="c") for place in texts.places(pieces, whole)] == pieces
    assert all(start is not None for _, start, _ in texts.places(pieces, whole))


def test_a_chunk_that_stands_nowhere_in_its_document_is_kept_as_it_is(tmp_path: Path) -> None:
    store = SqliteDocumentStore(Database(tmp_path / "kebab.sqlite"))
    one = sample("a.md", "what the page says")
    odd = [
        type(chunk)(**{n: getattr(chunk, n) for n in chunk.__slots__} | {"text": "read from a picture"})
        for chunk in one.chunks
    ]
    store.put(one.document, odd, one.state)
    assert [stored.chunk.text for stored in store.chunks_of(one.doc_id)] == ["read from a picture"]
    assert store.damaged() == []


@given(
    LINES,
    st.integers(1, 4000),
    st.floats(0, 1),
    st.integers(0, 3 * packed_texts.EARLIER),
    st.sampled_from([packed_texts.BLOCK, packed_texts.EARLIER]),
)
def test_a_part_of_a_text_is_the_text_as_far_as_it_was_read(
    lines: list[str], times: int, share: float, length: int, block: int
) -> None:
    whole = "\n".join(lines * times)
    start = int(share * len(whole))
    read = packed_texts.part(packed_texts.packed(whole, block=block), "asset", start, start + length)
    assert whole[read.start : read.start + len(read.text)] == read.text
    assert read.start <= start
    assert read.text[start - read.start :][:length] == whole[start : start + length]
    assert read.text == whole or not read.checked


@pytest.mark.parametrize("block", [packed_texts.BLOCK, packed_texts.EARLIER])
def test_little_is_read_of_a_long_text_wherever_it_stands(block: int) -> None:
    whole = "".join(f"밧줄 rope {at} " for at in range(30_000))
    stored = packed_texts.packed(whole, block=block)
    for start in (0, len(whole) // 2, len(whole) - 500):
        read = packed_texts.part(stored, "asset", start, start + 500)
        assert read.text[start - read.start :][:500] == whole[start : start + 500]
        assert len(read.text) < 2 * block


def test_a_table_that_leads_elsewhere_costs_time_and_no_text() -> None:
    whole = "".join(f"{at} knots 매듭 " for at in range(20_000))
    stored = packed_texts.packed(whole)
    # Of each entry the lowest byte, then the number of entries, then all that stands behind the stream.
    for at in (*range(len(stored) - 8 - 4 * 5, len(stored) - 8, 4), len(stored) - 8):
        other = bytearray(stored)
        other[at] ^= 0x55
        read = packed_texts.part(bytes(other), "asset", 100_000, 100_500)
        assert packed_texts.unpacked(bytes(other), "asset") == whole
        assert not read.checked or read.text == whole
    without = stored[: -8 - 4 * ((len(whole) - 1) // packed_texts.BLOCK)]
    assert packed_texts.part(without, "asset", 100_000, 100_500).text.startswith(whole[:100_500])


def long_note(seed: int = 5) -> Sample:
    """A long document with many chunks: a search reads one of them, and not what follows it."""
    rng = random.Random(seed)
    words = ["밧줄", "rope", "harbour", "매듭", "tide", "소유권"]
    return sample("long.md", *(" ".join(rng.choices(words, k=120)) + f" {at}" for at in range(40)))


def test_chunks_that_are_read_alone_are_those_of_the_whole_document(tmp_path: Path) -> None:
    database = Database(tmp_path / "kebab.sqlite")
    store, one = SqliteDocumentStore(database), long_note()
    store.put(one.document, one.chunks, one.state)
    expected = {stored.chunk.chunk_id: stored for stored in store.chunks_of(one.doc_id)}
    for chunk in one.chunks:
        fresh = SqliteDocumentStore(database)  # which remembers no chunk
        assert fresh.hydrate([chunk.chunk_id]) == {chunk.chunk_id: expected[chunk.chunk_id]}


def test_no_flipped_bit_gives_a_chunk_another_text(tmp_path: Path) -> None:
    database, one = Database(tmp_path / "kebab.sqlite"), long_note()
    SqliteDocumentStore(database).put(one.document, one.chunks, one.state)
    with database.read() as connection:
        (content,) = connection.execute("SELECT text FROM assets").fetchone()
    expected = {chunk.chunk_id: chunk.text for chunk in one.chunks}
    rng, refused = random.Random(7), 0
    for _ in range(150):
        flipped, at = bytearray(content), rng.randrange(8 * len(content))
        flipped[at // 8] ^= 1 << at % 8
        with database.write() as connection:
            connection.execute("UPDATE assets SET text = ?", (bytes(flipped),))
        wanted = rng.choice(one.chunks).chunk_id
        try:
            read = SqliteDocumentStore(database).hydrate([wanted])
        except Corrupt:
            refused += 1
        else:
            assert read[wanted].chunk.text == expected[wanted]
    assert 10 < refused < 60  # what lies in other blocks than the chunk is not read


# --- vectors ---------------------------------------------------------------------------------------


def test_the_built_in_model_is_the_one_whose_vectors_are_kept_small() -> None:
    assert StaticEmbedder().model_id in vector_blobs.COMPACT_MODELS


@given(st.integers(0, 10_000), st.floats(1e-6, 1e6))
def test_a_small_vector_points_where_the_whole_one_does(seed: int, length: float) -> None:
    whole = unit(3, seed=seed) * np.float32(length)
    small = [
        vector_blobs.unpacked(b, vector_blobs.INT12, BUILT_IN)
        for b in vector_blobs.packed(whole, vector_blobs.INT12)
    ]
    for before, after in zip(whole, small, strict=True):
        cosine = float(before @ after) / float(np.linalg.norm(before) * np.linalg.norm(after))
        assert cosine > 0.999998
        assert after.dtype == np.float32


@pytest.mark.parametrize("dimensions", [1, 2, 7, 768])
def test_vectors_of_any_length_come_back(dimensions: int) -> None:
    model = ModelKey("kebab-static", "2", dimensions)
    whole = np.random.default_rng(3).normal(size=(4, dimensions)).astype(np.float32)
    blobs = vector_blobs.packed(whole, vector_blobs.INT12)
    for row, blob in zip(whole, blobs, strict=True):
        back = vector_blobs.unpacked(blob, vector_blobs.INT12, model)
        assert np.abs(back - row).max() <= np.abs(row).max() / 4000


def test_a_vector_of_zeros_stays_one() -> None:
    (blob,) = vector_blobs.packed(np.zeros((1, 16), dtype=np.float32), vector_blobs.INT12)
    assert not vector_blobs.unpacked(blob, vector_blobs.INT12, BUILT_IN).any()


@pytest.mark.parametrize("model", [BUILT_IN, OTHER])
def test_every_flipped_bit_of_a_stored_vector_is_found(model: ModelKey) -> None:
    form = vector_blobs.form_of(model)
    (blob,) = vector_blobs.packed(unit(1), form)
    for at in range(8 * len(blob)):
        flipped = bytearray(blob)
        flipped[at // 8] ^= 1 << at % 8
        assert not vector_blobs.is_sound(bytes(flipped))
        with pytest.raises(Corrupt):
            vector_blobs.unpacked(bytes(flipped), form, model)


def test_the_cache_of_the_built_in_model_takes_less_than_half_of_the_bytes(tmp_path: Path) -> None:
    database = Database(tmp_path / "kebab.sqlite")
    documents, embeddings = SqliteDocumentStore(database), SqliteEmbeddingStore(database)
    one = sample("a.md", "one")
    documents.put(one.document, one.chunks, one.state)
    keys = [stored.content_key for stored in one.stored()]
    for model in (BUILT_IN, OTHER):
        embeddings.put_vectors(model, keys, unit(1))
    with database.read() as connection:
        sizes = [row[0] for row in connection.execute("SELECT length(vector) FROM embeddings ORDER BY id")]
    assert sizes == [16 * 3 // 2 + 4 + 4, 4 * 16 + 4]
    assert np.array_equal(embeddings.vectors(OTHER, keys)[keys[0]], unit(1)[0])


def test_a_damaged_vector_counts_as_missing_from_then_on(tmp_path: Path) -> None:
    database = Database(tmp_path / "kebab.sqlite")
    documents, embeddings = SqliteDocumentStore(database), SqliteEmbeddingStore(database)
    one = sample("a.md", "one", "two")
    documents.put(one.document, one.chunks, one.state)
    keys = [stored.content_key for stored in one.stored()]
    embeddings.put_vectors(BUILT_IN, keys, unit(2))
    with database.write() as connection:
        connection.execute(
            "UPDATE embeddings SET vector = zeroblob(length(vector)) WHERE content_key = ?", keys[:1]
        )
    assert embeddings.drop_damaged(dry_run=True) == 1
    assert embeddings.count_missing(BUILT_IN) == 0
    assert list(embeddings.vectors(BUILT_IN, keys)) == keys[1:]
    assert embeddings.count_missing(BUILT_IN) == 1
    assert list(embeddings.missing(BUILT_IN, limit=5)) == keys[:1]
    assert embeddings.drop_damaged() == 0


# --- seals -----------------------------------------------------------------------------------------


SEALED = [
    *(("documents", name.strip()) for name in seals.DOCUMENT.split(",") if name.strip() != "doc_id"),
    ("documents", "seal"),
    *(("chunks", name.strip()) for name in seals.CHUNK.split(",") if name.strip() != "doc_id"),
    ("document_tags", "tag"),
]


def test_the_seal_covers_every_column(tmp_path: Path) -> None:
    with Database(tmp_path / "kebab.sqlite").read() as connection:
        for table in ("documents", "chunks", "document_tags"):
            names = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
            assert names - {"id", "doc_id"} == {column for where, column in SEALED if where == table}


@pytest.mark.parametrize(("table", "column"), SEALED)
def test_whichever_column_of_a_document_rots_its_seal_tells(table: str, column: str, tmp_path: Path) -> None:
    database = Database(tmp_path / "kebab.sqlite")
    store = SqliteDocumentStore(database)
    metadata = Metadata(tags=("a", "b"), repo="r")
    given = [sample(f"{n}.md", f"text {n}", "more", title=f"T{n}", metadata=metadata) for n in range(3)]
    for one in given:
        store.put(one.document, one.chunks, one.state)
    assert store.damaged() == []
    with database.read() as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        query = f"SELECT {column} FROM {table} WHERE doc_id = ?"
        ((before,), *_) = connection.execute(query, (given[1].doc_id,))
        connection.execute(
            f"UPDATE {table} SET {column} = ? WHERE doc_id = ? AND {column} IS ?",
            (rotten(before), given[1].doc_id, before),
        )
    assert store.damaged() == [given[1].doc_id]


def rotten(value: object) -> object:
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    return (value or 0) + 1 if isinstance(value, int) or value is None else f"{value}x"


def test_a_distrusted_document_is_known_by_another_fingerprint(tmp_path: Path) -> None:
    store = SqliteDocumentStore(Database(tmp_path / "kebab.sqlite"))
    one, two = sample("a.md", "one"), sample("b.md", "two")
    for each in (one, two):
        store.put(each.document, each.chunks, each.state)
    store.distrust([one.doc_id])
    assert [state.fingerprint for state in store.file_states("default").values()] == [
        "",
        two.state.fingerprint,
    ]
    assert store.damaged() == []


# --- the first schema ------------------------------------------------------------------------------


def write_first_schema(file: Path, samples: list[Sample], vectors: dict[ModelKey, Vectors]) -> None:
    """A store as the first schema had it: whole texts, chunks with texts of their own, float32."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executescript(migration_files()[0].read_text())
        connection.execute("PRAGMA user_version = 1")
        for one in samples:
            _insert_first(connection, one)
        keys = [stored.content_key for one in samples for stored in one.stored()]
        for number, (model, rows) in enumerate(vectors.items(), start=1):
            connection.execute(
                "INSERT INTO embedding_models VALUES (?, ?, ?, ?)",
                (number, model.model_id, model.version, 16),
            )
            connection.executemany(
                "INSERT INTO embeddings (model, content_key, vector) VALUES (?, ?, ?)",
                [(number, key, row.tobytes()) for key, row in zip(keys, rows, strict=True)],
            )
    connection.close()


def _insert_first(connection: sqlite3.Connection, one: Sample) -> None:
    from kebab.adapters.sqlite.rows import document_row

    document, state = one.document, one.state
    connection.execute("INSERT INTO assets VALUES (?, ?)", (document.asset_id, document.text))
    row = document_row(
        document, chunker_version="test-v1", chunk_count=len(one.chunks), indexed_at="2024-05-01T12:00:00Z"
    )
    connection.execute(f"INSERT INTO documents VALUES ({', '.join('?' * 20)})", row)
    connection.execute(
        "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            "default",
            document.path,
            document.doc_id,
            document.asset_id,
            state.size,
            state.mtime_ns,
            state.fingerprint,
        ),
    )
    connection.executemany(
        "INSERT INTO document_tags VALUES (?, ?)", [(one.doc_id, t) for t in document.metadata.tags]
    )
    for stored in one.stored():
        chunk = stored.chunk
        connection.execute(
            "INSERT INTO chunks (chunk_id, doc_id, ordinal, text, heading_path, spans, block_ids, part, "
            f"token_estimate, chunker_version, policy_hash, content_key) VALUES ({', '.join('?' * 12)})",
            (
                chunk.chunk_id, chunk.doc_id, chunk.ordinal, chunk.text, as_json(chunk.heading_path),
                as_json([(s.start, s.end) for s in chunk.spans]), as_json(chunk.block_ids), chunk.part,
                chunk.token_estimate, chunk.chunker_version, chunk.policy_hash, stored.content_key,
            ),
        )  # fmt: skip


def test_a_store_of_the_first_schema_is_converted_whole_and_nothing_is_embedded_again(tmp_path: Path) -> None:
    file = tmp_path / "kebab.sqlite"
    words = random.Random(5)
    samples = [
        sample(
            f"{n}.md",
            *(" ".join(words.choices(["rope", "밧줄", "ship", "배"], k=80)) for _ in range(3)),
            title=f"T{n}",
            metadata=Metadata(tags=("t",)),
        )
        for n in range(40)
    ]
    whole = unit(120)
    write_first_schema(file, samples, {BUILT_IN: whole, OTHER: whole})
    size = file.stat().st_size
    database = Database(file)
    store, embeddings = SqliteDocumentStore(database), SqliteEmbeddingStore(database)
    assert (database.faults(), store.damaged(), embeddings.drop_damaged(dry_run=True)) == ([], [], 0)
    for one in samples:
        assert store.chunks_of(one.doc_id) == one.stored()
        assert store.source_text(one.doc_id) == one.document.text
    keys = [stored.content_key for one in samples for stored in one.stored()]
    assert (embeddings.count_missing(BUILT_IN), embeddings.count_missing(OTHER)) == (0, 0)
    kept = embeddings.vectors(OTHER, keys)
    assert all(np.array_equal(kept[key], row) for key, row in zip(keys, whole, strict=True))
    small = embeddings.vectors(BUILT_IN, keys)
    assert all(float(small[key] @ row) > 0.999 for key, row in zip(keys, whole, strict=True))
    database.close()
    assert file.stat().st_size < size
