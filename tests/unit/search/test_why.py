from __future__ import annotations

from dataclasses import replace

from kebab.domain.documents import Metadata
from kebab.domain.hits import Leg
from kebab.domain.queries import SearchFilters, SearchQuery
from kebab.domain.why import WhyReport
from kebab.search.parse import parse_query
from kebab.search.spread import WINDOW
from kebab.search.why import WhyReader
from tests.unit.search.conftest import Shelf


def why(shelf: Shelf, path: str, query: SearchQuery) -> WhyReport:
    doc = shelf.store.find_documents(path)[0]
    return WhyReader(shelf.hybrid(), shelf.store, shelf.analyzer).explain(doc.doc_id, query)


def test_a_shown_document_is_explained_with_both_legs(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha beta")
    report = why(shelf, "a.md", SearchQuery("alpha omega"))
    assert report.shown
    lexical = next(leg for leg in report.chunks[0].legs if leg.leg is Leg.LEXICAL)
    assert (lexical.rank, lexical.matched_terms, lexical.missing_terms) == (1, ("alpha",), ("omega",))


def test_a_filter_that_removes_the_document_is_named(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha beta", metadata=Metadata(tags=("blue",)))
    query = SearchQuery("alpha", filters=SearchFilters(tag=("red",), lang=("en",)))
    report = why(shelf, "a.md", query)
    assert not report.shown
    assert report.removed_by == ("tag=red",)
    assert report.chunks[0].verdict == "removed by the filter tag=red; without filters at place 1"


def test_a_document_that_passes_the_filters_is_placed_among_what_they_leave(shelf: Shelf) -> None:
    for n in range(5):
        shelf.add(f"{n}.md", "alpha alpha alpha", metadata=Metadata(tags=("red",)))
    shelf.add("first.md", "alpha alpha beta", metadata=Metadata(tags=("blue",)))
    shelf.add("second.md", "alpha beta gamma delta", metadata=Metadata(tags=("blue",)))
    query = SearchQuery("alpha", k=1, filters=SearchFilters(tag=("blue",)))
    shown = [hit.doc_path for hit in shelf.hybrid().search(replace(query, k=10)).hits]
    places = {path: why(shelf, path, query).chunks[0] for path in shown}
    assert [places[path].rank for path in shown] == [1, 2]
    assert [places[path].shown for path in shown] == [True, False]
    assert places[shown[1]].verdict == "at place 2, below the cut at k = 1"
    assert {leg.note for leg in places[shown[1]].legs} <= {"place 1 of 2", "place 2 of 2"}


def test_a_hit_that_was_moved_down_names_the_one_it_repeats(shelf: Shelf) -> None:
    shelf.add("loud.md", *(f"{'alpha block ' * 8}\n\nend{n}" for n in range(2)))
    for n in range(30):
        shelf.add(f"{n:02}.md", f"alpha quiet{n} word{n}")
    kept, moved = why(shelf, "loud.md", SearchQuery("alpha block", k=25)).chunks
    assert (kept.rank, kept.repeats, kept.verdict) == (1, None, "shown")
    assert (moved.rank, moved.repeats) == (WINDOW, kept.chunk_id)
    assert moved.verdict == f"shown; moved down: {kept.citation} above holds most of it"
    _, cut = why(shelf, "loud.md", SearchQuery("alpha block", k=5)).chunks
    assert cut.verdict.startswith(f"at place {WINDOW}, below the cut at k = 5; moved down: loud.md#L1")


def test_a_phrase_or_an_exclusion_that_bars_the_document_is_named_by_both_legs(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha beta gamma")
    shelf.add("b.md", "gamma beta")
    for text, note in (
        ('"gamma beta"', 'the phrase "gamma beta" does not stand in it'),
        ("beta -alpha", "the excluded alpha stands in it"),
    ):
        (place,) = why(shelf, "a.md", parse_query(text)).chunks
        assert [leg.note for leg in place.legs] == [note, note]
        assert place.verdict == "found by no leg"


def test_a_chunk_that_an_index_does_not_have_yet_is_said_to_be_missing_there(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha beta")
    document = shelf.add("b.md", "alpha gamma")
    shelf.lexical_index.apply(removed=[document.doc_id], chunks=[], checkpoint=99)
    (place,) = why(shelf, "b.md", SearchQuery("alpha")).chunks
    assert place.legs[0].note == "not in the words index yet: kebab index"


def test_a_query_without_words_finds_nothing_in_either_leg(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha beta")
    (place,) = why(shelf, "a.md", SearchQuery("?!")).chunks
    assert [leg.note for leg in place.legs] == ["holds no word of the query", "this leg found nothing at all"]


def test_a_document_below_the_cut_says_its_place(shelf: Shelf) -> None:
    for n in range(12):
        shelf.add(f"{n}.md", f"alpha alpha alpha number{n}")
    shelf.add("last.md", "alpha and many other words that make the chunk much longer than the others")
    report = why(shelf, "last.md", SearchQuery("alpha", k=3))
    assert not report.shown
    assert report.chunks[0].rank == 13
    assert "below the cut at k = 3" in report.verdict


def test_a_document_without_any_of_the_words_says_so(shelf: Shelf) -> None:
    shelf.add("a.md", "gamma delta")
    report = why(shelf, "a.md", SearchQuery("alpha"))
    lexical = next(leg for leg in report.chunks[0].legs if leg.leg is Leg.LEXICAL)
    assert lexical.note == "holds no word of the query"


def test_a_document_of_the_first_page_is_shown_however_many_chunks_stand_before_it(shelf: Shelf) -> None:
    shelf.add("long.md", *(f"alpha alpha beta{n}" for n in range(8)))
    shelf.add("short.md", "alpha and much else that says nothing of it")
    report = why(shelf, "short.md", SearchQuery("alpha", k=3))
    assert (report.page, report.shown, report.chunks[0].shown) == (2, True, False)
    assert report.verdict == "place 2 of the documents; its best chunk is at place 9 of all chunks"


def test_a_near_copy_is_shown_by_the_document_that_names_it(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha beta gamma")
    shelf.add("b.md", "alpha beta gamma")
    reports = {path: why(shelf, path, SearchQuery("alpha beta", k=1)) for path in ("a.md", "b.md")}
    assert all(report.page == 1 and report.shown for report in reports.values())
    assert sum("near-copy" in report.verdict for report in reports.values()) == 1


def test_a_document_that_a_filter_removes_has_no_place_on_the_page(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha", metadata=Metadata(tags=("blue",)))
    report = why(shelf, "a.md", SearchQuery("alpha", filters=SearchFilters(tag=("red",))))
    assert not report.shown
    assert "of the documents" not in report.verdict
