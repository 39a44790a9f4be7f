"""Naming a document: by its id, a beginning of it, its path, or what it is called."""

from __future__ import annotations

import pytest

from kebab.errors import DocNotFound, InvalidInput
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


def _reading(*paths: str) -> Reader:
    store = FakeDocumentStore()
    for path in paths:
        one = sample(path, f"text of {path}")
        store.put(one.document, one.chunks, one.state)
    return Reader(store, FakeEmbeddingStore(store), FakeSourceFiles())


@pytest.mark.parametrize(
    "name", ["React-Hooks", "react hooks", "ReactHooks", "web/react-hooks", "react-hooks.md"]
)
def test_a_document_is_named_by_its_file_in_any_spelling(name: str) -> None:
    reader = _reading("web/React-Hooks.md", "web/react.md")
    assert reader.document(name).path == "web/React-Hooks.md"
    assert reader.fetch(name).doc_path == "web/React-Hooks.md"


def test_a_name_that_several_documents_have_is_an_error_that_lists_them() -> None:
    with pytest.raises(InvalidInput, match=r"names 2 documents: a/todo\.md of .* b/todo\.md of "):
        _reading("a/todo.md", "b/todo.md").document("TODO")


@pytest.mark.parametrize(("asked", "meant"), [("wifi", "wifi 한글 #1.md"), ("recat-hooks", "react-hooks.md")])
def test_an_unknown_name_is_an_error_with_the_nearest_ones(asked: str, meant: str) -> None:
    with pytest.raises(DocNotFound) as raised:
        _reading("wifi 한글 #1.md", "react-hooks.md", "zebra.md").document(asked)
    assert raised.value.hint == f"did you mean: {meant}"


def test_a_name_like_no_other_points_to_the_list() -> None:
    with pytest.raises(DocNotFound) as raised:
        _reading("zebra.md").document("quantum")
    assert "kebab list docs" in (raised.value.hint or "")


def test_a_name_in_another_source_is_not_taken() -> None:
    store = FakeDocumentStore()
    one = sample("open/a.md", "text", source_id="home")
    store.put(one.document, one.chunks, one.state)
    reader = Reader(store, FakeEmbeddingStore(store), FakeSourceFiles())
    for reference in ("open/a.md", "open/a", "open/a.md#L1"):
        assert reader.fetch(reference, source="home").doc_path == "open/a.md"
        with pytest.raises(DocNotFound):
            reader.fetch(reference, source="work")
