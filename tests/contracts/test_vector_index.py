"""What every VectorIndex promises."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kebab.adapters.int8_vector import Int8VectorIndex
from kebab.adapters.lance_vector import LanceVectorIndex
from kebab.domain.ids import ChunkId, DocId
from kebab.errors import ModelMismatch
from kebab.ports import IndexShape, ModelKey, VectorIndex, Vectors
from tests.fakes import FakeVectorIndex
from tests.samples import Sample, sample

MODEL = ModelKey("vendor/Model A", "1", 8)


BUILDERS: dict[str, Callable[[Path], VectorIndex]] = {
    "fake": lambda _: FakeVectorIndex(MODEL),
    "int8": lambda folder: Int8VectorIndex(folder / "vectors", MODEL),
    # Every search looks at the signs first, where there are as many rows.
    "int8-signs": lambda folder: Int8VectorIndex(folder / "vectors", MODEL, signed=True, least=1),
    "lance": lambda folder: LanceVectorIndex(folder / "vectors", MODEL),
    # Every search goes through the approximate index.
    "lance-ann": lambda folder: LanceVectorIndex(folder / "vectors", MODEL, ann_threshold=1),
}


@pytest.fixture(params=list(BUILDERS))
def index(request: pytest.FixtureRequest, tmp_path: Path) -> VectorIndex:
    return BUILDERS[request.param](tmp_path)


@pytest.fixture(params=["int8", "int8-signs", "lance", "lance-ann"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], VectorIndex]:
    """Opens the same files again, as another process would."""
    return lambda: BUILDERS[request.param](tmp_path)


def direction(angle: float) -> Vectors:
    row = np.zeros(8, dtype=np.float32)
    row[:2] = np.cos(angle), np.sin(angle)
    return row


def at(*angles: float, path: str = "a.md") -> tuple[Sample, dict[ChunkId, Vectors]]:
    """A document with a chunk in each of these directions."""
    one = sample(path, *[f"{path} at {angle}" for angle in angles])
    return one, {s.chunk.chunk_id: direction(a) for s, a in zip(one.stored(), angles, strict=True)}


def apply(
    index: VectorIndex,
    *given: tuple[Sample, dict[ChunkId, Vectors]],
    removed: tuple[DocId, ...] = (),
    checkpoint: int = 1,
) -> None:
    chunks = [stored for one, _ in given for stored in one.stored()]
    vectors = {key: row for _, rows in given for key, row in rows.items()}
    index.apply(removed=removed, chunks=chunks, vectors=vectors, checkpoint=checkpoint)


def found(index: VectorIndex, angle: float = 0.0, *, limit: int = 10) -> list[str]:
    return [hit.id for hit in index.search(direction(angle), limit=limit)]


def ids(given: tuple[Sample, dict[ChunkId, Vectors]]) -> list[str]:
    return [chunk.chunk_id for chunk in given[0].chunks]


def test_a_new_index_is_empty_and_answers(index: VectorIndex) -> None:
    assert (index.checkpoint(), index.count(), index.chunk_ids(), found(index)) == (0, 0, set(), [])
    index.optimize()
    assert index.model == MODEL


def test_an_index_whose_documents_are_gone_or_have_no_vector_finds_nothing(index: VectorIndex) -> None:
    one, rows = at(0.0, 1.0)
    doc = one.chunks[0].doc_id
    apply(index, (one, {}), checkpoint=1)
    assert index.search(direction(0.0), limit=3, docs=frozenset({doc})) == []
    apply(index, (one, rows), checkpoint=2)
    apply(index, removed=(doc,), checkpoint=3)
    for limited in (None, frozenset({doc})):
        assert index.search(direction(0.0), limit=3, docs=limited) == []
    assert (index.checkpoint(), index.count(), index.faults()) == (3, 0, [])


def test_the_nearest_come_first_with_their_cosines(index: VectorIndex) -> None:
    one = at(0.0, 1.0, 3.1, 0.5)
    apply(index, one, checkpoint=4)
    hits = index.search(direction(0.1), limit=3)
    assert [hit.id for hit in hits] == [ids(one)[0], ids(one)[3], ids(one)[1]]
    exact = 5e-3 if "int8" in index.version else 1e-6  # two dimensions are the worst case of rounding
    assert [hit.score for hit in hits] == pytest.approx([np.cos(0.1), np.cos(0.4), np.cos(0.9)], abs=exact)
    assert index.search(direction(0.1), limit=10)[-1].score == pytest.approx(np.cos(3.0), abs=exact)
    assert index.checkpoint() == 4


def test_the_length_of_a_query_does_not_matter_unless_it_is_0(index: VectorIndex) -> None:
    one = at(0.3)
    apply(index, one)
    assert index.search(direction(0.3) * 5, limit=1)[0].score == pytest.approx(1.0, abs=1e-6)
    assert index.search(direction(0.3) * 0, limit=1) == []


def test_a_chunk_without_a_vector_is_left_out(index: VectorIndex) -> None:
    one, rows = at(0.0, 1.0)
    key = one.stored()[0].chunk.chunk_id
    apply(index, (one, {key: rows[key]}))
    assert index.chunk_ids() == {one.chunks[0].chunk_id}


def test_equal_cosines_are_ordered_by_id_also_at_the_cut(index: VectorIndex) -> None:
    given = [at(0.7, path=f"{n}.md") for n in range(40)]
    apply(index, *given[:20])
    apply(index, *given[20:])
    every = sorted(chunk for one in given for chunk in ids(one))
    for limit in (1, 7, 39):
        assert found(index, 0.7, limit=limit) == every[:limit]
    index.optimize()
    assert found(index, 0.7, limit=7) == every[:7]


def test_applying_twice_is_applying_once(index: VectorIndex) -> None:
    one = at(0.0, 1.0)
    apply(index, one)
    apply(index, one)
    assert index.count() == 2
    assert found(index) == ids(one)


def test_a_replaced_document_leaves_no_old_vector(index: VectorIndex) -> None:
    old, new, other = at(0.0, 0.1), at(2.0), at(1.0, path="b.md")
    apply(index, old, other)
    index.optimize()
    apply(index, new, removed=(old[0].doc_id,), checkpoint=2)
    assert found(index) == [*ids(other), *ids(new)]
    assert index.chunk_ids() == {*ids(other), *ids(new)}
    index.optimize()
    assert found(index) == [*ids(other), *ids(new)]


def test_a_removed_document_is_gone(index: VectorIndex) -> None:
    one, other = at(0.0), at(1.0, path="b.md")
    apply(index, one, other)
    apply(index, removed=(one[0].doc_id, DocId("0" * 32)), checkpoint=2)
    assert (found(index), index.count(), index.checkpoint()) == (ids(other), 1, 2)
    apply(index, removed=(other[0].doc_id,), checkpoint=3)
    assert (found(index), index.count()) == ([], 0)
    index.optimize()
    assert found(index) == []


def test_a_filter_keeps_only_its_documents(index: VectorIndex) -> None:
    given = [at(n / 20, path=f"{n}.md") for n in range(20)]
    apply(index, *given)
    allowed = frozenset(one.doc_id for one, _ in given[10:])
    for _ in range(2):
        hits = index.search(direction(0.0), limit=5, docs=allowed)
        assert [hit.id for hit in hits] == [ids(one)[0] for one in given[10:15]]
        assert index.search(direction(0.0), limit=5, docs=frozenset()) == []
        assert index.search(direction(0.0), limit=5, docs=frozenset([DocId("nobody")])) == []
        index.optimize()


def test_a_filter_of_thousands_of_documents_finds_all_there_are(index: VectorIndex) -> None:
    one = at(3.0)
    apply(index, one, *[at(n / 100, path=f"{n}.md") for n in range(50)])
    allowed = frozenset([one[0].doc_id, *(DocId(f"{n:032x}") for n in range(3000))])
    assert [hit.id for hit in index.search(direction(0.0), limit=3, docs=allowed)] == ids(one)


def test_an_index_says_how_it_lies_on_disk(index: VectorIndex) -> None:
    assert index.shape() == IndexShape()
    one, two = at(0.0), at(1.0, path="b.md")
    apply(index, one, two, checkpoint=1)
    whole = index.shape()
    assert whole.pieces >= 1
    assert whole.removed == 0
    assert whole.byte_len > 0
    apply(index, removed=(one[0].doc_id,), checkpoint=2)
    worn = index.shape()
    assert worn.removed <= 1
    index.optimize()
    assert index.shape().removed == 0
    index.clear()
    assert index.shape() == IndexShape()


def test_clearing_brings_back_an_empty_index_that_can_be_filled(index: VectorIndex) -> None:
    one = at(0.0)
    apply(index, one, checkpoint=9)
    index.optimize()
    index.clear()
    assert (index.checkpoint(), index.count(), found(index)) == (0, 0, [])
    index.clear()
    apply(index, one, checkpoint=3)
    assert (index.checkpoint(), found(index)) == (3, ids(one))


def test_optimizing_changes_no_result(index: VectorIndex) -> None:
    given = [at(n / 7, n / 3, path=f"{n}.md") for n in range(60)]
    for start in range(0, 60, 3):
        apply(index, *given[start : start + 3])
    apply(index, removed=tuple(one.doc_id for one, _ in given[:20]), checkpoint=5)
    before = index.search(direction(1.0), limit=15)
    index.optimize()
    assert index.search(direction(1.0), limit=15) == before
    index.optimize()
    assert (index.search(direction(1.0), limit=15), index.checkpoint(), index.count()) == (before, 5, 80)


def test_the_first_of_a_larger_limit_are_the_same(index: VectorIndex) -> None:
    apply(index, *[at(n / 9, path=f"{n}.md") for n in range(30)])
    whole = index.search(direction(1.2), limit=30)
    assert len(whole) == 30
    assert [index.search(direction(1.2), limit=n) for n in (1, 5, 17)] == [whole[:n] for n in (1, 5, 17)]


def test_a_checkpoint_survives_reopening(opener: Callable[[], VectorIndex]) -> None:
    one = at(0.0)
    apply(opener(), one, checkpoint=12)
    again = opener()
    assert (again.checkpoint(), again.count(), found(again)) == (12, 1, ids(one))


def test_an_open_reader_sees_the_next_commit(opener: Callable[[], VectorIndex]) -> None:
    reader, writer = opener(), opener()
    assert found(reader) == []
    one, two = at(0.0), at(0.5, path="b.md")
    apply(writer, one)
    assert found(reader) == ids(one)
    writer.optimize()
    assert found(reader) == ids(one)
    apply(writer, two, removed=(one[0].doc_id,), checkpoint=2)
    assert found(reader) == ids(two)
    writer.clear()
    assert found(reader) == []
    apply(writer, one)
    assert found(reader) == ids(one)


WRITE = """
import sys
from pathlib import Path
from tests.contracts.test_vector_index import BUILDERS, apply, at
apply(BUILDERS["lance"](Path(sys.argv[1])), at(0.0), checkpoint=5)
"""


def test_a_reader_sees_what_another_process_wrote(tmp_path: Path) -> None:
    reader = BUILDERS["lance"](tmp_path)
    other = at(0.5, path="b.md")
    apply(reader, other)
    assert found(reader) == ids(other)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", WRITE, str(tmp_path)], check=True, env=environment)
    assert found(reader) == [*ids(at(0.0)), *ids(other)]
    assert reader.checkpoint() == 5


def test_another_version_of_the_model_counts_as_empty(tmp_path: Path) -> None:
    apply(BUILDERS["lance"](tmp_path), at(0.0), checkpoint=5)
    newer = LanceVectorIndex(tmp_path / "vectors", ModelKey(MODEL.model_id, "2", 8))
    assert (newer.checkpoint(), newer.count(), found(newer)) == (0, 0, [])
    other = at(1.0, path="b.md")
    apply(newer, other)
    assert found(newer) == ids(other)


@pytest.mark.parametrize(
    "other",
    [
        ModelKey("vendor/model-a", "1", 8),
        ModelKey("vendor_Model A", "1", 8),
        ModelKey(MODEL.model_id, "2", 8),
        ModelKey("모델", "1", 8),
    ],
)
def test_models_whose_names_look_alike_and_versions_of_one_never_share_a_table(
    other: ModelKey, tmp_path: Path
) -> None:
    one, theirs = at(0.0), at(1.0, path="b.md")
    first, second = BUILDERS["lance"](tmp_path), LanceVectorIndex(tmp_path / "vectors", other)
    apply(first, one, checkpoint=5)
    apply(second, theirs, checkpoint=7)
    for index, given, position in ((first, one, 5), (second, theirs, 7)):
        assert (index.checkpoint(), found(index)) == (position, ids(given))
    names = {path.name for path in (tmp_path / "vectors").glob("*.lance")}
    assert len(names) == 2
    assert all(name.startswith("chunk_embeddings_") and "_8_" in name for name in names)


def test_another_length_is_a_mismatch(tmp_path: Path) -> None:
    index = BUILDERS["lance"](tmp_path)
    apply(index, at(0.0))
    with pytest.raises(ModelMismatch):
        index.search(np.ones(5, dtype=np.float32), limit=1)
