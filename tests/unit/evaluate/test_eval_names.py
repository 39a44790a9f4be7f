"""Queries made of what notes are called: which ones there are, and what counts as found."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest

from kebab.domain.ids import ChunkId, DocId
from kebab.evaluate.names import Asked, measure, name_queries
from tests.fakes import FakeDocumentStore


class _Hit(NamedTuple):
    doc_id: DocId
    chunk_id: ChunkId
    doc_path: str


def _hit(path: str, number: int = 0) -> _Hit:
    return _Hit(DocId(f"id-of-{path}"), ChunkId(f"{path}:{number}"), path)


def _queries(store: FakeDocumentStore, seed: int = 0) -> list[Asked]:
    return name_queries(store.list_documents(), list(store.stored_chunks()), notes=10, seed=seed)


def test_every_note_is_asked_for_by_title_stem_name_and_path(store: FakeDocumentStore) -> None:
    asked = {(query.kind, query.text) for query in _queries(store)}
    for kind, text in [("file stem", "pasta"), ("file name", "bread.md"), ("path", "김치.md")]:
        assert (kind, text) in asked


def test_the_same_seed_draws_the_same_queries(store: FakeDocumentStore) -> None:
    assert _queries(store, seed=3) == _queries(store, seed=3)
    assert _queries(store, seed=3) != _queries(store, seed=4)


def test_a_mistyped_title_differs_from_the_title_and_wants_the_same_note(store: FakeDocumentStore) -> None:
    titles = {query.documents: query.text for query in _queries(store) if query.kind == "title"}
    typos = [query for query in _queries(store) if query.kind in ("letter dropped", "letters swapped")]
    assert {query.kind for query in typos} == {"letter dropped", "letters swapped"}
    assert all(query.text != titles[query.documents] for query in typos)


@pytest.mark.parametrize("kind", ["rare word", "quoted word"])
def test_a_rare_word_is_answered_by_the_chunks_that_hold_it(store: FakeDocumentStore, kind: str) -> None:
    asked = {query.text.strip('"'): query for query in _queries(store) if query.kind == kind}
    assert asked["tomatoes"].chunks == {ChunkId("pasta.md:1")}
    assert "water" not in asked or len(asked["water"].chunks) == 2
    assert all(query.text.startswith('"') == (kind == "quoted word") for query in asked.values())


def test_places_count_documents_and_the_page_its_different_ones() -> None:
    asked = [Asked("title", "pasta", frozenset({DocId("id-of-pasta.md")}))]
    hits = [_hit("bread.md"), _hit("bread.md", 1), _hit("pasta.md")]
    report = measure(asked, lambda _: hits, name="kitchen", documents=3)
    (row,) = report.rows
    assert (report.queries[0].place, row.hit_1, row.hit_3, row.distinct) == (2, 0.0, 1.0, 2.0)


def test_a_note_that_is_not_on_the_page_has_no_place() -> None:
    asked = [Asked("title", "soup", frozenset({DocId("id-of-soup.md")}))]
    report = measure(asked, lambda _: [_hit("bread.md")], name="kitchen", documents=3)
    assert (report.queries[0].place, report.rows[0].hit_10) == (None, 0.0)


def test_of_a_rare_word_the_chunk_that_is_shown_must_hold_it() -> None:
    asked = [Asked("rare word", "basil", chunks=frozenset({ChunkId("pasta.md:1")}))]
    wrong = measure(asked, lambda _: [_hit("pasta.md", 0)], name="kitchen", documents=3)
    right = measure(asked, lambda _: [_hit("pasta.md", 1)], name="kitchen", documents=3)
    assert (wrong.rows[0].hit_1, right.rows[0].hit_1) == (0.0, 1.0)


def test_a_word_between_the_signs_of_an_emphasis_is_that_word(store: FakeDocumentStore) -> None:
    first, *others = store.stored_chunks()
    emphasised = replace(first, chunk=replace(first.chunk, text="a _marjoram_ of one's own"))
    asked = name_queries(store.list_documents(), [emphasised, *others], notes=1, seed=0)
    rare = {query.text: query.chunks for query in asked if query.kind == "rare word"}
    assert rare["marjoram"] == {emphasised.chunk.chunk_id}


def test_a_latin_word_with_korean_attached_to_it_is_held_as_that_word(store: FakeDocumentStore) -> None:
    first, second, *others = store.stored_chunks()
    alone = replace(first, chunk=replace(first.chunk, text="marjoram on its own"))
    attached = replace(second, chunk=replace(second.chunk, text="여기에는 marjoram을 넣는다"))
    asked = name_queries(store.list_documents(), [alone, attached, *others], notes=1, seed=0)
    rare = {query.text: query.chunks for query in asked if query.kind == "rare word"}
    assert rare["marjoram"] == {alone.chunk.chunk_id, attached.chunk.chunk_id}
