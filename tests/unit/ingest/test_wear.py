"""An index of which much is removed rows is written anew, and nothing else of it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kebab.adapters.tantivy_lexical import TantivyLexicalIndex
from kebab.domain.chunks import StoredChunk
from kebab.domain.ids import DocId
from kebab.ingest.catch_up import catch_up_lexical
from kebab.ingest.wear import DOCS_A_TURN, WORTH_IT, mostly_removed, write_worn_anew
from kebab.ports import IndexShape
from kebab.search.analyze import Analyzer
from tests.fakes import FakeDocumentStore, FakeLexicalIndex
from tests.unit.ingest.test_catch_up import ids, put
from tests.unit.ingest.test_pipeline import Bench

NOTES = 800


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> FakeDocumentStore:
    made, folder = FakeDocumentStore(), tmp_path_factory.mktemp("notes")
    for number in range(NOTES):
        put(made, folder, f"{number}.md", f"# Note {number}\n\nrope{number}\n")
    return made


@pytest.fixture
def worn(store: FakeDocumentStore, tmp_path: Path) -> TantivyLexicalIndex:
    """As a run leaves it that was killed when it had half of the notes indexed again."""
    index = TantivyLexicalIndex(tmp_path / "words", Analyzer())
    catch_up_lexical(store, index)
    half = store.doc_ids()[: NOTES // 2]
    for again in (half[:200], half[200:]):  # few pieces, so that the engine merges none
        index.apply(removed=again, chunks=chunks_of(store, again), checkpoint=index.checkpoint())
    return index


def chunks_of(store: FakeDocumentStore, doc_ids: list[DocId]) -> list[StoredChunk]:
    return list(store.stored_chunks(doc_ids))


def test_a_worn_index_is_written_anew(store: FakeDocumentStore, worn: TantivyLexicalIndex) -> None:
    stood, rows = worn.checkpoint(), worn.count()
    assert mostly_removed(worn.shape(), rows)
    assert write_worn_anew(store, worn) == NOTES
    assert worn.shape().removed == 0
    assert (worn.checkpoint(), worn.count(), worn.chunk_ids()) == (stood, rows, ids(store))
    assert worn.faults() == []
    assert write_worn_anew(store, worn) == 0


def test_stopped_halfway_it_is_whole_and_the_next_run_begins_anew(
    store: FakeDocumentStore, worn: TantivyLexicalIndex
) -> None:
    looks = iter([False, True])
    assert write_worn_anew(store, worn, cancelled=lambda: next(looks)) == DOCS_A_TURN
    assert worn.chunk_ids() == ids(store)
    assert write_worn_anew(store, worn) == NOTES
    assert worn.shape().removed == 0


def test_what_others_removed_meanwhile_does_not_come_back(
    tmp_path: Path, store: FakeDocumentStore, worn: TantivyLexicalIndex
) -> None:
    less = FakeDocumentStore()
    for number in range(NOTES):
        put(less, tmp_path, f"{number}.md", f"# Note {number}\n\nrope{number}\n")
    gone = less.doc_ids()[-1]

    def removed_by_another() -> bool:
        if gone in less.doc_ids():
            less.remove([gone])
        return False

    write_worn_anew(less, worn, cancelled=removed_by_another)
    assert worn.chunk_ids() == ids(less)


def test_little_wear_and_small_indexes_are_let_be(store: FakeDocumentStore) -> None:
    index = FakeLexicalIndex()
    catch_up_lexical(store, index)
    index.lies = IndexShape(3, removed=NOTES // 4)
    assert write_worn_anew(store, index) == 0
    assert not mostly_removed(IndexShape(3, removed=400), WORTH_IT - 401)
    assert mostly_removed(IndexShape(3, removed=400), WORTH_IT - 400)


def test_a_run_in_charge_writes_a_worn_index_anew(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "notes", tmp_path / "data")
    bench.write("a.md", "# Apple\n\nred fruit\n")
    bench.run()
    before = bench.lexical.applied
    bench.lexical.lies = IndexShape(2, removed=WORTH_IT)
    bench.run()
    assert bench.lexical.applied == before + 1
    assert bench.found("fruit") == {"a.md"}
