"""A page of different answers: each document once, whatever k is, with what else was found in it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab.domain.progress import never
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.domain.turns import ALONE
from kebab.ingest.sketch import sketch_the_rest
from kebab.search.fusion import Adaptive
from tests.unit.search.conftest import Shelf

MODES = [SearchMode.LEXICAL, SearchMode.VECTOR, SearchMode.HYBRID]


@pytest.mark.parametrize("mode", MODES)
def test_each_document_is_shown_once_by_its_best_chunk_with_the_number_of_others(
    shelf: Shelf, mode: SearchMode
) -> None:
    shelf.add("long.md", "garden soil", "garden soil rain", "garden soil sun")
    shelf.add("short.md", "garden soil wind")
    retriever = shelf.hybrid(Adaptive())
    flat = retriever.search(SearchQuery("garden soil", mode=mode)).hits
    grouped = retriever.search(SearchQuery("garden soil", mode=mode, by_document=True)).hits
    assert {hit.doc_path for hit in grouped} == {"long.md", "short.md"}
    assert [hit.rank for hit in grouped] == [1, 2]
    by_path = {hit.doc_path: hit for hit in grouped}
    assert len(by_path["long.md"].others) == 2
    best = next(hit for hit in flat if hit.doc_path == "long.md")
    assert by_path["long.md"].chunk_id == best.chunk_id
    assert by_path["short.md"].others == ()


@pytest.mark.parametrize("mode", MODES)
def test_a_document_that_holds_every_candidate_does_not_hide_the_others(
    shelf: Shelf, mode: SearchMode
) -> None:
    shelf.add("long.md", *[f"garden garden garden {n}" for n in range(40)])
    shelf.add("short.md", "garden among many other words of this sentence")
    found = shelf.hybrid(Adaptive(), candidates=10).search(
        SearchQuery("garden", mode=mode, k=2, by_document=True)
    )
    assert [hit.doc_path for hit in found.hits] == ["long.md", "short.md"]


def test_a_copy_of_a_note_is_named_by_the_note_and_not_shown(shelf: Shelf) -> None:
    shelf.add("a.md", "garden soil")
    shelf.add("copy of a.md", "garden soil")
    shelf.add("b.md", "garden walls")
    hits = shelf.hybrid(Adaptive()).search(SearchQuery("garden soil", by_document=True)).hits
    shown = {hit.doc_path: hit.copies for hit in hits}
    assert shown in ({"a.md": ("copy of a.md",), "b.md": ()}, {"copy of a.md": ("a.md",), "b.md": ()})


@given(sizes=st.lists(st.integers(1, 6), min_size=1, max_size=8), small=st.integers(1, 6))
@settings(max_examples=30)
def test_the_first_documents_do_not_depend_on_k(sizes: list[int], small: int) -> None:
    shelf = Shelf()
    for number, size in enumerate(sizes):
        shelf.add(f"{number}.md", *[f"garden {'soil ' * part} {number}" for part in range(size)])
    retriever = shelf.hybrid(Adaptive(), candidates=10)
    few, many = (
        retriever.search(SearchQuery("garden soil", k=k, by_document=True)).hits for k in (small, 30)
    )
    assert few == many[:small]
    assert len({hit.doc_id for hit in many}) == len(many) == len(sizes)


def test_a_near_copy_in_another_format_is_named_by_the_note_and_not_shown(shelf: Shelf) -> None:
    lines = [f"garden soil number {n} is turned in week {n * 7}" for n in range(80)]
    shelf.add("a.md", *[f"**{line}**" for line in lines])
    shelf.add("a.html", *lines[:78], "garden soil printed on paper")
    shelf.add("b.md", *[f"garden soil of {n * n} other kinds" for n in range(80)])
    sketch_the_rest(shelf.store, ALONE, never)
    hits = shelf.hybrid(Adaptive()).search(SearchQuery("garden soil week", by_document=True)).hits
    shown = {hit.doc_path: hit.copies for hit in hits}
    assert shown in ({"a.md": ("a.html",), "b.md": ()}, {"a.html": ("a.md",), "b.md": ()})


def test_texts_that_have_no_sketch_get_theirs(shelf: Shelf) -> None:
    shelf.add("a.md", "one text")
    shelf.add("b.md", "another")
    assert len(shelf.store.unsketched(limit=10)) == 2
    sketch_the_rest(shelf.store, ALONE, never)
    assert shelf.store.unsketched(limit=10) == []
