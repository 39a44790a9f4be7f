"""What everything that finds patterns promises."""

from __future__ import annotations

import pytest

from kebab.adapters.re2_patterns import Re2PatternMatcher
from kebab.errors import InvalidInput
from kebab.ports import PatternMatcher
from tests.fakes import FakePatternMatcher
from tests.growth import seconds

QUICK = 0.01
FACTOR = 9.0
"""Four times the text may take this many times as long: 4 is linear, 16 the square."""


@pytest.fixture(params=[FakePatternMatcher, Re2PatternMatcher])
def matcher(request: pytest.FixtureRequest) -> PatternMatcher:
    made: PatternMatcher = request.param()
    return made


def test_a_pattern_holds_where_it_matches_somewhere(matcher: PatternMatcher) -> None:
    texts = ["polarization", "Polarisation", "polars", ""]
    assert matcher.holds("polari[sz]ation", texts) == [True, True, False, False]
    assert matcher.holds("x", []) == []


def test_ends_of_lines_are_ends(matcher: PatternMatcher) -> None:
    assert matcher.holds("^b$", ["a\nb\nc", "ab", "b"]) == [True, False, True]


def test_matches_are_counted_in_characters(matcher: PatternMatcher) -> None:
    assert matcher.spans(r"한\w", "가한글 그리고 한국 e\u0301 한") == [(1, 3), (8, 10)]


def test_groups_are_part_of_the_match_and_empty_matches_are_none(matcher: PatternMatcher) -> None:
    assert matcher.spans("(a)(b)?|x*", "xab A yxx") == [(0, 1), (1, 3), (4, 5), (7, 9)]


@pytest.mark.parametrize("pattern", ["(", "a{2", "[z-a]", r"(?P<n>a", "*"])
def test_what_is_no_pattern_is_an_error_that_names_it(matcher: PatternMatcher, pattern: str) -> None:
    if pattern == "a{2":
        assert matcher.holds(pattern, ["aa{2"]) == [True]
        return
    with pytest.raises(InvalidInput, match="is no pattern"):
        matcher.holds(pattern, [""])
    with pytest.raises(InvalidInput, match="is no pattern"):
        matcher.spans(pattern, "")


HOSTILE = ["(a*)*b", "(a+)+$", "(a|aa)+b", "(.*)*x", "(a?){50}a{50}", "((a{0,9}){0,9}){0,9}c", "(x+x+)+y"]


@pytest.mark.parametrize("pattern", HOSTILE)
@pytest.mark.parametrize("letters", ["a", "x", "ax "])
def test_the_time_grows_with_the_text_alone(pattern: str, letters: str) -> None:
    real = Re2PatternMatcher()

    def look(size: int) -> object:
        text = letters * size
        return real.holds(pattern, [text]), real.spans(pattern, text)

    look(10)
    short, long = (seconds(lambda size=size: look(size), times=3) for size in (20_000, 80_000))  # type: ignore[misc]
    assert long < QUICK or long < FACTOR * short


@pytest.mark.parametrize("pattern", ["(?=a)", r"(a)\1", "(a{1,1000}){1,1000}", "a" * 1001])
def test_what_cannot_be_looked_for_safely_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidInput):
        Re2PatternMatcher().holds(pattern, [""])
