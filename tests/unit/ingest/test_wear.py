"""An index of which much is removed rows is written anew, and nothing else of it changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kebab.adapters.tantivy_lexical import TantivyLexicalIndex
from kebab.domain.chunk_words import ChunkWords
from kebab.domain.chunks import StoredChunk
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.ingests import IngestRun, RunStatus
from kebab.errors import EngineError, EngineUnavailable, StorageError
from kebab.ingest.catch_up import catch_up_lexical
from kebab.ingest.refresh import Effort
from kebab.ingest.wear import CHUNKS_A_TURN, DOCS_A_TURN, WORTH_IT, mostly_removed, write_worn_anew
from kebab.ports import NONE_CUT, IndexShape
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


class Recording(FakeLexicalIndex):
    """Remembers how many chunks came at once; raises what it is told to, from the change after this one."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []
        self.fails: EngineError | None = None

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        checkpoint: int,
        cut: Mapping[ChunkId, ChunkWords] = NONE_CUT,
    ) -> None:
        if self.fails is not None:
            raise self.fails
        self.sizes.append(len(chunks))
        super().apply(removed=removed, chunks=chunks, checkpoint=checkpoint, cut=cut)


def test_a_turn_is_as_short_with_long_documents(tmp_path: Path) -> None:
    store, index = FakeDocumentStore(), Recording()
    section = "\n".join(f"# Part {part}\n\nrope {part}\n" for part in range(200))
    for number in range(60):
        put(store, tmp_path, f"{number}.md", section + f"knot{number}\n")
    catch_up_lexical(store, index)
    index.sizes.clear()
    index.lies = IndexShape(2, removed=20_000)
    assert write_worn_anew(store, index) == 60
    assert sum(index.sizes) == store.counts()[1] > 2 * CHUNKS_A_TURN
    assert max(index.sizes) <= CHUNKS_A_TURN


def worn_bench(folder: Path) -> tuple[Bench, Recording]:
    index = Recording()
    bench = Bench(folder / "notes", folder / "data", lexical=index)
    for name in ("a.md", "b.md", "c.md"):
        bench.write(name, f"# {name}\n\nred fruit\n")
    bench.run()
    index.sizes.clear()
    index.lies = IndexShape(2, removed=WORTH_IT)
    return bench, index


def test_whoever_waits_for_one_note_does_not_wait_for_that(tmp_path: Path) -> None:
    bench, index = worn_bench(tmp_path)
    bench.write("a.md", "# a\n\ngreen fruit\n")
    assert bench.pipeline.refresh(most=Effort(100, 1 << 20)).report is not None
    bench.write("a.md", "# a\n\nblue fruit\n")
    assert bench.pipeline.refresh().report is not None
    bench.run(bench.write("b.md", "# b\n\nbrown fruit\n"))
    assert index.sizes == [1, 1, 1]
    bench.run()
    assert index.sizes == [1, 1, 1, 3]


@pytest.mark.parametrize("error", [StorageError("the disk is full"), EngineUnavailable("no room")])
def test_without_room_to_write_it_anew_the_run_ends_well_and_says_so(
    tmp_path: Path, error: EngineError
) -> None:
    bench, index = worn_bench(tmp_path)
    index.fails = error
    report = bench.run()
    assert report.run.status is RunStatus.COMPLETED
    assert report.degraded == (f"the words index keeps removed rows: {error.message}",)


class Killed(BaseException):
    pass


class DiesAfterCommit(TantivyLexicalIndex):
    """As a process leaves it that is killed when the engine has its change and nothing else is written."""

    def __init__(self, folder: Path, at: int) -> None:
        super().__init__(folder, Analyzer())
        self._left = at

    def _write(self, *given: Any) -> None:
        super()._write(*given)
        self._left -= 1
        if not self._left:
            raise Killed


def test_the_run_after_a_killed_one_finds_its_files_sound(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "notes", tmp_path / "data", lexical=FakeLexicalIndex())
    for number in range(NOTES // 4):
        bench.write(f"{number}.md", f"# Note {number}\n\nrope{number}\n")
    bench.pipeline = replace(bench.pipeline, lexical=TantivyLexicalIndex(tmp_path / "words", Analyzer()))
    bench.run()
    doc_ids, dies = bench.store.doc_ids(), DiesAfterCommit(tmp_path / "words", at=1)
    again, position = chunks_of(bench.store, doc_ids), dies.checkpoint()
    with pytest.raises(Killed):
        dies.apply(removed=doc_ids, chunks=again, checkpoint=position)
    bench.ledger.begin(IngestRun("killed", "2026-01-01T00:00:00Z", RunStatus.RUNNING))
    left = TantivyLexicalIndex(tmp_path / "words", Analyzer())
    assert left.faults()
    bench.pipeline = replace(bench.pipeline, lexical=left)
    bench.run()
    assert left.faults() == []
    assert left.chunk_ids() == ids(bench.store)
