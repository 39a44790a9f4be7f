"""The count of chunks without a vector is remembered between searches, and never outlives a write."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.document_store import SqliteDocumentStore
from kebab.adapters.sqlite.embedding_store import SqliteEmbeddingStore
from kebab.ports import ModelKey
from tests.samples import sample

MODEL = ModelKey("model-a", "1", 4)


def test_a_reader_counts_again_after_another_connection_wrote_or_dropped_vectors(tmp_path: Path) -> None:
    writing = Database(tmp_path / "kebab.sqlite")
    documents, writer = SqliteDocumentStore(writing), SqliteEmbeddingStore(writing)
    one = sample("a.md", "one", "two")
    documents.put(one.document, one.chunks, one.state)
    reader = SqliteEmbeddingStore(Database(tmp_path / "kebab.sqlite", readonly=True))
    counts = [reader.count_missing(MODEL), writer.count_missing(MODEL)]
    keys = list(writer.missing(MODEL, limit=2))
    writer.put_vectors(MODEL, keys, np.eye(2, 4, dtype=np.float32))
    counts += [reader.count_missing(MODEL), writer.count_missing(MODEL)]
    writer.forget_unused([])
    counts += [reader.count_missing(MODEL), writer.count_missing(MODEL)]
    assert counts == [2, 2, 0, 0, 2, 2]
