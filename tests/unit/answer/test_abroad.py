"""Korean questions about English pages: in which words they are searched."""

from __future__ import annotations

import pytest

from kebab.answer.abroad import abroad
from kebab.answer.question import read_question
from tests.unit.answer.world import ANALYZER, World


@pytest.fixture
def world() -> World:
    world = World()
    world.add("squat.md", "10x goblet squat with 20kg, then the matrix of the week.")
    world.add("jj.md", "Submodules will not show up in the repository.")
    return world


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("고블릿 스쿼트는 몇 kg?", {"goblet", "squat"}),
        ("저장소에서 서브모듈을 지원하나요?", {"submodules", "repository", "support"}),
        ("Git 버전은?", {"git", "version"}),
    ],
)
def test_it_is_searched_by_translations_borrowed_words_and_names(
    world: World, question: str, words: set[str]
) -> None:
    assert words <= set(abroad(read_question(question, ANALYZER), world.lexical).split())


def test_a_noun_without_a_counterpart_is_not_left_out(world: World) -> None:
    assert abroad(read_question("꿹뚫 저장소는?", ANALYZER), world.lexical) == ""


def test_a_word_made_of_two_is_searched_by_both(world: World) -> None:
    found = abroad(read_question("휴가신청 방법은?", ANALYZER), world.lexical).split()
    assert {"leave", "application"} <= set(found)


def test_one_unknown_noun_of_three_does_not_keep_a_question_from_being_searched(world: World) -> None:
    found = abroad(read_question("꿹뚫 저장소의 크기는?", ANALYZER), world.lexical).split()
    assert {"repository", "size"} <= set(found)


def test_a_korean_question_finds_the_english_page_by_its_words(world: World) -> None:
    answer = world.ask("고블릿 스쿼트는 몇 kg?")
    assert [quote.citation.path for quote in answer.citations] == ["squat.md"]
