"""Naming a document: by its id, a beginning of it, or its path."""

from __future__ import annotations

import pytest

from kebab.errors import InvalidInput
from kebab.search.read import Reader
from tests.fakes import FakeDocumentStore, FakeEmbeddingStore
from tests.samples import sample
from tests.store_fakes import FakeSourceFiles


def test_one_path_in_two_sources_is_told_apart_by_source_and_named_by_id() -> None:
    store = FakeDocumentStore()
    made = [sample("a.md", "text", source_id=source) for source in ("home", "work")]
    for one in made:
        store.put(one.document, one.chunks, one.state)
    reader = Reader(store, FakeEmbeddingStore(store), FakeSourceFiles())
    with pytest.raises(InvalidInput, match=r"a\.md of home \(\w+\), a\.md of work") as raised:
        reader.document("a.md")
    assert "the id in brackets" in (raised.value.hint or "")
    assert reader.document(made[1].doc_id[:8]).source_id == "work"
