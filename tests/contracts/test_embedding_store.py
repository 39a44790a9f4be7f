"""What every EmbeddingStore promises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.document_store import SqliteDocumentStore
from kebab.adapters.sqlite.embedding_store import SqliteEmbeddingStore
from kebab.domain.chunks import embedding_input
from kebab.ports import DocumentStore, EmbeddingStore, ModelKey, Vectors
from tests.fakes import FakeDocumentStore, FakeEmbeddingStore
from tests.samples import Sample, sample

MODEL = ModelKey("model-a", "1", 4)
OTHER = ModelKey("model-a", "2", 4)

Stores = tuple[DocumentStore, EmbeddingStore]


@pytest.fixture(params=["fake", "sqlite"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Stores:
    def fake() -> Stores:
        documents = FakeDocumentStore()
        return documents, FakeEmbeddingStore(documents)

    def sqlite() -> Stores:
        database = Database(tmp_path / "kebab.sqlite")
        return SqliteDocumentStore(database), SqliteEmbeddingStore(database)

    builders: dict[str, Callable[[], Stores]] = {"fake": fake, "sqlite": sqlite}
    return builders[request.param]()


def put(documents: DocumentStore, *samples: Sample) -> None:
    for one in samples:
        documents.put(one.document, one.chunks, one.state)


def vectors(count: int) -> Vectors:
    return np.arange(count * 4, dtype=np.float32).reshape(count, 4) / np.float32(7)


def texts(missing: dict[str, str]) -> list[str]:
    """The chunks' own texts, below the line with title and headings."""
    return [text.split("\n", 1)[1] for text in missing.values()]


def test_chunks_without_a_vector_are_missing_in_document_order(stores: Stores) -> None:
    documents, embeddings = stores
    put(documents, sample("a.md", "one", "two"), sample("b.md", "three"))
    assert texts(embeddings.missing(MODEL, limit=10)) == ["one", "two", "three"]
    assert texts(embeddings.missing(MODEL, limit=2)) == ["one", "two"]
    assert embeddings.count_missing(MODEL) == 3
    assert embeddings.models() == {}


def test_what_is_missing_comes_as_a_model_reads_it(stores: Stores) -> None:
    documents, embeddings = stores
    one = sample("a.md", "text", title="제목")
    put(documents, one)
    (stored,) = one.stored()
    read = embedding_input(title="제목", heading_path=stored.chunk.heading_path, text="text")
    assert embeddings.missing(MODEL, limit=1) == {stored.content_key: read}


def test_equal_content_is_embedded_once(stores: Stores) -> None:
    documents, embeddings = stores
    put(documents, sample("a.md", "same", "same"), sample("b.md", "same", "other"))
    assert texts(embeddings.missing(MODEL, limit=10)) == ["same", "other"]
    assert texts(embeddings.missing(MODEL, limit=2)) == ["same", "other"]
    assert embeddings.count_missing(MODEL) == 2


def test_only_what_is_missing_is_asked_for_again(stores: Stores) -> None:
    documents, embeddings = stores
    put(documents, *[sample(f"{n:02}.md", f"text {n}") for n in range(10)])
    asked: list[str] = []
    while batch := embeddings.missing(MODEL, limit=3):
        asked.extend(texts(batch))
        embeddings.put_vectors(MODEL, list(batch), vectors(len(batch)))
    assert asked == [f"text {n}" for n in range(10)]
    put(documents, sample("03.md", "edited"), sample("11.md", "text 4"))
    assert texts(embeddings.missing(MODEL, limit=3)) == ["edited"]
    assert embeddings.count_missing(OTHER) == 10


def test_vectors_come_back_as_they_were_put(stores: Stores) -> None:
    documents, embeddings = stores
    one = sample("a.md", "one", "two")
    put(documents, one)
    keys = [stored.content_key for stored in one.stored()]
    embeddings.put_vectors(MODEL, keys, vectors(2))
    found = embeddings.vectors(MODEL, [*keys, "unknown"])
    assert sorted(found) == sorted(keys)
    assert all(row.dtype == np.float32 for row in found.values())
    assert np.array_equal(found[keys[1]], vectors(2)[1])
    assert embeddings.vectors(OTHER, keys) == {}
    assert embeddings.models() == {MODEL: 2}
    embeddings.put_vectors(MODEL, keys[:1], vectors(2)[1:])
    assert np.array_equal(embeddings.vectors(MODEL, keys)[keys[0]], vectors(2)[1])
    assert embeddings.models() == {MODEL: 2}


def test_new_vectors_tell_the_outbox_of_their_model_only(stores: Stores) -> None:
    documents, embeddings = stores
    one, two = sample("a.md", "shared"), sample("b.md", "shared", "own")
    put(documents, one, two)
    before = documents.latest()
    embeddings.put_vectors(MODEL, [one.stored()[0].content_key], vectors(1))
    change = documents.pending(before, model=MODEL)
    assert change is not None
    assert set(change.changed) == {one.doc_id, two.doc_id}
    assert documents.pending(before) is None
    assert documents.pending(before, model=OTHER) is None
    assert documents.behind(before, model=MODEL) == 2
    assert documents.behind(before) == 0


def test_a_moved_file_needs_no_new_vector(stores: Stores) -> None:
    documents, embeddings = stores
    old = sample("a.md", "text")
    put(documents, old)
    embeddings.put_vectors(MODEL, [old.stored()[0].content_key], vectors(1))
    documents.remove([old.doc_id])
    put(documents, sample("moved.md", "text"))
    assert embeddings.count_missing(MODEL) == 0
    assert embeddings.missing(MODEL, limit=5) == {}


def test_forgetting_drops_unused_vectors_and_unnamed_models(stores: Stores) -> None:
    documents, embeddings = stores
    kept, gone = sample("a.md", "kept"), sample("b.md", "gone")
    put(documents, kept, gone)
    keys = [kept.stored()[0].content_key, gone.stored()[0].content_key]
    embeddings.put_vectors(MODEL, keys, vectors(2))
    embeddings.put_vectors(OTHER, keys, vectors(2))
    documents.remove([gone.doc_id])
    assert embeddings.forget_unused([MODEL]) == 3
    assert embeddings.models() == {MODEL: 1}
    assert set(embeddings.vectors(MODEL, keys)) == {keys[0]}
    assert texts(embeddings.missing(OTHER, limit=5)) == ["kept"]
    assert embeddings.forget_unused([MODEL]) == 0


def test_vectors_of_texts_that_are_gone_are_kept_until_they_are_many(stores: Stores) -> None:
    documents, embeddings = stores
    one = sample("a.md", "kept")
    put(documents, one)
    key = one.stored()[0].content_key
    embeddings.put_vectors(MODEL, [key, *(f"gone {at}" for at in range(600))], vectors(601))
    embeddings.put_vectors(OTHER, [f"gone {at}" for at in range(400)], vectors(400))
    assert embeddings.forget_surplus() == 0
    assert embeddings.models() == {MODEL: 601, OTHER: 400}
    embeddings.put_vectors(OTHER, ["one more"], vectors(1))
    assert embeddings.forget_surplus() == 1001
    assert embeddings.models() == {MODEL: 1}
    assert set(embeddings.vectors(MODEL, [key])) == {key}
    assert embeddings.forget_surplus() == 0
