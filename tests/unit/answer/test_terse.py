"""Notes of few words: what may be quoted of them, and what stands with it."""

from __future__ import annotations

import pytest

from kebab.answer.admitted import may_answer, says_something
from kebab.answer.kinds import Kind, definition, kind_of
from kebab.answer.measured import title_of
from kebab.answer.meeting import words_of
from kebab.answer.passages import passages
from kebab.answer.question import VERB, read_question
from kebab.answer.select import select
from kebab.answer.shapes import Passage, Shape
from kebab.answer.shown import show
from tests.fakes import FakeEmbedder
from tests.samples import sample
from tests.unit.answer.test_passages import scored
from tests.unit.answer.world import ANALYZER, World


@pytest.mark.parametrize("text", ["계란 6개", "Eggs: 5", "75kg", "물 자주 마시기"])
def test_a_few_letters_say_something(text: str) -> None:
    assert says_something(text)


@pytest.mark.parametrize("text", ["계란", "eggs", "When is it?", "왜 그럴까?"])
def test_a_bare_word_and_a_question_do_not(text: str) -> None:
    assert not says_something(text)


def test_a_statement_before_a_question_is_said() -> None:
    assert says_something("가바, 트립토판이다. 둘 다 아미노산 성분?")


def test_a_heading_with_a_number_may_be_all_there_is() -> None:
    found = [p for p in passages("#### I need 2200~2400 kcal\n\nhalf of it at noon\n") if not p.announced]
    assert [p.text for p in found] == ["I need 2200~2400 kcal"]
    assert may_answer(found[0], Kind.NUMBER)
    assert not may_answer(found[0], Kind.HOW)


def test_what_a_note_is_called_answers_nothing_though_it_holds_a_number() -> None:
    text = "# Half marathon plan, spring 2026\n\nThe race is in April.\n"
    assert [p.text for p in passages(text)] == ["The race is in April."]


def test_a_line_without_an_end_is_the_title_of_the_list_below_it() -> None:
    source = "수면에 좋은 약\n- 가바\n- 트립토판\n"
    assert "수면에 좋은 약 - 가바 - 트립토판" in map(show, passages(source))


def test_a_picture_is_no_title() -> None:
    source = "![soup](/pix/soup.webp)\n- water\n- salt\n"
    assert "water - salt" in map(show, passages(source))
    assert not any(show(p).startswith("-") for p in passages(source))


def test_a_sentence_is_also_quoted_with_the_next_one() -> None:
    source = "A liquid forms on top of the starter. Do not be afraid, it is there to protect it."
    assert source in map(show, passages(source))


def test_a_short_list_answers_as_a_whole_a_long_one_only_where_a_list_is_asked_for() -> None:
    short, long = (Passage("a" * n, 0, 1, Shape.LIST, 0, announced=False) for n in (100, 500))
    assert may_answer(short, Kind.OTHER)
    assert not may_answer(long, Kind.OTHER)
    assert may_answer(long, Kind.LIST)


def test_a_bare_link_answers_only_where_something_stands() -> None:
    link = Passage("[guidance on leave](https://example.org/leave)", 0, 0, Shape.ITEM, 0)
    assert not may_answer(link, Kind.WHEN)
    assert may_answer(link, Kind.WHERE)


def test_a_script_says_not_what_something_is() -> None:
    script = Passage("x", 0, 9, Shape.CODE, 0, code="a\nb\nc\nd\ne\nf")
    assert not may_answer(script, Kind.DEFINITION)
    assert may_answer(script, Kind.HOW)


def test_sentences_with_different_numbers_do_not_repeat_each_other() -> None:
    source = (
        "You can request up to 104 hours of sick leave.\n\nYou can request up to 240 hours of sick leave.\n"
    )
    places = [p.place for p in passages(source)]
    assert len(select([scored(source, place, 9.0 - place / 10) for place in places])) == 2


def test_a_part_of_another_kind_does_not_stand_for_the_whole() -> None:
    source = "Check your profile. Your limit is 40 minutes."
    by_text = {p.text: p.place for p in passages(source)}
    whole = scored(source, by_text[source], 9.0, number=1.0, news=1.0)
    part = scored(source, by_text["Check your profile."], 8.9, news=1.0)
    assert select([whole, part])[0] is whole


@pytest.mark.parametrize("word", ["닦나", "깨졌을", "늦어지면", "사려는"])
def test_a_verb_counts_less_than_a_noun(word: str) -> None:
    found = read_question(f"화면이 {word}?" if word.endswith("나") else f"화면이 {word} 때?", ANALYZER)
    assert {k.text[:1]: k.share for k in found.keywords}[word[0]] == VERB


@pytest.mark.parametrize("word", ["자녀에게", "와이파이", "300만원이면"])
def test_a_noun_that_ends_like_a_verb_is_none(word: str) -> None:
    assert read_question(f"{word} 무엇인가?", ANALYZER).keywords[0].share == 1.0


def test_numbers_of_terse_notes_are_answered() -> None:
    world = World(embedder=FakeEmbedder(64))
    world.add("food.md", "물 자주 마시기\n우유 하루에 하나\n계란 6개\n", lang="ko")
    answer = world.ask("계란은 몇 개?")
    assert answer.claims[0].quotes[0].text == "계란 6개"


def test_an_abbreviation_is_defined_by_the_words_behind_it() -> None:
    assert kind_of("SLO는 무엇의 약자인가?") is Kind.DEFINITION
    assert definition("SLO(Service Level Objective)")[0] == "SLO"
    assert [k.text for k in read_question("SLO는 무엇의 약자인가?", ANALYZER).keywords] == ["SLO"]


def test_the_folder_of_a_note_is_its_subject() -> None:
    stored = sample("Figma/3-interface.md", "- Rulers: `Shift + R`\n").stored()[0]
    assert {"figma", "interface"} <= words_of(title_of(stored))


def test_the_first_item_stands_for_a_list_or_none() -> None:
    source = "- 지식이 담긴 상자\n- 볼트의 범위는 미리 정하는 것이 좋음\n"
    found = passages(source)
    whole = next(p.place for p in found if p.shape is Shape.LIST)
    later = next(p.place for p in found if p.text.startswith("볼트"))
    chosen = select([scored(source, whole, 9.0, news=1.0), scored(source, later, 8.9, news=1.0)])
    assert chosen[0].passage.shape is Shape.LIST


def test_the_unit_that_is_asked_for_is_no_word_of_the_answer() -> None:
    assert [k.text for k in read_question("발효는 몇 도에서 하나?", ANALYZER).keywords] == ["발효"]


@pytest.mark.parametrize("question", ["태스크가 바뀔 때 빈 줄", "문을 열 수 있나"])
def test_what_stands_before_a_moment_or_a_way_is_a_verb(question: str) -> None:
    shares = {keyword.text: keyword.share for keyword in read_question(question, ANALYZER).keywords}
    assert VERB in shares.values()
    assert 1.0 in shares.values()
