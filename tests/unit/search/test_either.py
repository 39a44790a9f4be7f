from __future__ import annotations

from dataclasses import replace

import pytest

from kebab.domain.queries import SearchMode
from kebab.search.parse import parse_query
from tests.unit.search.conftest import Shelf


@pytest.fixture
def towns(shelf: Shelf) -> Shelf:
    shelf.add("york.md", "new york has a harbour")
    shelf.add("boston.md", "boston has a harbour")
    shelf.add("other.md", "york is not new and has a harbour 2024")
    return shelf


def paths(shelf: Shelf, text: str, mode: SearchMode = SearchMode.HYBRID) -> set[str]:
    return {hit.doc_path for hit in shelf.hybrid().search(replace(parse_query(text), mode=mode)).hits}


@pytest.mark.parametrize("mode", SearchMode)
def test_every_hit_holds_one_of_the_alternatives(towns: Shelf, mode: SearchMode) -> None:
    assert paths(towns, 'harbour "new york" OR boston', mode) == {"york.md", "boston.md"}
    assert paths(towns, '"new york" OR "not new"', mode) == {"york.md", "other.md"}


def test_alternatives_and_patterns_both_bind(towns: Shelf) -> None:
    assert paths(towns, r'"not new" OR boston /\d+/') == {"other.md"}


def test_where_no_alternative_stands_nothing_is_found(towns: Shelf) -> None:
    assert paths(towns, 'harbour "old york" OR "las vegas"') == set()


@pytest.mark.parametrize("mode", SearchMode)
def test_a_beginning_alone_finds_what_holds_a_word_that_begins_so(towns: Shelf, mode: SearchMode) -> None:
    assert paths(towns, "bost*", mode) == {"boston.md"}
    assert paths(towns, "zzz*", mode) == set()
    assert "boston.md" in paths(towns, "bost* harbour", mode)
