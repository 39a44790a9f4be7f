"""Forms of one Korean verb are one word; words that only look alike are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.answer.stems import stem
from tests.unit.answer.world import World


@pytest.mark.parametrize(
    "forms",
    [
        ("알려야", "알린다", "알리면", "알렸다"),
        ("오르려면", "오를", "오르는"),
        ("바꾸려면", "바꿀", "바꿔야", "바꾼다"),
        ("만들려면", "만드는", "만들기", "만든다"),
        ("끓이면", "끓인다", "끓여서"),
        ("지우려면", "지워야", "지운다"),
    ],
)
def test_forms_of_one_verb_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1
    assert stem(forms[0])


@pytest.mark.parametrize(
    ("one", "other"),
    [("관리", "관련"), ("사용", "사용자"), ("저장", "저장소"), ("지우개", "지우"), ("오류", "오르")],
)
def test_other_words_have_other_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.parametrize("word", ["", "값", "vault", "Rc를", "가" * 50])
def test_what_is_no_korean_word_or_too_short_has_none(word: str) -> None:
    assert stem(word) == ""


@given(st.text(max_size=30))
def test_a_stem_is_a_beginning_of_the_word_but_for_its_last_letter(word: str) -> None:
    import unicodedata

    found = stem(word)
    assert unicodedata.normalize("NFD", word).startswith(found[:-1])


def test_a_question_meets_the_verb_of_its_answer_in_another_form() -> None:
    world = World()
    world.add("제주.md", "진달래밭 대피소를 12시 전에 통과하지 못하면 정상에 오를 수 없다.", lang="ko")
    world.add("빵.md", "반죽은 하루 동안 냉장고에서 쉰다.", lang="ko")
    asked = world.asker().look("정상에 오르려면 언제까지 통과해야 하나?")[1]
    assert asked.features is not None
    assert "오르" not in asked.missing
