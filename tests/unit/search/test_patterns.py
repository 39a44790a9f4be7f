from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from kebab.domain.hits import ScoreKind
from kebab.domain.queries import SearchFilters, SearchMode
from kebab.errors import InvalidInput
from kebab.search.parse import parse_query
from kebab.search.patterns import PatternScanner
from tests.fakes import FakePatternMatcher
from tests.unit.search.conftest import Shelf


@pytest.fixture
def fruit(shelf: Shelf) -> Shelf:
    shelf.add("b.md", "pear 2024-05-01", "plum without a day")
    shelf.add("a.md", "apple of 2023-11-30", "pear of 2024-06-02")
    shelf.add("c.md", "pear and nothing else")
    return shelf


def paths(shelf: Shelf, text: str, **changes: object) -> list[str]:
    query = replace(parse_query(text), **changes)  # type: ignore[arg-type]
    return [hit.doc_path for hit in shelf.hybrid().search(query).hits]


def test_a_pattern_alone_lists_what_it_matches_by_path(fruit: Shelf) -> None:
    assert paths(fruit, r"/\d{4}-\d\d/") == ["a.md", "a.md", "b.md"]
    assert paths(fruit, r"/\d{4}-\d\d/", by_document=True) == ["a.md", "b.md"]


@pytest.mark.parametrize("mode", SearchMode)
def test_words_rank_and_the_pattern_keeps_what_it_matches(fruit: Shelf, mode: SearchMode) -> None:
    found = fruit.hybrid().search(replace(parse_query(r"pear /\d{4}-\d\d/"), mode=mode)).hits
    assert {hit.doc_path for hit in found} <= {"a.md", "b.md"}
    assert found[0].snippet.text.startswith("pear")


def test_the_match_is_marked(fruit: Shelf) -> None:
    found = fruit.hybrid().search(parse_query("/pl[ua]m/")).hits
    assert [hit.snippet.text[a:b] for hit in found for a, b in hit.snippet.marks] == ["plum"]
    assert {hit.score_kind for hit in found} == {ScoreKind.LISTED}


def test_every_pattern_must_match_the_same_lines(fruit: Shelf) -> None:
    assert paths(fruit, "/apple/ /2023/") == ["a.md"]
    assert paths(fruit, "/apple/ /2024/") == []


def test_filters_say_which_documents_are_looked_through(fruit: Shelf) -> None:
    assert paths(fruit, "/pear/ path:c.md") == ["c.md"]


def test_what_is_no_pattern_is_an_error(fruit: Shelf) -> None:
    with pytest.raises(InvalidInput):
        fruit.hybrid().search(parse_query("/(/"))


def ticking(step: float) -> Callable[[], float]:
    ticks = iter(range(1000))
    return lambda: next(ticks) * step


def test_when_the_time_is_over_the_response_says_how_far_it_came(shelf: Shelf) -> None:
    for number in range(100):
        shelf.add(f"{number:03}.md", "pear")
    scanner = PatternScanner(shelf.store, FakePatternMatcher(), patience_s=1, clock=ticking(2))
    scan = scanner.scan(["pear"], SearchFilters())
    assert (len(scan.chunks), scan.looked_at, scan.documents) == (1, 1, 100)
    assert "1 of 100" in scan.degraded()[0].message
    retriever = replace(shelf.hybrid(), scanner=replace(scanner, clock=ticking(2)))
    assert retriever.search(parse_query("/pear/")).degraded == scan.degraded()


class Slow(FakePatternMatcher):
    """Takes a second for every thousand letters, on a clock of its own."""

    def __init__(self) -> None:
        self.now = 0.0

    def holds(self, pattern: str, texts: Sequence[str]) -> list[bool]:
        self.now += sum(map(len, texts)) / 1000
        return super().holds(pattern, texts)


def test_a_long_text_is_left_in_the_middle_when_a_slow_pattern_takes_too_long(shelf: Shelf) -> None:
    shelf.add("a.md", *(f"pear {number} {'plum ' * 100}" for number in range(200)))
    matcher = Slow()
    scan = PatternScanner(shelf.store, matcher, patience_s=10, clock=lambda: matcher.now).scan(
        ["pear"], SearchFilters()
    )
    assert matcher.now < 12
    assert 5 < len(scan.chunks) < 200
    assert "0 of 1 documents" in scan.degraded()[0].message
