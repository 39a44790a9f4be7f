"""The vector index that looks at signs first: what it finds beside one that compares everything."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kebab.adapters import int8_looks as looks
from kebab.adapters.embedders.static import StaticEmbedder
from kebab.adapters.int8_segments import codes_of, signs_of
from kebab.adapters.int8_vector import Int8VectorIndex
from kebab.domain.chunks import StoredChunk
from kebab.domain.ids import ChunkId, DocId
from kebab.ports import EmbeddingKind, ModelKey, Vectors
from tests.adapters.test_int8_vector import touched_kb
from tests.samples import sample

COLLECTIONS = Path(__file__).parents[2].parent / "shared" / "data"
MODEL = ModelKey("toy", "1", 64)
ROWS_A_DOCUMENT = 5


def clustered(rows: int, dimensions: int, *, seed: int, groups: int = 60) -> Vectors:
    """Unit vectors around centres, spread along some directions more than along others."""
    rng = np.random.default_rng(seed)
    spread = 1 / np.sqrt(1 + np.arange(dimensions))
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(dimensions, dimensions)))[0]
    centres = np.random.default_rng(1).normal(size=(groups, dimensions)) * spread
    points = centres[rng.integers(0, groups, rows)] + 0.7 * spread * rng.normal(size=(rows, dimensions))
    points = points @ turned
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True), dtype=np.float32)


def filled(
    index: Int8VectorIndex, vectors: Vectors, *, batches: int = 1
) -> list[tuple[DocId, list[ChunkId]]]:
    """Documents of some rows each, in order; returns their names and those of their chunks."""
    named = []
    for part in np.array_split(np.arange(0, len(vectors), ROWS_A_DOCUMENT), batches):
        chunks: list[StoredChunk] = []
        rows: dict[ChunkId, Vectors] = {}
        for first in part.tolist():
            own = vectors[first : first + ROWS_A_DOCUMENT]
            one = sample(f"{first}.md", *(f"{first} {at}" for at in range(len(own)))).stored()
            chunks += one
            rows |= {stored.chunk.chunk_id: row for stored, row in zip(one, own, strict=True)}
            named.append((one[0].chunk.doc_id, [stored.chunk.chunk_id for stored in one]))
        index.apply(removed=(), chunks=chunks, vectors=rows, checkpoint=index.checkpoint() + 1)
    return named


def names(
    index: Int8VectorIndex, query: Vectors, limit: int, docs: frozenset[DocId] | None = None
) -> list[str]:
    return [hit.id for hit in index.search(query, limit=limit, docs=docs)]


def shared(found: list[list[str]], wanted: list[list[str]]) -> float:
    return float(np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found, wanted, strict=True)]))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Int8VectorIndex, Int8VectorIndex, list[DocId]]:
    """Four thousand clustered rows, with signs and without; for ten hits not all of them are compared."""
    folder = tmp_path_factory.mktemp("pair")
    vectors = clustered(4000, 64, seed=2)
    quick = Int8VectorIndex(folder / "quick", MODEL, signed=True, least=100)
    whole_scan = Int8VectorIndex(folder / "whole", MODEL)
    documents = [doc for doc, _ in filled(quick, vectors, batches=3)]
    filled(whole_scan, vectors)
    return quick, whole_scan, documents


def test_of_clustered_vectors_the_ten_nearest_are_found_and_their_scores_are_exact(
    pair: tuple[Int8VectorIndex, Int8VectorIndex, list[DocId]],
) -> None:
    quick, whole_scan, _ = pair
    queries = clustered(200, 64, seed=4)
    exact = [dict(whole_scan.search(query, limit=10)) for query in queries]
    found = [dict(quick.search(query, limit=10)) for query in queries]
    assert shared([list(one) for one in found], [list(one) for one in exact]) >= 0.99
    assert all(
        score == own[name]
        for own, one in zip(exact, found, strict=True)
        for name, score in one.items()
        if name in own
    )


def test_it_is_the_signs_that_decide_what_is_compared(tmp_path: Path) -> None:
    vectors, queries = clustered(4000, 64, seed=2), clustered(30, 64, seed=4)
    quick = Int8VectorIndex(tmp_path / "quick", MODEL, signed=True, least=40)
    filled(quick, vectors)
    view = quick._current()
    assert view is not None
    codes = codes_of(vectors)
    for query in queries:
        asked = codes_of(query.reshape(1, -1))
        apart = np.bitwise_count(signs_of(codes) ^ signs_of(asked)).sum(axis=1)
        near = view.rows._near(asked, view.rows._all, 40)
        assert near.tolist() == np.flatnonzero(apart <= np.sort(apart)[39]).tolist()
        against = by_hand(asked, codes[near])
        compared, dots = view.rows._likely(asked, near, 3)
        assert set(near[against <= np.sort(against)[11]]) <= set(compared)
        wide = codes.astype(np.int64)
        assert dots.tolist() == (wide[compared] @ asked[0].astype(np.int64)).tolist()


def by_hand(query: NDArray[np.int8], codes: NDArray[np.int8]) -> NDArray[np.int64]:
    """How much signs are against a query whose numbers are rounded to odd ones of six bits."""
    odd = 2 * (query[0].astype(np.int64) + 128 >> 2) - 63
    agreeing = np.where(codes > 0, 1, -1) @ odd
    return np.asarray((63 * codes.shape[1] - agreeing) // 2)


@given(seed=st.integers(0, 1000), dimensions=st.sampled_from([8, 12, 64, 768]))
def test_signs_against_numbers_are_whole_numbers_that_a_hand_count_finds(seed: int, dimensions: int) -> None:
    rng = np.random.default_rng(seed)
    query = rng.integers(-127, 128, size=(1, dimensions)).astype(np.int8)
    codes = rng.integers(-127, 128, size=(20, dimensions)).astype(np.int8)
    assert looks.against(query, signs_of(codes)).tolist() == by_hand(query, codes).tolist()


def test_the_numbers_tell_more_than_the_signs() -> None:
    """Of the ten nearest more stand among the first twenty by numbers than by signs alone."""
    vectors, queries = clustered(4000, 768, seed=2), clustered(40, 768, seed=4)
    codes = codes_of(vectors)
    signs = signs_of(codes)
    by_signs, by_numbers = [], []
    for query in queries:
        asked = codes_of(query.reshape(1, -1))
        best = np.argsort(-(vectors @ query))[:10]
        by_signs.append(looks.lowest(looks.apart(asked, [signs[:700], signs[700:]]), 20)[best].mean())
        by_numbers.append(looks.lowest(looks.against(asked, signs), 20)[best].mean())
    assert np.mean(by_numbers) > np.mean(by_signs)


def test_rows_that_tie_at_the_end_are_all_looked_at() -> None:
    assert looks.lowest(np.array([5, 3, 3, 9, 1, 3]), 2).tolist() == [False, True, True, False, True, True]
    assert looks.lowest(np.array([5, 3]), 2).tolist() == [True, True]
    assert looks.lowest(np.zeros(0), 2).tolist() == []


@pytest.mark.parametrize("allowed", [1, 3, 20, 100, 300, 500, 599])
def test_a_filter_of_any_size_finds_the_nearest_of_its_documents(
    pair: tuple[Int8VectorIndex, Int8VectorIndex, list[DocId]], allowed: int
) -> None:
    quick, whole_scan, documents = pair
    docs = frozenset(random.Random(allowed).sample(documents, allowed))
    queries = clustered(60, 64, seed=5)
    found = [names(quick, query, 10, docs) for query in queries]
    exact = [names(whole_scan, query, 10, docs) for query in queries]
    assert [len(one) for one in found] == [len(one) for one in exact]
    assert shared(found, exact) >= 0.99


@settings(max_examples=25)
@given(order=st.randoms(use_true_random=False), batches=st.integers(1, 9), merged=st.booleans())
def test_what_is_found_depends_neither_on_order_nor_on_segments(
    tmp_path_factory: pytest.TempPathFactory, order: random.Random, batches: int, merged: bool
) -> None:
    folder = tmp_path_factory.mktemp("order")
    vectors = clustered(900, 64, seed=6)
    one, other = (Int8VectorIndex(folder / name, MODEL, signed=True, least=40) for name in ("one", "other"))
    chunks = [sample(f"{at}.md", f"{at}").stored()[0] for at in range(len(vectors))]
    rows = {stored.chunk.chunk_id: row for stored, row in zip(chunks, vectors, strict=True)}
    one.apply(removed=(), chunks=chunks, vectors=rows, checkpoint=1)
    shuffled = order.sample(chunks, len(chunks))
    for at in range(batches):
        some = shuffled[at::batches]
        other.apply(removed=(), chunks=some, vectors=rows, checkpoint=at + 1)
        if merged:
            other.optimize()
    # Some come again, as a changed document does.
    again = shuffled[::7]
    other.apply(removed=[stored.chunk.doc_id for stored in again], chunks=again, vectors=rows, checkpoint=99)
    for query in clustered(10, 64, seed=7):
        assert one.search(query, limit=2) == other.search(query, limit=2)
    assert (one.faults(), other.faults()) == ([], [])


def test_a_removed_document_is_never_found_by_its_signs(tmp_path: Path) -> None:
    vectors = clustered(900, 64, seed=8)
    index = Int8VectorIndex(tmp_path, MODEL, signed=True, least=20)
    named = filled(index, vectors, batches=2)
    for doc, chunks in named[:20]:
        index.apply(removed=[doc], chunks=(), vectors={}, checkpoint=index.checkpoint() + 1)
        gone = set(chunks)
        first = int(named.index((doc, chunks))) * ROWS_A_DOCUMENT
        assert not gone & set(names(index, vectors[first], 3))
    index.optimize()
    assert index.count() == len(vectors) - 20 * ROWS_A_DOCUMENT
    assert not {c for _, own in named[:20] for c in own} & set(names(index, vectors[0], 100))


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="asks Linux what is in memory")
def test_a_search_of_many_rows_leaves_the_vectors_out_of_memory(tmp_path: Path) -> None:
    index = Int8VectorIndex(tmp_path, MODEL, signed=True, least=40)
    vectors = clustered(4000, 64, seed=8)
    documents = [doc for doc, _ in filled(index, vectors, batches=2)]
    for query in vectors[:50]:
        assert index.search(query, limit=10)
        assert index.search(query, limit=10, docs=frozenset(documents[:300]))
        assert index.search(query, limit=10, docs=frozenset(documents[:2]))
    assert touched_kb(tmp_path, ".codes") == 0
    assert touched_kb(tmp_path, ".signs") > 0


def test_threads_find_what_one_finds(pair: tuple[Int8VectorIndex, Int8VectorIndex, list[DocId]]) -> None:
    quick, _, _ = pair
    queries = list(clustered(60, 64, seed=12))
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda query: quick.search(query, limit=10), queries))
    assert found == [quick.search(query, limit=10) for query in queries]


@pytest.mark.parametrize("layout", ["int8-1", "int8-2"])
def test_an_index_of_a_layout_before_is_searched_as_it_is_and_gets_its_signs(
    tmp_path: Path, layout: str
) -> None:
    vectors = clustered(900, 64, seed=9)
    old = Int8VectorIndex(tmp_path, MODEL)
    filled(old, vectors, batches=2)
    query = clustered(1, 64, seed=10)[0]
    expected = names(old, query, 10)
    as_before(tmp_path, layout)
    index = Int8VectorIndex(tmp_path, MODEL, signed=True, least=50)
    assert (index.checkpoint(), index.count(), names(index, query, 10)) == (2, 900, expected)
    assert index.faults() == []
    assert not list(tmp_path.rglob("*.signs"))
    index.optimize()
    assert len(list(tmp_path.rglob("*.signs"))) == len(list(tmp_path.rglob("*.codes"))) > 0
    assert not list(tmp_path.rglob("*.leads"))
    assert index.faults() == []
    assert index.checkpoint() == 2
    assert shared([names(index, query, 10)], [expected]) >= 0.9


def as_before(folder: Path, layout: str) -> None:
    """Make of an index what a layout before wrote; the one of leads had another file for each segment."""
    from kebab.adapters.int8_vector import _hash_of

    (manifest,) = folder.rglob("manifest.json")
    found = json.loads(manifest.read_text("utf-8"))
    del found["hash"]
    found["layout"] = found["layout"].replace("int8-3", layout)
    for segment in found["segments"]:
        del segment["signs"]
        if layout == "int8-2":
            segment["leads"] = "0" * 32
            (manifest.parent / f"{segment['name']}.leads").write_bytes(b"leads")
    manifest.write_text(json.dumps({**found, "hash": _hash_of(found)}), encoding="utf-8")


def test_every_flipped_bit_of_the_signs_is_found_by_the_doctor(tmp_path: Path) -> None:
    vectors = clustered(300, 64, seed=11)
    index = Int8VectorIndex(tmp_path, MODEL, signed=True, least=5)
    filled(index, vectors)
    (file,) = tmp_path.rglob("*.signs")
    content = file.read_bytes()
    rng = random.Random(5)
    for _ in range(40):
        at = rng.randrange(8 * len(content))
        flipped = bytearray(content)
        flipped[at // 8] ^= 1 << at % 8
        file.write_bytes(flipped)
        assert index.faults() == [f"{file.name} is damaged"]
    file.unlink()
    assert [fault for fault in index.faults() if "cannot be read" in fault]


@pytest.mark.slow
@pytest.mark.skipif(not (COLLECTIONS / "scifact").is_dir(), reason="needs the shared collections")
def test_of_real_texts_the_ten_nearest_are_found(tmp_path: Path) -> None:
    """Abstracts, and the Korean of a book on commerce and law."""
    embedder = StaticEmbedder()
    texts, questions = [], []
    for name in ("scifact", "autorag-ko"):
        lines = (COLLECTIONS / name / "corpus.jsonl").read_text("utf-8").splitlines()
        texts += [json.loads(line)["text"][:1500] for line in lines][:2500]
        asked = (COLLECTIONS / name / "queries.jsonl").read_text("utf-8").splitlines()
        questions += [json.loads(line)["text"] for line in asked][:60]
    vectors = embedder.embed(texts, EmbeddingKind.DOCUMENT)
    model = ModelKey.of(embedder)
    quick = Int8VectorIndex(tmp_path / "quick", model, signed=True, least=150)
    whole_scan = Int8VectorIndex(tmp_path / "whole", model)
    filled(quick, vectors, batches=2)
    filled(whole_scan, vectors)
    queries = embedder.embed(questions, EmbeddingKind.QUERY)
    found = [names(quick, query, 10) for query in queries]
    assert shared(found, [names(whole_scan, query, 10) for query in queries]) >= 0.99
