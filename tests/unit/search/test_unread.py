"""A filter that nothing passes says what there is, in every mode and to every driver."""

from __future__ import annotations

import pytest

from kebab.domain.documents import Metadata
from kebab.domain.queries import SearchFilters
from kebab.search.parse import parse_query
from kebab.search.unread import MOST_VALUES, unread
from tests.unit.search.conftest import Shelf


@pytest.fixture
def notes(shelf: Shelf) -> Shelf:
    shelf.add("work/2024-03-01.md", "plans", metadata=Metadata(tags=("project/active",)))
    shelf.add("work/2024-05-09.md", "plans again", metadata=Metadata(tags=("project/active", "Idea")))
    shelf.add("home/garden/soil.md", "worms", lang="ko")
    return shelf


def said(shelf: Shelf, text: str) -> list[tuple[str, str | None]]:
    return [(note.message, note.hint) for note in shelf.hybrid().search(parse_query(text)).degraded]


def test_an_unknown_value_lists_what_there_is_the_most_frequent_first(notes: Shelf) -> None:
    expected = ("no document has the tag nope", "there are: project/active, Idea")
    assert said(notes, "plans tag:nope") == [expected]
    assert said(notes, "tag:nope") == [expected]
    assert said(notes, "plans lang:xx") == [("no document has the language xx", "there are: en, ko")]


def test_a_path_names_the_folders_that_are_called_so(notes: Shelf) -> None:
    assert said(notes, "worms path:garden") == [("no document has the path garden", "there are: home/garden")]
    assert said(notes, "worms path:nope/**") == [
        ("no document has the path nope/**", "there are: work, home")
    ]


def test_days_say_from_when_to_when_there_are_notes(notes: Shelf) -> None:
    (message, hint), *_ = said(notes, "plans before:1999")
    assert message == "no document is of a day before 1999-01-01"
    assert hint is not None
    assert hint.startswith("days go from 2024-03-01 to ")


def test_titles_are_too_many_to_list(notes: Shelf) -> None:
    assert said(notes, "plans title:nope") == [("no document has a title with nope", None)]


def test_filters_that_only_miss_each_other_are_not_unknown(notes: Shelf) -> None:
    assert said(notes, "lang:ko tag:idea") == []


def test_only_so_many_values_are_named(shelf: Shelf) -> None:
    for number in range(MOST_VALUES + 5):
        shelf.add(f"{number}.md", "x", metadata=Metadata(tags=(f"t{number}",)))
    hint = unread(SearchFilters(tag=("nope",)), shelf.store)[0].hint
    assert hint is not None
    assert hint.count(",") == MOST_VALUES
    assert hint.endswith("…")


def test_what_only_looks_like_a_filter_is_text_and_the_response_says_so(notes: Shelf) -> None:
    written = "a date is written 2024-12-24, 2024-12 or 2024"
    assert said(notes, "plans after:2024-13-45") == [("after:2024-13-45 was searched for as text", written)]
    levels = "there are: generated, secondary, primary"
    assert said(notes, "plans trust:foo") == [("trust:foo was searched for as text", levels)]


@pytest.mark.parametrize(
    "text", ["plans after:lunch", "plans see:this", "plans trust:primary", "plans on:off"]
)
def test_words_with_a_colon_are_text_without_a_note(text: str) -> None:
    assert parse_query(text).misread == ()
