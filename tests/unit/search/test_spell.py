"""Typos are forgiven against the words of the corpus itself, and only where nothing else is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.hits import Correction
from kebab.domain.queries import SearchFilters, SearchQuery
from kebab.search.analyze import Analyzer
from kebab.search.fusion import Adaptive
from kebab.search.parse import parse_query
from kebab.search.spell import edit_distance
from tests.fakes import FakeVocabulary
from tests.unit.search.conftest import Shelf

WORDS = st.text("abc", max_size=6)


@pytest.fixture
def garden() -> Shelf:
    shelf = Shelf(analyzer=Analyzer())
    shelf.add("soil.md", "The garden needs compost and water.")
    shelf.add("walls.md", "Walls around the gardens keep the wind out.")
    shelf.add("rust.md", "소유권을 넘기는 규칙과 플러그인 환경")
    return shelf


def _corrected(shelf: Shelf, text: str) -> tuple[Correction, ...]:
    return shelf.hybrid(Adaptive()).search(parse_query(text)).corrections


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("compsot", "compost"),
        ("cmpost", "compost"),
        ("ocmpost", "compost"),
        ("Compst", "compost"),
        ("gardne", "garden"),
        ("소유군", "소유권"),
        ("경환", "환경"),
    ],
)
def test_an_unknown_word_is_replaced_by_the_nearest_known_one(garden: Shelf, typed: str, meant: str) -> None:
    assert _corrected(garden, typed) == (Correction(typed, meant),)


@pytest.mark.parametrize(
    "text",
    [
        "compost",  # known
        "composting",  # another form of a known word
        '"compsot"',  # quoted: that word
        "compsot_id lib/compsot.md v1.compsot",  # parts of identifiers and paths
        "qqqzzzxxx",  # near to nothing
        "COMPST",  # a sign of a trade
        "what does cOMPST stand for",
        "소유권에서",  # a known word with another particle
    ],
)
def test_what_is_known_quoted_or_near_to_nothing_stays(garden: Shelf, text: str) -> None:
    assert _corrected(garden, text) == ()


def test_in_a_query_of_capitals_they_say_nothing(garden: Shelf) -> None:
    assert _corrected(garden, "GARDEN COMPSOT") == (Correction("COMPSOT", "compost"),)


def test_what_was_corrected_is_found(garden: Shelf) -> None:
    found = garden.hybrid(Adaptive()).search(parse_query("compsot"))
    assert found.hits[0].doc_path == "soil.md"


def test_exact_searches_as_typed(garden: Shelf) -> None:
    found = garden.hybrid(Adaptive()).search(SearchQuery("compsot", exact=True))
    assert found.corrections == ()


def test_a_word_is_corrected_to_what_the_filtered_documents_hold_alone(garden: Shelf) -> None:
    query = SearchQuery("compsot", filters=SearchFilters(path=("walls.md",)))
    assert garden.hybrid(Adaptive()).search(query).corrections == ()


def test_the_ranking_that_is_measured_is_the_one_that_is_shown(garden: Shelf) -> None:
    retriever, query = garden.hybrid(Adaptive()), SearchQuery("compsot")
    assert retriever.rank(query)[0].id == retriever.search(query).hits[0].chunk_id


@given(one=WORDS, other=WORDS)
def test_the_distance_is_symmetric_and_zero_for_equals_alone(one: str, other: str) -> None:
    distance = edit_distance(one, other, most=20)
    assert distance == edit_distance(other, one, most=20)
    assert (distance == 0) == (one == other)
    assert abs(len(one) - len(other)) <= distance <= max(len(one), len(other))


@given(one=WORDS, other=WORDS, most=st.integers(0, 3))
def test_a_bound_only_cuts_the_distance(one: str, other: str, most: int) -> None:
    assert edit_distance(one, other, most=most) == min(edit_distance(one, other, most=20), most + 1)


@pytest.mark.parametrize(
    ("one", "other", "distance"), [("ab", "ba", 1), ("abc", "ac", 1), ("abcd", "badc", 2), ("", "ab", 2)]
)
def test_neighbours_that_are_exchanged_are_one_mistake(one: str, other: str, distance: int) -> None:
    assert edit_distance(one, other, most=5) == distance


def test_a_beginning_finds_the_words_that_begin_so_and_is_no_typo(garden: Shelf) -> None:
    found = garden.hybrid(Adaptive()).search(parse_query("comp*"))
    assert (found.corrections, found.hits[0].doc_path) == ((), "soil.md")
    korean = garden.hybrid(Adaptive()).search(parse_query("소유*"))
    assert korean.hits[0].doc_path == "rust.md"


@pytest.fixture
def notes() -> Shelf:
    shelf = Shelf(analyzer=Analyzer())
    shelf.add("cooking.md", "Recipes and cooking at home.")
    shelf.add("coke.md", "Coke is a drink; a cok is nothing.")
    shelf.add("gRPC.md", "Calls over the network, with grpc.")
    shelf.add("2021-april.md", "What was done in April.")
    shelf.add("planets.md", "The orbits of planets around stars.")
    shelf.add("robots.md", "Arms and wheels.")
    shelf.add("모음.md", "할 일의 모음")
    return shelf


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("coking", "cooking.md"),  # its stem is known: coke
        ("gRP", "gRPC.md"),
        ("2021 Apri", "2021-april.md"),
        ("orbots", "robots.md"),  # a near word that is no name: orbits
        ("음모", "모음.md"),
    ],
)
def test_a_name_with_one_wrong_letter_is_that_name(notes: Shelf, typed: str, path: str) -> None:
    found = notes.hybrid(Adaptive()).search(parse_query(typed))
    assert found.hits[0].doc_path == path
    assert len(found.corrections) == 1


@pytest.mark.parametrize(
    "text",
    [
        "coke",  # a word of the notes
        "cooking",  # a name
        "cookings",  # another form of one
        '"coking"',
        "-coking home",
        "what is best about coking in a small kitchen",  # longer than a name
    ],
)
def test_what_is_written_so_or_no_name_at_all_stays(notes: Shelf, text: str) -> None:
    assert _corrected(notes, text) == ()


def test_a_name_is_only_meant_where_it_can_be_seen(notes: Shelf) -> None:
    query = SearchQuery("coking", filters=SearchFilters(path=("coke.md",)))
    assert notes.hybrid(Adaptive()).search(query).corrections == ()


def test_a_word_that_the_notes_lack_is_no_typo(garden: Shelf) -> None:
    garden.add("show.md", "A show of flowers; the ratio 비율을 tells.")
    assert _corrected(garden, "shop") == (Correction("shop", "show"),)
    garden.vocabulary = FakeVocabulary("shop", "배율")
    assert _corrected(garden, "shop") == ()
    assert _corrected(garden, "Shops") == ()
    assert _corrected(garden, "배율을") == ()
    assert _corrected(garden, "compsot") == (Correction("compsot", "compost"),)


def test_a_word_is_not_taken_for_a_name_either(notes: Shelf) -> None:
    notes.vocabulary = FakeVocabulary("coking")
    assert _corrected(notes, "coking") == ()


@pytest.fixture
def patterns() -> Shelf:
    shelf = Shelf(analyzer=Analyzer())
    shelf.add("pattern.md", "디자인 패턴을 설명한다. 디자인과 패턴이 무엇인지, 디자인 패턴의 예")
    shelf.add("more.md", "좋은 디자인 패턴")
    shelf.add("book.md", "객체지향 디자인 패턴 책", "디자인 패턴 목록")
    shelf.add("compound.md", "데이터베이스의 데이터, 데이터베이스와 베이스", "데이터베이스")
    return shelf


def test_korean_words_typed_in_one_are_searched_for_as_texts_write_them(patterns: Shelf) -> None:
    assert _corrected(patterns, "디자인패턴") == (Correction("디자인패턴", "디자인 패턴"),)
    patterns.add("glued.md", "여기서는 디자인패턴 하나만")
    found = patterns.hybrid(Adaptive()).search(parse_query("디자인패턴"))
    assert found.corrections == (Correction("디자인패턴", "디자인 패턴"),)
    assert {hit.doc_path for hit in found.hits[:4]} >= {"pattern.md", "more.md", "book.md"}


@pytest.mark.parametrize("text", ["데이터베이스", "디자인 패턴", "객체지향", '"디자인패턴"', "패턴디자인"])
def test_what_texts_write_in_one_or_nowhere_apart_stays(patterns: Shelf, text: str) -> None:
    assert _corrected(patterns, text) == ()


def test_a_space_is_only_put_where_documents_in_sight_have_it(patterns: Shelf) -> None:
    query = SearchQuery("디자인패턴", filters=SearchFilters(path=("compound.md",)))
    assert patterns.hybrid(Adaptive()).search(query).corrections == ()
