"""A folder that a query names is found wherever it lies; what a program asks for is taken as it is."""

from __future__ import annotations

import pytest

from kebab.domain.queries import SearchFilters
from kebab.search.learned import Learned
from kebab.search.read import Reader
from kebab.search.searcher import Searcher
from tests.unit.search.conftest import Shelf


@pytest.fixture
def searcher(shelf: Shelf) -> Searcher:
    shelf.add("docs/home/Garden/soil.md", "worms and compost")
    shelf.add("docs/work/garden/plans.md", "worms in the pipeline")
    shelf.add("worms/garden.md", "worms alone")
    reader = Reader(shelf.store, shelf.embeddings, shelf.files)
    return Searcher(retriever=shelf.hybrid(Learned()), reader=reader, policies={})


def found(searcher: Searcher, text: str, filters: SearchFilters | None = None) -> set[str]:
    return {hit.doc_path for hit in searcher.search(text, filters=filters).hits}


@pytest.mark.parametrize("path", ["garden", "Garden", "garden/", '"garden"'])
def test_a_path_that_leads_nowhere_means_the_folders_of_that_name(searcher: Searcher, path: str) -> None:
    assert found(searcher, f"worms path:{path}") == {"docs/home/Garden/soil.md", "docs/work/garden/plans.md"}


def test_more_of_the_path_tells_which_folder_is_meant(searcher: Searcher) -> None:
    assert found(searcher, "worms path:home/garden") == {"docs/home/Garden/soil.md"}


def test_a_path_that_leads_somewhere_is_taken_as_it_is(searcher: Searcher) -> None:
    assert found(searcher, "worms path:worms") == {"worms/garden.md"}


def test_globs_and_what_no_folder_is_called_find_nothing_more(searcher: Searcher) -> None:
    assert found(searcher, "worms path:garden/*") == found(searcher, "worms path:pond") == set()


def test_a_path_from_outside_the_text_is_taken_as_it_is(searcher: Searcher) -> None:
    assert found(searcher, "worms", SearchFilters(path=("garden",))) == set()
