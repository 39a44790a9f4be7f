"""Words of one meaning: listed by hand, borrowed by sound, or parts of the name of a setting."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.answer.alike import groups_of, in_other_words, translations_of
from kebab.answer.meeting import WordSpace, meter, words_of
from kebab.answer.question import read_question
from kebab.domain.loanwords import sounds
from tests.unit.answer.world import ANALYZER


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("스냅샷", "snapshot"),
        ("스냅샷", "snapshots"),
        ("유튜브", "YouTube"),
        ("플러그인", "plugin"),
        ("템플릿", "template"),
        ("네임스페이스", "namespace"),
        ("컨테이너", "container"),
        ("로그인", "login"),
        ("캔버스", "canvas"),
        ("라즈베리", "raspberry"),
        ("디렉터리", "directory"),
    ],
)
def test_a_borrowed_word_sounds_like_its_origin(korean: str, english: str) -> None:
    assert sounds(korean) & sounds(english)


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("스냅샷", "template"),
        ("컨테이너", "canvas"),
        ("테마", "time"),
        ("강아지", "container"),
        ("서류", "server"),
    ],
)
def test_other_words_sound_otherwise_or_are_too_short_to_tell(korean: str, english: str) -> None:
    assert not sounds(korean) & sounds(english)


@given(st.text(max_size=40))
def test_any_text_has_a_sound_or_none(text: str) -> None:
    assert all(len(each) >= 3 for each in sounds(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("deleted", "삭제된"),
        ("renewal", "연장"),
        ("storing", "보관"),
        ("stopped", "종료"),
        ("expires", "만료일"),
    ],
)
def test_words_of_one_line_share_a_group_in_any_form(one: str, other: str) -> None:
    assert groups_of(one) & groups_of(other)


@pytest.mark.parametrize("word", ["", "grackle", "한라산", "s", "가"])
def test_most_words_are_in_no_group(word: str) -> None:
    assert not groups_of(word)


def test_the_name_of_a_setting_is_also_what_it_is_made_of() -> None:
    assert {"preview.port", "preview", "port"} <= words_of("preview.port")
    assert {"assets", "include"} <= words_of("assetsInclude")
    assert words_of("preview.port", parts=False) == {"preview.port"}


def test_a_question_is_met_by_a_borrowed_word_and_by_a_listed_one_without_any_model() -> None:
    question = read_question("스냅샷은 며칠 보관되나?", ANALYZER)
    weights = dict.fromkeys(question.keywords, 1.0)
    words = words_of("By default, snapshots are kept for 7 days.")
    measure = meter(weights, [words], WordSpace(None))
    assert measure.share(measure.met(frozenset(), words)) == pytest.approx((0.9 + 0.75) / 2)


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("트랜스코딩을", "transcoding"),
        ("양방향", "bidirectional"),
        ("저장소", "repositories"),
        ("연봉", "salary"),
    ],
)
def test_a_translation_is_met_without_any_model(korean: str, english: str) -> None:
    question = read_question(f"{korean} 어떻게 하나요?", ANALYZER)
    weights = dict.fromkeys(question.keywords, 1.0)
    words = words_of(f"It is about {english}.")
    assert meter(weights, [words], WordSpace(None)).met(frozenset(), words).max() == pytest.approx(0.9)


def test_the_dictionary_makes_no_two_words_of_one_language_alike() -> None:
    assert translations_of("repository") & translations_of("repo"), "both stand on one line"
    weights = dict.fromkeys(read_question("the repository", ANALYZER).keywords, 1.0)
    repo = words_of("the repo")
    assert meter(weights, [repo], WordSpace(None)).met(frozenset(), repo).max() < 0.9


def test_a_search_in_other_words_also_looks_for_translations() -> None:
    assert {"trash", "bin"} <= set(in_other_words(["휴지통"]).split())
