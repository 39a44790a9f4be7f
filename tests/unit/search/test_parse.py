from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.documents import TrustLevel
from kebab.domain.queries import SearchFilters, SearchQuery
from kebab.search.parse import parse_query


def test_phrases_are_required_and_stay_part_of_the_text() -> None:
    query = parse_query('rust "memory safety" rules')
    assert query.phrases == ("memory safety",)
    assert query.text == "rust rules memory safety"


def test_a_dash_before_a_word_excludes_it() -> None:
    query = parse_query("apple -pie -타르트")
    assert (query.text, query.excluded) == ("apple", ("pie", "타르트"))


def test_a_dash_before_quotes_excludes_the_phrase() -> None:
    query = parse_query('rust -"memory safety" -"5 apples" -"" "borrow checker"')
    assert (query.text, query.phrases) == ("rust borrow checker", ("borrow checker",))
    assert query.excluded == ("memory safety", "5 apples")


def test_the_value_of_a_field_may_stand_in_quotes() -> None:
    query = parse_query('rust tag:"deep work" path:"내 노트/**" trust:"primary" error:"not found"')
    expected = SearchFilters(tag=("deep work",), path=("내 노트/**",), trust_min=TrustLevel.PRIMARY)
    assert query.filters == expected
    assert (query.text, query.phrases) == ("rust error: not found", ("not found",))


def test_a_time_filters_in_utc_and_what_is_no_time_is_text() -> None:
    query = parse_query("notes after:2026-02-28T09:00:00+09:00")
    assert query.filters.ingested_after == "2026-02-28T00:00:00Z"
    for text in ("a walk after:lunch", "after:0001-01-01T00:00+14:00"):
        query = parse_query(text)
        assert (query.text, query.filters) == (text, SearchFilters())


def test_numbers_flags_and_hyphens_are_text_and_exclude_nothing() -> None:
    query = parse_query("a-b -5 --help - e-mail rebase -i main")
    assert query.excluded == ()
    assert query.text == "a-b -5 --help - e-mail rebase -i main"


@pytest.mark.parametrize(
    "text",
    [
        'Traceback (most recent call last):\n  File "/srv/app.py", line 3\nKeyError: -x lang:ko /a.*b/',
        " ".join(["word"] * 60) + ' "a phrase" -excluded tag:x',
    ],
)
def test_what_was_pasted_is_text_and_asks_for_nothing(text: str) -> None:
    query = parse_query(f"{text}\n", filters=SearchFilters(lang=("en",)))
    assert query == SearchQuery(" ".join(text.split()), filters=SearchFilters(lang=("en",)))


def test_a_line_break_at_the_end_makes_no_pasted_text() -> None:
    assert parse_query('"memory safety"\n').phrases == ("memory safety",)


def test_known_fields_filter_and_unknown_ones_are_text() -> None:
    query = parse_query("rust lang:ko tag:a tag:b path:docs/** trust:secondary http://x.y error:42")
    assert query.filters == SearchFilters(
        lang=("ko",), tag=("a", "b"), path=("docs/**",), trust_min=TrustLevel.SECONDARY
    )
    assert query.text == "rust http://x.y error:42"


def test_fields_add_to_the_filters_given_beside_the_text() -> None:
    query = parse_query("x lang:ko", filters=SearchFilters(lang=("en",), tag=("t",)))
    assert query.filters == SearchFilters(lang=("en", "ko"), tag=("t",))


def test_an_open_quote_is_text() -> None:
    query = parse_query('say "hello')
    assert query.phrases == ()
    assert query.text == 'say "hello'


def test_a_field_inside_a_phrase_is_text() -> None:
    assert parse_query('"lang:ko"').filters == SearchFilters()


def test_decomposed_hangul_meets_composed() -> None:
    assert parse_query(unicodedata.normalize("NFD", "소유권")).text == "소유권"


@given(st.text(st.characters()))
def test_every_string_parses_into_text_that_can_be_written(text: str) -> None:
    query = parse_query(text)
    for part in (query.text, *query.phrases, *query.excluded, *query.filters.tag, *query.filters.path):
        part.encode()


def test_a_lone_surrogate_is_replaced() -> None:
    assert parse_query("a\udcff seat").text == "a? seat"


def test_or_is_no_word_and_not_excludes() -> None:
    assert parse_query("react OR vue").text == "react vue"
    assert parse_query("this or that OR").text == "this or that OR"
    query = parse_query('garden NOT soil NOT "two words"')
    assert (query.text, set(query.excluded)) == ("garden", {"soil", "two words"})


def test_a_star_at_the_end_of_a_word_stands_for_what_begins_so() -> None:
    query = parse_query("gard* a* **bold** 2*3")
    assert query.prefixes == ("gard",)
    assert query.text == "gard a* **bold** 2*3"


@pytest.mark.parametrize(
    ("text", "first", "behind"),
    [
        ("after:2024", "2024-01-01", None),
        ("before:2024-03", None, "2024-03-01"),
        ("on:2024-12", "2024-12-01", "2025-01-01"),
        ("on:2024-2-29", "2024-02-29", "2024-03-01"),
        ("on:2024", "2024-01-01", "2025-01-01"),
    ],
)
def test_dates_of_notes_are_days_months_or_years(text: str, first: str | None, behind: str | None) -> None:
    query = parse_query(f"walk {text}")
    assert (query.text, query.filters.dated_from, query.filters.dated_before) == ("walk", first, behind)


@pytest.mark.parametrize("text", ["on:fire", "before:lunch", "on:2023-02-29", "on:2024-13", "dated_from:x"])
def test_what_only_looks_like_a_date_is_text(text: str) -> None:
    query = parse_query(text)
    assert (query.text, bool(query.filters)) == (text, False)


def test_title_and_file_are_filters() -> None:
    query = parse_query('title:"a tour" file:*.md go')
    assert (query.filters.title, query.filters.file, query.text) == (("a tour",), ("*.md",), "go")


def test_what_stands_between_slashes_is_a_pattern() -> None:
    query = parse_query(r"weather /\d{4}-\d\d/ report /a\/b c/")
    assert query.patterns == (r"\d{4}-\d\d", "a/b c")
    assert query.text == "weather report"


@pytest.mark.parametrize(
    "text", ["/usr/bin/", "ls /tmp and /", "1/2 / 3/4", "and/or", "/ a/", "/a /", "see /etc", '"/a/"', "x/a/"]
)
def test_paths_and_single_slashes_are_text(text: str) -> None:
    assert parse_query(text).patterns == ()


def test_a_pattern_is_text_where_none_is_asked_for() -> None:
    query = parse_query("what is /etc/ for", patterns=False)
    assert (query.text, query.patterns) == ("what is /etc/ for", ())


def test_a_phrase_among_alternatives_is_one_of_them() -> None:
    query = parse_query('soil "new york" OR boston OR "las vegas" maps')
    assert query.either == (("new york", "boston", "las vegas"),)
    assert (query.phrases, set(query.text.split())) == (
        (),
        {"soil", "maps", "new", "york", "boston", "las", "vegas"},
    )


@pytest.mark.parametrize("text", ["vim OR emacs", 'tag:a OR "b c"', '-a OR "b c"', 'OR "b c"', '"b c" OR'])
def test_words_alone_filters_and_exclusions_make_no_group(text: str) -> None:
    assert parse_query(text).either == ()


def test_or_between_filters_is_no_word() -> None:
    query = parse_query("tag:a OR tag:b")
    assert (query.text, query.filters.tag) == ("", ("a", "b"))
    assert parse_query("tag:a OR vim").text == "OR vim"
