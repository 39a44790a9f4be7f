from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.hits import Snippet
from kebab.search.snippet import cut, readable_cut, shorten
from tests.fakes import FakeAnalyzer


def snippet(text: str, *terms: str, length: int = 60) -> Snippet:
    return cut(text, FakeAnalyzer().matches(text, terms) if terms else [], length)


def marked(found: Snippet) -> list[str]:
    return [found.text[a:b] for a, b in found.marks]


def test_a_short_text_is_shown_whole_with_its_words_marked() -> None:
    found = snippet("Red apples and green Apples", "apples")
    assert found.text == "Red apples and green Apples"
    assert marked(found) == ["apples", "Apples"]


def test_the_window_lies_where_most_different_words_stand() -> None:
    text = "apple " + "filler " * 40 + "the apple and the pear together " + "filler " * 40
    found = snippet(text, "apple", "pear")
    assert set(marked(found)) == {"apple", "pear"}
    assert found.text.startswith("…")
    assert found.text.endswith("…")


def test_without_a_match_it_is_the_beginning() -> None:
    found = snippet("word " * 50, "absent")
    assert found.text.startswith("word word")
    assert found.marks == ()


def test_shortening_drops_the_marks_that_no_longer_fit() -> None:
    found = shorten(snippet("apple and pear", "apple", "pear"), 9)
    assert found == Snippet("apple and…", ((0, 5),))


@given(st.text(), st.lists(st.text("abc", min_size=1, max_size=2), max_size=3), st.integers(1, 80))
def test_marks_always_lie_inside_the_snippet(text: str, terms: list[str], length: int) -> None:
    found = snippet(text, *terms, length=length)
    assert all(0 <= a < b <= len(found.text) for a, b in found.marks)
    assert len(found.text) <= length + 2


def read(text: str, *terms: str, length: int = 60, heading: str = "") -> Snippet:
    ranges = FakeAnalyzer().matches(text, terms) if terms else []
    return readable_cut(text, ranges, length, heading=heading)


LINKS = "".join(f"- [Page {n}](https://example.org/a/long/way/to/page/number/{n})\n" for n in range(20))


def test_for_the_eye_markup_takes_no_room() -> None:
    found = read(LINKS + "- [A pear](https://example.org/fruit) is sweet\n" + LINKS, "pear")
    assert "A pear is sweet" in found.text
    assert marked(found) == ["pear"]
    assert "https" not in found.text


def test_what_was_matched_is_shown_also_where_it_stands_in_markup_alone() -> None:
    found = read("a [link](https://example.org/pear) to fruit", "pear")
    assert marked(found) == ["pear"]


def test_the_heading_above_is_not_said_twice() -> None:
    assert read("## Fruit\nA pear is sweet", "pear", heading="Fruit").text == "A pear is sweet"
    assert read("## Pear\nIt is sweet", "pear", heading="Pear").text == "Pear\nIt is sweet"


def test_of_a_table_of_contents_nothing_is_shown() -> None:
    assert read("* TOC\n{:toc}\n") == Snippet("")


@given(st.text("pear []()#*\n`|-", max_size=200), st.integers(5, 60))
def test_for_the_eye_something_matched_is_always_marked(text: str, length: int) -> None:
    found = read(text, "pear", length=length)
    exact = snippet(text, "pear", length=length)
    assert bool(found.marks) >= bool(exact.marks)
    assert all(found.text[a:b].lower() in "pear" for a, b in found.marks)
