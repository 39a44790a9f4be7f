from __future__ import annotations

import base64
import json
import string
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kebab.domain.queries import SearchMode, SearchQuery
from kebab.errors import InvalidInput, KebabError, StaleCursor
from kebab.search.page import DEEPEST_HIT, _seal, make_cursor, read_cursor, within_budget
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


@given(st.text() | st.text(string.ascii_letters + string.digits + "-_=", max_size=300))
def test_no_text_that_is_not_a_cursor_passes_for_one(cursor: str) -> None:
    with pytest.raises(InvalidInput, match="not a cursor"):
        read_cursor(cursor, revision=1, query=QUERY)


@given(st.integers(1, DEEPEST_HIT), st.integers(0, 100), st.characters())
def test_a_cursor_with_one_character_changed_is_refused(offset: int, at: int, character: str) -> None:
    cursor = make_cursor(offset, revision=7, query=QUERY)
    at %= len(cursor)
    changed = cursor[:at] + character + cursor[at + 1 :]
    # The last character of base64 has bits that stand for nothing.
    assume(changed != cursor and at < len(cursor) - 1)

    with pytest.raises(InvalidInput, match="not a cursor"):
        read_cursor(changed, revision=7, query=QUERY)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


@given(JSON | st.sampled_from([None, [], 10**400, 10**9, -1, 0, True, "1", 1.0, DEEPEST_HIT + 1]), JSON)
def test_a_forged_cursor_asks_for_no_more_than_a_page_within_reach(offset: Any, revision: Any) -> None:
    cursor = forged(offset, 7 if revision is None else revision)
    try:
        reached = read_cursor(cursor, revision=7, query=QUERY)
    except KebabError:
        return
    assert 1 <= reached <= DEEPEST_HIT


@pytest.mark.parametrize("offset", [None, [], {}, 10**400, 10**9, -1, 0, True, "1", 1.0, DEEPEST_HIT + 1])
def test_a_forged_offset_out_of_reach_is_refused(offset: Any) -> None:
    with pytest.raises(InvalidInput, match="not a cursor"):
        read_cursor(forged(offset, 7), revision=7, query=QUERY)


def forged(offset: Any, revision: Any) -> str:
    """A cursor whose digest is right, whatever it holds."""
    true = make_cursor(1, revision=7, query=QUERY)
    content = [offset, revision, json.loads(base64.urlsafe_b64decode(true + "=="))[2]]
    payload = json.dumps([*content, _seal(content)])
    return base64.urlsafe_b64encode(payload.encode()).decode().rstrip("=")


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
