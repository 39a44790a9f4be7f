from __future__ import annotations

from kebab.domain.documents import Metadata
from kebab.domain.hits import Leg
from kebab.domain.queries import SearchFilters, SearchQuery
from kebab.domain.why import WhyReport
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
    assert report.chunks[0].verdict == "removed by the filter tag=red"


def test_a_document_below_the_cut_says_its_place(shelf: Shelf) -> None:
    for n in range(12):
        shelf.add(f"{n}.md", "alpha alpha alpha")
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
