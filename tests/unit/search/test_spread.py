"""Hits that repeat a better one of their document."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.chunks import Chunk
from kebab.domain.hits import RetrievalDetail
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.search.group import Placed
from kebab.search.spread import WINDOW, repetitions, spread
from tests.unit.search.conftest import Shelf

SHARED = "the block that both chunks hold, as the chunker's overlap makes it"


def chunk(number: int, text: str, *, doc: str = "d") -> Chunk:
    return Chunk(ChunkId(f"c{number}"), DocId(doc), number, text, (), (), (), 0, 1, "v", "p")


def test_a_chunk_that_mostly_stands_in_a_better_one_repeats_it() -> None:
    chunks = [chunk(0, f"first\n\n{SHARED}"), chunk(1, f"{SHARED}\n\nshort end")]
    assert repetitions(chunks) == [None, 0]


def test_a_chunk_that_adds_more_than_it_repeats_stays() -> None:
    chunks = [chunk(0, SHARED), chunk(1, f"{SHARED}\n\n{'something new, ' * 5}")]
    assert repetitions(chunks) == [None, None]


def test_another_document_may_say_the_same() -> None:
    assert repetitions([chunk(0, SHARED), chunk(1, SHARED, doc="other")]) == [None, None]


def test_parts_of_one_long_line_are_no_repetitions() -> None:
    assert repetitions([chunk(0, "word " * 50), chunk(1, "other " * 50)]) == [None, None]


def test_the_end_of_a_chain_is_compared_with_what_is_kept() -> None:
    a, b, c = "a" * 60, "b" * 30, "c" * 60
    chunks = [chunk(0, f"{a}\n{b}"), chunk(1, f"{a}\n{c[:30]}"), chunk(2, f"{c[:30]}\n{'d' * 10}")]
    assert repetitions(chunks) == [None, 0, None]


def test_empty_texts_repeat_nothing() -> None:
    assert repetitions([chunk(0, ""), chunk(1, "\n\n")]) == [None, None]


@given(st.lists(st.tuples(st.sampled_from("xy"), st.sampled_from("abc")), max_size=30))
def test_every_item_is_kept_once_and_each_half_keeps_its_order(given_: list[tuple[str, str]]) -> None:
    chunks = [chunk(n, text * 20, doc=doc) for n, (doc, text) in enumerate(given_)]
    places = list(range(len(chunks)))
    found = spread(places, chunks)
    assert sorted(place for place, _ in found) == places
    kept = [place for place, repeats in found if repeats is None]
    moved = [place for place, repeats in found if repeats is not None]
    assert (kept, moved) == (sorted(kept), sorted(moved))
    assert len({given_[place] for place in kept}) == len(kept)


def repeating(shelf: Shelf) -> None:
    """A document whose best chunks say the same, and others that say less of the query."""
    shelf.add("loud.md", *(f"{'alpha block ' * 8}\n\nend{n}" for n in range(5)))
    for n in range(30):
        shelf.add(f"{n:02}.md", f"alpha quiet{n} word{n}", f"block quiet{n} word{n}")


def test_a_page_of_hybrid_search_shows_a_text_once_and_the_rest_of_it_below(shelf: Shelf) -> None:
    repeating(shelf)
    hits = shelf.hybrid().search(SearchQuery("alpha block", k=40)).hits
    loud = [hit for hit in hits if hit.doc_path == "loud.md"]
    assert [hit.rank for hit in loud] == [1, *range(WINDOW - 3, WINDOW + 1)]
    assert [hit.repeats for hit in loud] == [None, *[loud[0].chunk_id] * 4]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len({hit.chunk_id for hit in hits}) == 40


def test_what_moved_keeps_the_score_of_the_fusion_in_its_details(shelf: Shelf) -> None:
    repeating(shelf)
    moved = [hit for hit in shelf.hybrid().search(SearchQuery("alpha block", k=20)).hits if hit.repeats]
    assert moved
    assert all(hit.retrieval.fusion_score > hit.score for hit in moved)


def test_a_single_mode_is_not_spread(shelf: Shelf) -> None:
    repeating(shelf)
    hits = shelf.hybrid().search(SearchQuery("alpha block", SearchMode.LEXICAL, k=5)).hits
    assert {hit.doc_path for hit in hits} == {"loud.md"}


def test_the_first_hits_do_not_depend_on_k(shelf: Shelf) -> None:
    repeating(shelf)
    deepest = shelf.hybrid().search(SearchQuery("alpha block", k=50)).hits
    for k in (1, 3, WINDOW - 1, WINDOW, WINDOW + 1, 33):
        assert shelf.hybrid().search(SearchQuery("alpha block", k=k)).hits == deepest[:k]


@given(st.lists(st.tuples(st.sampled_from("xy"), st.sampled_from("abcdefgh")), min_size=1, max_size=45))
def test_whatever_repeats_the_first_selected_do_not_depend_on_k(given_: list[tuple[str, str]]) -> None:
    shelf = Shelf()
    for name in "xy":
        shelf.add(f"{name}.md", *(text * 20 for doc, text in given_ if doc == name))
    chunks = [stored.chunk.chunk_id for stored in shelf.store.stored_chunks()]
    placed = [
        Placed(key, 1 / n, RetrievalDetail(SearchMode.HYBRID, 1 / n), ())
        for n, key in enumerate(sorted(chunks), start=1)
    ]
    deepest = shelf.presenter().select(placed, 50, spread_out=True)
    assert len(deepest) == len(given_)
    assert [item.score for item, _ in deepest] == sorted((i.score for i, _ in deepest), reverse=True)
    for k in range(1, len(given_)):
        assert shelf.presenter().select(placed, k, spread_out=True) == deepest[:k]


def test_the_bare_order_is_the_one_that_is_shown(shelf: Shelf) -> None:
    repeating(shelf)
    query = SearchQuery("alpha block", k=40)
    shown = [hit.chunk_id for hit in shelf.hybrid().search(query).hits]
    for k in (1, 40):
        ranked = [item.id for item in shelf.hybrid().rank(replace(query, k=k))]
        assert ranked[:40] == shown
