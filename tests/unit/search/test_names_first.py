"""Who types what a note is called gets that note first, whatever else holds the words."""

from __future__ import annotations

import pytest

from kebab.domain.documents import Metadata
from kebab.domain.queries import SearchFilters, SearchMode, SearchQuery
from kebab.search.fusion import Adaptive
from kebab.search.parse import parse_query
from tests.unit.search.conftest import Shelf


def _crowded(shelf: Shelf) -> None:
    """A note called Go, and others that say go far more often."""
    shelf.add("lang/go.md", "A language with a small specification.", metadata=Metadata(aliases=("Golang",)))
    for number in range(5):
        shelf.add(f"links/{number}.md", "go go go", f"go {number} go go")


@pytest.mark.parametrize("mode", [SearchMode.LEXICAL, SearchMode.HYBRID])
@pytest.mark.parametrize("asked", ["go", "Go", "go.md", "lang/go.md", "golang"])
def test_a_note_comes_first_by_each_of_its_names(shelf: Shelf, asked: str, mode: SearchMode) -> None:
    _crowded(shelf)
    found = shelf.hybrid(Adaptive()).search(SearchQuery(asked, mode=mode))
    assert found.hits[0].doc_path == "lang/go.md"
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)


def test_the_response_says_that_a_note_is_called_so(shelf: Shelf) -> None:
    _crowded(shelf)
    found = shelf.hybrid(Adaptive()).search(SearchQuery("go"))
    assert found.fusion is not None
    assert found.fusion.reason.startswith("a note is called what was asked")
    assert found.hits[0].score == 1.0
    assert found.hits[1].score < 1.0


def test_of_notes_of_one_name_the_one_that_writes_it_as_typed_comes_first(shelf: Shelf) -> None:
    shelf.add("a/Static Files.md", "text")
    shelf.add("b/static-files.md", "text")
    for asked, path in (("Static Files", "a/Static Files.md"), ("static-files", "b/static-files.md")):
        assert shelf.hybrid(Adaptive()).search(SearchQuery(asked)).hits[0].doc_path == path


def test_a_name_does_not_pass_a_filter_that_its_note_does_not(shelf: Shelf) -> None:
    _crowded(shelf)
    query = SearchQuery("go", filters=SearchFilters(path=("links/**",)))
    hits = shelf.hybrid(Adaptive()).search(query).hits
    assert "lang/go.md" not in {hit.doc_path for hit in hits}


def test_quotes_and_exclusions_hold_for_names_too(shelf: Shelf) -> None:
    _crowded(shelf)
    for text in ('"go 3 go"', "golang -specification"):
        hits = shelf.hybrid(Adaptive()).search(parse_query(text)).hits
        assert "lang/go.md" not in {hit.doc_path for hit in hits}, text


def test_the_first_hits_of_a_name_do_not_depend_on_k(shelf: Shelf) -> None:
    _crowded(shelf)
    retriever = shelf.hybrid(Adaptive())
    few, many = (retriever.search(SearchQuery("go", k=k)).hits for k in (3, 50))
    assert [hit.chunk_id for hit in few] == [hit.chunk_id for hit in many][:3]
