"""What must be told where a question asks for it by its form: a price, a last day, a name."""

from __future__ import annotations

import pytest

from kebab.answer.kinds import Kind, demanded, fits, kind_of, wanted
from kebab.answer.shapes import Shape
from kebab.answer.words import pattern
from tests.fakes import FakeEmbedder
from tests.unit.answer.world import World


@pytest.mark.parametrize(
    ("question", "told", "untold"),
    [
        ("How much does the toothbrush cost?", "You can have it for 18$.", "Change it after 3 months."),
        ("What is the price of guanciale?", "Price: 12 a kilo.", "Take 150 g of guanciale."),
        ("참가 비용은 얼마인가?", "참가비는 3만 원이다.", "참가자는 12명이다."),
        ("When do I have to file my taxes?", "Taxes are due on 31 May.", "The night that you pay the tax."),
        ("By when must I apply?", "Apply within two weeks.", "Apply with this form."),
        ("신청은 언제까지 하나?", "신청은 5월 3일까지 한다.", "신청은 홈페이지에서 한다."),
        ("Who founded the club?", "Ada King founded it.", "Users have found it in the cellar."),
    ],
)
def test_a_passage_of_another_form_does_not_tell_it(question: str, told: str, untold: str) -> None:
    form = demanded(question)
    assert form is not None
    assert form.search(told)
    assert not form.search(untold)


@pytest.mark.parametrize(
    "question", ["How much flour does it take?", "When does the train leave?", "Who is it?"]
)
def test_nothing_is_demanded_of_other_questions(question: str) -> None:
    assert demanded(question) is None


def test_taxes_that_a_page_only_speaks_of_are_no_day_to_file_them() -> None:
    world = World(embedder=FakeEmbedder(64))
    world.add("travel.md", "Taxes for hotels go into a list of their own. File the tax of each night apart.")
    assert not world.ask("When do I have to file my taxes?").grounded


def test_the_number_of_an_account_is_one_private_thing() -> None:
    form = wanted("내 AWS 계정 번호는?")
    assert form is not None
    assert not form.search("하나의 물리적 키로 여러 계정을 한번에 등록한다.")


def test_a_version_is_no_date() -> None:
    assert not pattern("given.date").search("Pre-v1.0.0 versions use another structure; 1.0 is older.")
    assert pattern("given.date").search("12:30")
    assert pattern("given.date").search("24.3. in London")


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How hot must the milk be?", Kind.NUMBER),
        ("How thin is the beef cut?", Kind.NUMBER),
        ("How do I cut it?", Kind.HOW),
        ("By when do I have to take it?", Kind.WHEN),
        ("쌀과 물의 비율은?", Kind.NUMBER),
    ],
)
def test_the_kind_of_a_question(question: str, kind: Kind) -> None:
    assert kind_of(question) is kind


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many eggs go into it?", "Eggs: 5"),
        ("How hot must the milk be?", "bring the milk to 45°C"),
        ("How thin is the beef cut?", 'Slice it into ¼" strips'),
    ],
)
def test_a_number_is_of_the_kind_asked_for_in_its_unit(question: str, text: str) -> None:
    assert fits(Kind.NUMBER, Shape.ITEM, text, question) == 1.0


@pytest.mark.parametrize(
    "question", ["I forgot my password", "lost credit card number", "비밀번호를 잊어버린 비밀번호"]
)
def test_who_has_lost_a_secret_does_not_ask_what_it_is(question: str) -> None:
    assert wanted(question) is None
