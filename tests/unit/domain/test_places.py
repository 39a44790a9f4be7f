"""Places and citations: what is written can be read back, and neighbours are named together or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.citations import CitationKind, cite, parse_citation
from kebab.domain.documents import LineSpan
from kebab.domain.places import (
    Caption,
    Cells,
    CodeUnit,
    Items,
    Page,
    Place,
    Region,
    Slide,
    Time,
    can_join,
    fragment,
    joined,
    parse_place,
    touches,
)

NUMBERS = st.integers(1, 99_999)
SIZES = st.integers(0, 99_999)
NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20)
CELLS = st.builds(
    lambda sheet, left, top, wide, high: Cells(sheet, left, top, left + wide, top + high),
    NAMES,
    NUMBERS,
    NUMBERS,
    st.integers(0, 50),
    st.integers(0, 50),
)
TIMES = st.builds(lambda start, length: Time(start, start + length), SIZES, st.integers(1, 9999))
REGIONS = st.builds(Region, SIZES, SIZES, NUMBERS, NUMBERS, st.integers(0, 3))
ITEMS = st.builds(
    lambda unit, first, more, part: Items(unit, first, first + more, part),
    st.sampled_from(["par", "cell", "item"]),
    NUMBERS,
    st.integers(0, 50),
    st.integers(0, 3),
)
PLACES: st.SearchStrategy[Place] = st.one_of(
    st.builds(Page, NUMBERS), st.builds(Slide, NUMBERS), st.just(Caption()), CELLS, TIMES, REGIONS, ITEMS
)
PATHS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


@given(PLACES)
def test_what_is_written_is_read_back(place: Place) -> None:
    assert parse_place(fragment(place)) == place


@given(PATHS, PLACES)
def test_a_citation_of_a_place_leads_back_to_it(path: str, place: Place) -> None:
    assert parse_citation(cite(path, (LineSpan(1, 2),), place=place).uri) == (path, place)


@given(PATHS, NUMBERS, st.integers(0, 50))
def test_a_citation_of_lines_leads_back_to_them(path: str, start: int, more: int) -> None:
    span = LineSpan(start, start + more)
    assert parse_citation(cite(path, (span,)).uri) == (path, span)
    assert parse_citation(cite(path, (span,), place=CodeUnit("Reader.read")).uri) == (path, span)


@given(PLACES, PLACES)
def test_two_places_together_touch_both(first: Place, second: Place) -> None:
    if can_join(first, second):
        both = joined(first, second)
        assert both is not None
        assert touches(both, first)
        assert touches(both, second)
        assert joined(second, first) == both


@given(PLACES)
def test_a_place_touches_itself(place: Place) -> None:
    assert touches(place, place)
    assert joined(place, place) == place


@pytest.mark.parametrize(
    ("place", "kind", "uri"),
    [
        (None, CitationKind.LINE, "a b.txt#L3-L5"),
        (CodeUnit("f"), CitationKind.CODE, "a b.txt#L3-L5"),
        (Page(7), CitationKind.PAGE, "a b.txt#p=7"),
        (Slide(2), CitationKind.PAGE, "a b.txt#slide=2"),
        (Region(1, 2, 3, 4), CitationKind.REGION, "a b.txt#xywh=1,2,3,4"),
        (Region(1, 2, 3, 4, page=9), CitationKind.REGION, "a b.txt#p=9&xywh=1,2,3,4"),
        (Cells("Plan B", 2, 2, 28, 9), CitationKind.REGION, "a b.txt#cell=Plan%20B!B2:AB9"),
        (Time(62_000, 75_500), CitationKind.TIME, "a b.txt#t=62.000,75.500"),
        (Caption(), CitationKind.CAPTION, "a b.txt#caption"),
        (Items("par", 3, 7), CitationKind.PART, "a b.txt#par=3-7"),
        (Items("cell", 3, 3), CitationKind.PART, "a b.txt#cell=3"),
        (Items("par", 3, 3, part=2), CitationKind.PART, "a b.txt#part=2&par=3"),
    ],
)
def test_each_kind_has_its_form(place: Place | None, kind: CitationKind, uri: str) -> None:
    found = cite("a b.txt", (LineSpan(3, 5),), place=place)
    assert (found.kind, found.uri) == (kind, uri.replace("a b", "a%20b"))


@pytest.mark.parametrize(
    "uri", ["", "#L3", "a.md", "a.md#", "a.md#L", "a.md#p=x", "a.md#t=1,2,3", "a.md#p=3 "]
)
def test_what_is_no_citation_is_refused(uri: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        parse_citation(uri)


@pytest.mark.parametrize(
    ("wanted", "held", "expected"),
    [
        (Page(3), Region(0, 0, 1, 1, page=3), True),
        (Page(3), Region(0, 0, 1, 1, page=4), False),
        (Region(0, 0, 10, 10), Region(9, 9, 5, 5), True),
        (Region(0, 0, 10, 10), Region(10, 0, 5, 5), False),
        (Cells("A", 1, 1, 2, 2), Cells("A", 2, 2, 9, 9), True),
        (Cells("A", 1, 1, 2, 2), Cells("B", 1, 1, 2, 2), False),
        (Time(10, 20), Time(20, 30), False),
        (Time(15, 15), Time(10, 20), True),
        (Slide(1), Page(1), False),
        (Items("par", 3, 7), Items("par", 7, 9), True),
        (Items("par", 3, 7), Items("par", 8, 9), False),
        (Items("par", 3, 7), Items("cell", 3, 7), False),
        (Items("par", 3, 7, part=1), Items("par", 3, 7, part=2), False),
    ],
)
def test_what_belongs_to_a_cited_place(wanted: Place, held: Place, expected: bool) -> None:
    assert touches(wanted, held) is expected
