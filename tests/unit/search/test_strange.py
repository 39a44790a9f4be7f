"""What nobody ever wrote and no vocabulary knows is found by chance alone, and a search says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kebab.domain.fusion import Ranked
from kebab.domain.queries import SearchFilters, SearchQuery
from kebab.search.analyze import Analyzer
from kebab.search.fusion import QueryEvidence
from kebab.search.learned import Learned
from kebab.search.likelihood import ANY_MODEL, OWN_MODEL, WEAK, WRITTEN
from tests.fakes import FakeVocabulary
from tests.unit.search.conftest import Shelf

MADE_UP = {"lexical": [], "vector": [Ranked("a", 0.44), Ranked("b", 0.3)]}
"""As near as two or three made-up words come to some text of a few hundred notes."""


def test_made_up_words_are_weak_however_near_chance_brings_them() -> None:
    known = QueryEvidence()
    strange = replace(known, known=False)
    assert OWN_MODEL.of(MADE_UP, strange) < WEAK < OWN_MODEL.of(MADE_UP, known)


def test_strange_words_that_a_model_places_near_are_not_weak() -> None:
    near = {"lexical": [], "vector": [Ranked("a", 0.65), Ranked("b", 0.3)]}
    assert OWN_MODEL.of(near, QueryEvidence(known=False)) > WEAK


def test_of_another_model_nobody_knows_what_it_reads() -> None:
    known = QueryEvidence()
    assert ANY_MODEL.of(MADE_UP, replace(known, known=False)) == ANY_MODEL.of(MADE_UP, known)


@pytest.fixture
def shelf() -> Shelf:
    shelf = Shelf(vocabulary=FakeVocabulary("river", "수면"))
    shelf.add("a.md", "alpha beta")
    shelf.add("b.md", "gamma delta")
    return shelf


def evidence(shelf: Shelf, text: str, **options: object) -> QueryEvidence:
    query = SearchQuery(text, **options)  # type: ignore[arg-type]
    return shelf.hybrid(Learned()).before_fusion(query)[1]


def known(shelf: Shelf, text: str, **options: object) -> bool:
    return evidence(shelf, text, **options).known


@pytest.mark.parametrize(
    ("text", "is_known"),
    [
        ("zorvex mulkan", False),
        ("zorvex rivers", True),
        ("zorvex alpha", True),
        ("붤랙쿤", False),
        ("수면을", True),
    ],
)
def test_a_query_is_known_by_one_word_of_the_texts_or_of_the_vocabulary(
    shelf: Shelf, text: str, is_known: bool
) -> None:
    assert known(shelf, text) is is_known


def test_a_word_that_stands_only_where_a_filter_forbids_to_look_is_known(shelf: Shelf) -> None:
    assert known(shelf, "gamma", filters=SearchFilters(path=("a.md",)))


def test_what_was_quoted_and_found_fits(shelf: Shelf) -> None:
    shelf.add("c.md", "much else, and deliberate practice in it")
    quoted = {"phrases": ("deliberate practice",)}
    assert evidence(shelf, "deliberate practice habit", **quoted).written
    assert not evidence(shelf, "deliberate practice habit").written
    assert not evidence(shelf, "alpha delta", phrases=("alpha delta",)).written


def test_without_a_vocabulary_every_query_is_of_words() -> None:
    shelf = Shelf()
    shelf.add("a.md", "alpha beta")
    assert known(shelf, "zorvex mulkan")


FAR_OFF = {"lexical": [Ranked("a", 9.0), Ranked("b", 8.9)], "vector": [Ranked("c", 0.07), Ranked("d", 0.06)]}
"""What an English word gets that stands in some Korean notes: nothing is near, and no text stands out."""


def test_one_word_that_stands_as_it_was_typed_is_not_weak() -> None:
    held = QueryEvidence(coverage=1.0, terms=1)
    assert OWN_MODEL.of(FAR_OFF, held) < WEAK
    assert OWN_MODEL.of(FAR_OFF, replace(held, written=True)) == WRITTEN


@pytest.mark.parametrize(
    ("text", "is_written"),
    [("Alpha", True), ("수면", True), ("alpha beta", False), ("zorvex", False), ("a", False)],
)
def test_a_single_word_is_written_where_a_text_holds_it(text: str, is_written: bool) -> None:
    shelf = Shelf(analyzer=Analyzer())
    shelf.add("a.md", "alpha beta a")
    shelf.add("잠.md", "수면을 돕는 것", lang="ko")
    assert evidence(shelf, text).written is is_written


def test_a_word_that_took_the_place_of_a_typo_was_not_typed() -> None:
    shelf = Shelf(analyzer=Analyzer())
    shelf.add("a.md", "digest of the week")
    assert not evidence(shelf, "digest", corrected=True).written
