from __future__ import annotations

from dataclasses import replace

import pytest

from kebab.domain.queries import SearchMode, SearchQuery
from kebab.errors import InvalidInput, StaleCursor
from kebab.search.page import make_cursor, read_cursor, within_budget
from tests.unit.search.conftest import Shelf

QUERY = SearchQuery("alpha")


def test_a_cursor_gives_back_its_offset() -> None:
    assert read_cursor(make_cursor(20, revision=7, query=QUERY), revision=7, query=QUERY) == 20


def test_a_changed_corpus_makes_a_cursor_stale() -> None:
    with pytest.raises(StaleCursor):
        read_cursor(make_cursor(20, revision=7, query=QUERY), revision=8, query=QUERY)


@pytest.mark.parametrize("cursor", ["", "x", "!!!!", "e30", "WzFd", "äöü"])
def test_anything_else_is_not_a_cursor(cursor: str) -> None:
    with pytest.raises(InvalidInput):
        read_cursor(cursor, revision=1, query=QUERY)


def test_a_cursor_of_another_query_is_refused() -> None:
    cursor = make_cursor(20, revision=7, query=QUERY)
    with pytest.raises(InvalidInput, match="another query"):
        read_cursor(cursor, revision=7, query=replace(QUERY, text="beta"))


def test_a_cursor_of_another_fusion_is_refused_where_something_is_fused() -> None:
    cursor = make_cursor(20, revision=7, query=QUERY, fusion="rrf")
    with pytest.raises(InvalidInput, match="another query"):
        read_cursor(cursor, revision=7, query=QUERY, fusion="convex")
    alone = replace(QUERY, mode=SearchMode.LEXICAL)
    cursor = make_cursor(20, revision=7, query=alone, fusion="rrf")
    assert read_cursor(cursor, revision=7, query=alone, fusion="convex") == 20


def test_a_budget_shortens_snippets_first_then_drops_hits_and_keeps_one(shelf: Shelf) -> None:
    shelf.add("a.md", *(f"alpha {'word ' * 80} number{n}" for n in range(6)))
    hits = shelf.hybrid().search(SearchQuery("alpha", k=6)).hits
    assert within_budget(hits, None) == (hits, False)
    assert within_budget(hits, 10_000) == (hits, False)
    shorter, cut = within_budget(hits, 500)
    assert cut
    assert len(shorter) == 6
    assert max(len(h.snippet.text) for h in shorter) < max(len(h.snippet.text) for h in hits)
    fewer, cut = within_budget(hits, 200)
    assert cut
    assert 1 <= len(fewer) < 6
    assert len(within_budget(hits, 1)[0]) == 1
