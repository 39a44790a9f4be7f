"""The vector index of int8 beyond its contract: what it finds, what it checks, how it grows."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab.adapters.growing_vector import GrowingVectorIndex
from kebab.adapters.int8_segments import codes_of
from kebab.adapters.int8_vector import Int8VectorIndex
from kebab.adapters.lance_vector import LanceVectorIndex
from kebab.domain.ids import ChunkId, DocId
from kebab.errors import Corrupt
from kebab.ingest.catch_up import catch_up_vector
from kebab.ports import ModelKey, Vectors
from tests.fakes import FakeDocumentStore, FakeEmbedder, FakeEmbeddingStore
from tests.samples import Sample, sample

MODEL = ModelKey("toy", "1", 12)


def one_vector(seed: int) -> Vectors:
    row = np.random.default_rng(seed).normal(size=12).astype(np.float32)
    return (row / np.linalg.norm(row)).astype(np.float32)


def made(number: int, version: int = 0) -> tuple[Sample, dict[ChunkId, Vectors]]:
    texts = [f"{number} {version} {part}" for part in range(1 + number % 3)]
    one = sample(f"{number}.md", *texts)
    return one, {
        chunk.chunk_id: one_vector(hash((number, version, chunk.ordinal)) % 9973) for chunk in one.chunks
    }


def put(
    index: Int8VectorIndex, *given: tuple[Sample, dict[ChunkId, Vectors]], gone: tuple[DocId, ...] = ()
) -> None:
    chunks = [stored for one, _ in given for stored in one.stored()]
    vectors = {key: row for _, rows in given for key, row in rows.items()}
    index.apply(removed=gone, chunks=chunks, vectors=vectors, checkpoint=index.checkpoint() + 1)


def cosines(held: dict[ChunkId, Vectors], query: Vectors) -> list[tuple[float, str]]:
    """By hand, over the rounded vectors, best first."""
    asked = codes_of(query.reshape(1, -1))[0].astype(np.int64)
    found = []
    for name, vector in held.items():
        own = codes_of(vector.reshape(1, -1))[0].astype(np.int64)
        found.append(
            (float(asked @ own) / float(np.sqrt(float(asked @ asked)) * np.sqrt(float(own @ own))), name)
        )
    return sorted(found, key=lambda pair: (-pair[0], pair[1]))


Step = tuple[str, int]
STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "edit", "remove", "optimize", "reopen"]), st.integers(0, 14)),
    max_size=40,
)


@settings(max_examples=40)
@given(STEPS)
def test_whatever_was_put_removed_and_merged_it_finds_what_a_hand_count_finds(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step]
) -> None:
    folder = tmp_path_factory.mktemp("int8")
    index = Int8VectorIndex(folder, MODEL)
    there: dict[int, tuple[Sample, dict[ChunkId, Vectors]]] = {}
    for at, (what, number) in enumerate(steps):
        match what:
            case "put" | "edit":
                new = made(number, 0 if what == "put" else at + 1)
                put(index, new, gone=(there[number][0].doc_id,) if number in there else ())
                there[number] = new
            case "remove" if number in there:
                put(index, gone=(there.pop(number)[0].doc_id,))
            case "optimize":
                index.optimize()
            case "reopen":
                index = Int8VectorIndex(folder, MODEL)
    held = {key: row for _, rows in there.values() for key, row in rows.items()}
    assert index.chunk_ids() == set(held)
    assert index.count() == len(held)
    expected = cosines(held, one_vector(7))
    hits = index.search(one_vector(7), limit=10)
    assert [hit.id for hit in hits] == [name for _, name in expected[:10]]
    assert [hit.score for hit in hits] == pytest.approx([score for score, _ in expected[:10]], abs=1e-12)
    some = frozenset(there[number][0].doc_id for number in list(there)[::2])
    allowed = {chunk.chunk_id for n in list(there)[::2] for chunk in there[n][0].chunks}
    filtered = [name for _, name in expected if name in allowed]
    assert [hit.id for hit in index.search(one_vector(7), limit=5, docs=some)] == filtered[:5]
    assert index.faults() == []


def test_many_small_changes_leave_few_files(tmp_path: Path) -> None:
    index = Int8VectorIndex(tmp_path, MODEL)
    for number in range(120):
        put(index, made(number % 40, number), gone=(made(number % 40, number - 40)[0].doc_id,))
        index.optimize()
    (folder,) = tmp_path.iterdir()
    assert len(list(folder.iterdir())) <= 1 + 2 * 9
    assert index.count() == sum(1 + number % 3 for number in range(40))


def test_an_ingest_that_never_comes_to_its_end_leaves_few_files_too(tmp_path: Path) -> None:
    index = Int8VectorIndex(tmp_path, MODEL)
    for number in range(300):
        put(index, made(number))
    (folder,) = tmp_path.iterdir()
    assert len(list(folder.iterdir())) <= 1 + 2 * 3 * 16
    assert index.count() == sum(1 + number % 3 for number in range(300))
    assert index.faults() == []
    assert [hit.id for hit in index.search(one_vector(7), limit=10)] == [
        name
        for _, name in cosines({k: v for n in range(300) for k, v in made(n)[1].items()}, one_vector(7))[:10]
    ]


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="asks Linux what is in memory")
def test_a_merge_keeps_nothing_of_the_vectors_in_memory(tmp_path: Path) -> None:
    index = Int8VectorIndex(tmp_path, MODEL)
    for number in range(10):
        put(index, *(made(100 * number + at) for at in range(100)))
    index.optimize()
    assert index.shape().pieces == 1
    assert touched_kb(tmp_path, ".codes") == 0
    index.search(one_vector(1), limit=3)
    assert touched_kb(tmp_path, ".codes") > 0


def touched_kb(folder: Path, ending: str) -> int:
    """How much of the folder's files of this ending is in the memory of this process.

    Other tests of the process may have indexes of their own open.
    """
    found, counted = 0, False
    for line in Path("/proc/self/smaps").read_text("utf-8").splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            counted = f"{folder}/" in line and line.removesuffix(" (deleted)").endswith(ending)
        elif counted and words[0] == "Rss:":
            found += int(words[1])
    return found


def test_what_a_save_leaves_alone_is_not_read_again(tmp_path: Path) -> None:
    index = Int8VectorIndex(tmp_path, MODEL)
    put(index, *(made(number) for number in range(20)))
    index.search(one_vector(1), limit=3)
    (keys,) = tmp_path.rglob("*.keys")
    whole = keys.read_bytes()
    keys.write_bytes(b"nothing of it")
    put(index, made(3, 1), gone=(made(3)[0].doc_id,))
    held = {k: v for n in range(20) for k, v in made(n, int(n == 3))[1].items()}
    assert [hit.id for hit in index.search(one_vector(1), limit=3)] == [
        name for _, name in cosines(held, one_vector(1))[:3]
    ]
    keys.write_bytes(whole)
    assert Int8VectorIndex(tmp_path, MODEL).faults() == []


def test_every_flipped_bit_is_refused_at_opening_or_found_by_the_doctor(tmp_path: Path) -> None:
    index = Int8VectorIndex(tmp_path, MODEL)
    put(index, *(made(number) for number in range(20)))
    put(index, gone=(made(3)[0].doc_id,))
    (folder,) = tmp_path.iterdir()
    rng = random.Random(3)
    for file in sorted(folder.iterdir()):
        whole = file.read_bytes()
        for _ in range(40):
            at = rng.randrange(8 * len(whole))
            flipped = bytearray(whole)
            flipped[at // 8] ^= 1 << at % 8
            file.write_bytes(flipped)
            damaged = Int8VectorIndex(tmp_path, MODEL)
            if file.suffix == ".codes":
                assert damaged.faults() == [f"{file.name} is damaged"]
            else:
                with pytest.raises(Corrupt, match="cannot be used"):
                    damaged.search(one_vector(1), limit=3)
        file.write_bytes(whole)
    assert Int8VectorIndex(tmp_path, MODEL).faults() == []


def test_a_file_that_is_gone_is_told_with_a_way_out(tmp_path: Path) -> None:
    put(Int8VectorIndex(tmp_path, MODEL), made(1))
    for file in tmp_path.rglob("*.codes"):
        file.unlink()
    with pytest.raises(Corrupt, match="lost a file") as raised:
        Int8VectorIndex(tmp_path, MODEL).search(one_vector(1), limit=3)
    assert "doctor --repair" in (raised.value.hint or "")


def test_a_crash_before_the_manifest_leaves_the_old_state(tmp_path: Path) -> None:
    index = Int8VectorIndex(tmp_path, MODEL)
    put(index, made(1))
    before = index.search(one_vector(1), limit=5)
    (folder,) = tmp_path.iterdir()
    manifest = (folder / "manifest.json").read_bytes()
    put(index, made(2))
    (folder / "manifest.json").write_bytes(manifest)
    again = Int8VectorIndex(tmp_path, MODEL)
    assert again.search(one_vector(1), limit=5) == before
    put(again, made(2))
    again.optimize()
    assert again.faults() == []
    assert again.count() == sum(len(made(n)[0].chunks) for n in (1, 2))


def test_forms_that_another_setting_or_an_earlier_version_left_are_removed(tmp_path: Path) -> None:
    lance = LanceVectorIndex(tmp_path, MODEL)
    put(lance, made(1))  # type: ignore[arg-type]
    for old in (
        "chunk_embeddings_toy_12.lance",
        "chunk_embeddings_toy_12.flat",
        "chunk_embeddings_toy_16.lance",
    ):
        (tmp_path / old).mkdir()
    index = Int8VectorIndex(tmp_path, MODEL)
    put(index, made(1))
    index.optimize()
    assert sorted(path.name.partition(".")[2] for path in tmp_path.iterdir()) == ["int8", "lance"]
    assert (tmp_path / "chunk_embeddings_toy_16.lance").exists()


def test_an_index_that_outgrows_the_scan_moves_to_lance_without_embedding(tmp_path: Path) -> None:
    documents, embedder = FakeDocumentStore(), FakeEmbedder()
    embeddings = FakeEmbeddingStore(documents)
    model = embedder.key
    small, large = Int8VectorIndex(tmp_path, model), LanceVectorIndex(tmp_path, model)
    index = GrowingVectorIndex(small, large, partial(catch_up_vector, documents, embeddings), threshold=6)
    for number in range(8):
        one = sample(f"{number}.md", f"text {number}")
        documents.put(one.document, one.chunks, one.state)
        keys = [stored.content_key for stored in one.stored()]
        rows = np.random.default_rng(number).normal(size=(1, model.dimensions)).astype(np.float32)
        embeddings.put_vectors(model, keys, rows / np.linalg.norm(rows))
        catch_up_vector(documents, embeddings, index)
        index.optimize()
        assert index.count() == number + 1
        assert ("lance" in index.version) == (number + 1 > 6)
        assert index.checkpoint() == documents.latest()
        assert len(index.search(rows[0], limit=3)) == min(3, number + 1)
    assert (small.count(), embedder.calls) == (0, [])
    index.clear()
    assert (index.checkpoint(), index.count()) == (0, 0)


def test_what_had_moved_to_lance_moves_back_where_int8_serves_any_number(tmp_path: Path) -> None:
    documents, embedder = FakeDocumentStore(), FakeEmbedder()
    embeddings = FakeEmbeddingStore(documents)
    model = embedder.key
    small, large = Int8VectorIndex(tmp_path, model), LanceVectorIndex(tmp_path, model)
    refill = partial(catch_up_vector, documents, embeddings)
    for number in range(8):
        one = sample(f"{number}.md", f"text {number}")
        documents.put(one.document, one.chunks, one.state)
        row = np.random.default_rng(number).normal(size=(1, model.dimensions)).astype(np.float32)
        embeddings.put_vectors(model, [stored.content_key for stored in one.stored()], row)
    refill(large)
    index = GrowingVectorIndex(small, large, refill, threshold=None)
    query = np.ones(model.dimensions, dtype=np.float32)
    before = [hit.id for hit in index.search(query, limit=8)]
    assert "lance" in index.version
    index.optimize()
    assert "int8" in index.version
    assert [hit.id for hit in index.search(query, limit=8)] == before
    assert (index.count(), index.checkpoint(), large.count()) == (8, documents.latest(), 0)
    index.optimize()
    assert ("int8" in index.version, embedder.calls) == (True, [])
