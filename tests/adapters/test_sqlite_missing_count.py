"""The count of texts without a vector is kept by what changes it, and is never wrong."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.document_store import SqliteDocumentStore
from kebab.adapters.sqlite.embedding_store import SqliteEmbeddingStore
from kebab.ports import ModelKey
from tests.samples import sample

MODEL = ModelKey("model-a", "1", 4)
OTHER = ModelKey("model-b", "1", 4)


class Base:
    def __init__(self, folder: Path) -> None:
        self.database = Database(folder / "kebab.sqlite")
        self.documents = SqliteDocumentStore(self.database)
        self.embeddings = SqliteEmbeddingStore(self.database)

    def put(self, path: str, *texts: str) -> None:
        one = sample(path, *texts)
        self.documents.put(one.document, one.chunks, one.state)

    def embed(self, model: ModelKey, limit: int = 100) -> None:
        keys = list(self.embeddings.missing(model, limit=limit))
        self.embeddings.put_vectors(model, keys, np.eye(len(keys), 4, dtype=np.float32) + 0.1)

    def really_missing(self, model: ModelKey) -> int:
        return len(self.embeddings.missing(model, limit=1000))


def test_a_reader_counts_again_after_another_connection_wrote_or_dropped_vectors(tmp_path: Path) -> None:
    base = Base(tmp_path)
    base.put("a.md", "one", "two")
    reader = SqliteEmbeddingStore(Database(tmp_path / "kebab.sqlite", readonly=True))
    counts = [reader.count_missing(MODEL), base.embeddings.count_missing(MODEL)]
    base.embed(MODEL)
    counts += [reader.count_missing(MODEL), base.embeddings.count_missing(MODEL)]
    base.embeddings.forget_unused([])
    counts += [reader.count_missing(MODEL), base.embeddings.count_missing(MODEL)]
    assert counts == [2, 2, 0, 0, 2, 2]


TEXTS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), min_size=0, max_size=4)
STEPS = st.one_of(
    st.tuples(st.just("put"), st.sampled_from("abc"), TEXTS),
    st.tuples(st.just("remove"), st.sampled_from("abc"), st.none()),
    st.tuples(st.just("embed"), st.sampled_from([MODEL, OTHER]), st.integers(1, 3)),
    st.tuples(st.just("forget"), st.sampled_from([MODEL, OTHER]), st.none()),
)


@settings(max_examples=40)
@given(st.lists(STEPS, max_size=12))
def test_whatever_is_written_the_kept_count_is_the_counted_one(steps: list[tuple]) -> None:  # type: ignore[type-arg]
    with TemporaryDirectory() as folder:
        base = Base(Path(folder))
        for step, subject, more in steps:
            if step == "put":
                base.put(f"{subject}.md", *more)
            elif step == "remove":
                states = base.documents.file_states("default")
                base.documents.remove([s.doc_id for p, s in states.items() if p == f"{subject}.md"])
            elif step == "embed":
                base.embed(subject, more)
            else:
                base.embeddings.forget_unused([subject])
            for model in (MODEL, OTHER):
                assert base.embeddings.count_missing(model) == base.really_missing(model)
            assert base.embeddings.count_faults() == []
        base.database.close()


def test_a_transaction_that_fails_leaves_the_count(tmp_path: Path) -> None:
    base = Base(tmp_path)
    base.put("a.md", "one")
    try:
        with base.documents.together():
            base.put("b.md", "two")
            raise RuntimeError
    except RuntimeError:
        pass
    assert (base.embeddings.count_missing(MODEL), base.embeddings.count_faults()) == (1, [])


def test_a_count_that_was_tampered_with_is_found_and_mended(tmp_path: Path) -> None:
    base = Base(tmp_path)
    base.put("a.md", "one", "two")
    base.embed(MODEL, 1)
    with base.database.write() as connection:
        connection.execute("UPDATE counters SET value = 7 WHERE name = 'contents'")
        connection.execute("UPDATE embedding_models SET used = 0")
    assert base.embeddings.count_faults() == [
        "7 texts are counted, 2 are there",
        "0 vectors of model-a are counted, 1 are there",
    ]
    base.embeddings.recount()
    assert (base.embeddings.count_missing(MODEL), base.embeddings.count_faults()) == (1, [])
