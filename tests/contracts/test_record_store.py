"""What every RecordStore promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.document_store import SqliteDocumentStore
from kebab.adapters.sqlite.embedding_store import SqliteEmbeddingStore
from kebab.adapters.sqlite.records import SqliteRecordStore
from kebab.domain.documents import Metadata
from kebab.errors import Corrupt
from kebab.ports import DocumentStore, EmbeddingStore, ModelKey, RecordStore
from tests.fakes import FakeDocumentStore, FakeEmbeddingStore
from tests.publication_fakes import FakeRecordStore
from tests.samples import Sample, sample

MODEL = ModelKey("fake-model", "1", 3)


@dataclass
class Base:
    documents: DocumentStore
    embeddings: EmbeddingStore
    records: RecordStore

    def put(self, *samples: Sample) -> None:
        for one in samples:
            self.documents.put(one.document, one.chunks, one.state)

    def embed(self, one: Sample) -> None:
        keys = [stored.content_key for stored in one.stored()]
        vectors = np.arange(3 * len(keys), dtype=np.float32).reshape(-1, 3) + 1
        self.embeddings.put_vectors(MODEL, keys, vectors)

    def every(self) -> list[object]:
        ids = [document.doc_id for document in self.documents.list_documents()]
        return [
            (
                self.documents.document(doc_id),
                self.documents.chunks_of(doc_id),
                self.documents.source_text(doc_id),
            )
            for doc_id in ids
        ]


def _sqlite(folder: Path) -> Base:
    database = Database(folder / "kebab.sqlite")
    return Base(SqliteDocumentStore(database), SqliteEmbeddingStore(database), SqliteRecordStore(database))


def _fake(_: Path) -> Base:
    documents = FakeDocumentStore()
    embeddings = FakeEmbeddingStore(documents)
    return Base(documents, embeddings, FakeRecordStore(documents, embeddings))


BUILDERS: dict[str, Callable[[Path], Base]] = {"fake": _fake, "sqlite": _sqlite}


@pytest.fixture(params=list(BUILDERS))
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Base, Base]:
    """Two stores of one kind, the second to be filled from the first."""
    build = BUILDERS[request.param]
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    return build(tmp_path / "one"), build(tmp_path / "two")


def copy(source: Base, target: Base) -> None:
    marks = source.records.marks(MODEL)
    target.records.put(list(source.records.records(list(marks), MODEL)), MODEL)


def test_a_store_filled_from_records_holds_the_same_documents(pair: tuple[Base, Base]) -> None:
    one, two = pair
    one.put(
        sample(
            "a.md", "alpha", "beta", title="소유권", metadata=Metadata(tags=("x",), user={"summary": "s"})
        ),
        sample("b/c.md", "gamma"),
    )
    copy(one, two)
    assert two.every() == one.every()
    assert two.records.marks(MODEL) == one.records.marks(MODEL)
    assert two.documents.counts() == (2, 3)


def test_vectors_come_along(pair: tuple[Base, Base]) -> None:
    one, two = pair
    note = sample("a.md", "alpha", "beta")
    one.put(note)
    one.embed(note)
    copy(one, two)
    keys = [stored.content_key for stored in note.stored()]
    before, after = one.embeddings.vectors(MODEL, keys), two.embeddings.vectors(MODEL, keys)
    assert {key: row.tolist() for key, row in after.items()} == {k: row.tolist() for k, row in before.items()}
    assert two.embeddings.count_missing(MODEL) == 0


def test_a_mark_changes_with_the_text_and_with_the_vectors(pair: tuple[Base, Base]) -> None:
    one, _ = pair
    note, other = sample("a.md", "alpha"), sample("b.md", "beta")
    one.put(note, other)
    first = one.records.marks(MODEL)
    assert one.records.marks(MODEL) == first
    one.embed(note)
    second = one.records.marks(MODEL)
    assert second[note.doc_id] != first[note.doc_id]
    assert second[other.doc_id] == first[other.doc_id]
    assert one.records.marks(None) != second


def test_records_and_marks_agree(pair: tuple[Base, Base]) -> None:
    one, _ = pair
    note = sample("a.md", "alpha", "beta")
    one.put(note, sample("b.md", "beta"))
    one.embed(note)
    marks = one.records.marks(MODEL)
    assert {record.doc_id: record.mark for record in one.records.records(list(marks), MODEL)} == marks


def test_what_is_put_takes_the_place_of_what_stood_there(pair: tuple[Base, Base]) -> None:
    one, two = pair
    old, new = sample("a.md", "old"), sample("a.md", "new")
    two.put(old)
    position = two.documents.latest()
    one.put(new)
    copy(one, two)
    assert two.every() == one.every()
    pending = two.documents.pending(position)
    assert pending is not None
    assert (pending.changed, pending.removed) == ((new.doc_id,), (old.doc_id,))


def test_a_damaged_record_is_refused_and_nothing_is_stored(pair: tuple[Base, Base]) -> None:
    one, two = pair
    note = sample("a.md", "alpha")
    one.put(note)
    (record,) = one.records.records([note.doc_id], None)
    with pytest.raises(Corrupt):
        two.records.put([replace(record, rows=record.rows[:20])], None)
    assert two.documents.counts() == (0, 0)


def test_unknown_documents_have_no_record(pair: tuple[Base, Base]) -> None:
    one, _ = pair
    assert list(one.records.records([sample("a.md", "x").doc_id], MODEL)) == []


def test_a_store_can_stand_at_the_revision_of_another(pair: tuple[Base, Base]) -> None:
    one, two = pair
    one.put(sample("a.md", "alpha"), sample("b.md", "beta"))
    copy(one, two)
    two.records.take_revision(77)
    assert two.documents.revision() == 77
    two.put(sample("c.md", "gamma"))
    assert two.documents.revision() == 78
