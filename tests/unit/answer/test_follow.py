"""Follow-up questions without a model: what is carried over, and what is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.answer.follow import stand_alone
from kebab.answer.question import read_question
from kebab.search.analyze import Analyzer

ANALYZER = Analyzer()
TRAIN = "When does the night train to Vienna leave?"
열차 = "야간 열차는 언제 출발하나요?"
전세 = "전세 계약은 언제까지 갱신을 알려야 하나?"


def alone(asked: str, earlier: str, topic: tuple[str, ...] = ()) -> str:
    return stand_alone(asked, earlier=earlier, topic=topic, analyzer=ANALYZER)[0]


@pytest.mark.parametrize(
    ("earlier", "asked", "meant"),
    [
        (TRAIN, "How long does it take?", "How long does night train to Vienna take?"),
        (TRAIN, "and what does it cost?", "what does night train to Vienna cost?"),
        (TRAIN, "who runs that", "who runs that (night train to Vienna)?"),
        (열차, "그건 얼마나 걸리나요?", "야간 열차, 얼마나 걸리나요?"),
        ("How do backups work?", "이건 어떻게 복구하나요?", "backups, 어떻게 복구하나요?"),
    ],
)
def test_a_pronoun_means_what_the_earlier_question_was_about(earlier: str, asked: str, meant: str) -> None:
    assert alone(asked, earlier) == meant


@pytest.mark.parametrize(
    ("earlier", "asked", "meant"),
    [
        (TRAIN, "what about Salzburg?", "When does the night train to Salzburg leave?"),
        ("How do I write a note in English?", "and in Korean?", "How do I write a note in Korean?"),
        (
            "What is the wifi password for guests?",
            "and for staff?",
            "What is the wifi password for staff?",
        ),
        ("노트를 영어로 쓰는 방법은?", "한국어로는?", "노트를 한국어로 쓰는 방법은?"),
        ("Postgres 기본 포트는?", "그럼 MySQL은?", "MySQL 기본 포트는?"),
    ],
)
def test_a_fragment_takes_the_place_of_what_stood_there(earlier: str, asked: str, meant: str) -> None:
    assert alone(asked, earlier) == meant


@pytest.mark.parametrize(
    ("earlier", "asked", "meant"),
    [
        (TRAIN, "And in winter?", "When does the night train to Vienna leave (in winter)?"),
        ("How long are keys kept?", "and sessions?", "How long are keys kept (sessions)?"),
        (열차, "요금은?", "요금, 야간 열차는 언제 출발하나요?"),
        (전세, "그럼 월세는?", "월세, 전세 계약은 언제까지 갱신을 알려야 하나?"),
        ("Does the cache expire?", "When?", "When (cache expire)?"),
        ("How do I install Obsidian?", "How do I uninstall?", "How do I uninstall (install Obsidian)?"),
    ],
)
def test_what_replaces_nothing_is_asked_beside_the_earlier_question(
    earlier: str, asked: str, meant: str
) -> None:
    assert alone(asked, earlier) == meant


@pytest.mark.parametrize(
    "asked",
    [
        "What is Postgres?",
        "Which database did we pick?",
        "Is there a discount for students?",
        "In Rust, how do I read a file?",
        "postgres backup",
        "Which notes say that tomatoes need sun?",
        "and how much does the night train to Vienna cost?",
        "and who was on call?",
        "그럼 당직은 누구인가요?",
        "대한민국의 수도는?",
        "Postgres란 무엇인가?",
        "컨테이너 이미지는 어디에 저장되나요?",
    ],
)
def test_a_question_that_stands_alone_is_left_as_it_is(asked: str) -> None:
    assert alone(asked, TRAIN) == asked


def test_it_means_the_same_through_a_conversation() -> None:
    second, topic = stand_alone("How long does it take?", earlier=TRAIN, analyzer=ANALYZER)
    third, again = stand_alone("and where does it stop?", earlier=second, topic=topic, analyzer=ANALYZER)
    assert third == "where does night train to Vienna stop?"
    assert again == topic == ("night", "train", "Vienna")


def test_after_another_name_was_asked_for_it_means_that_one() -> None:
    second, topic = stand_alone("what about Salzburg?", earlier=TRAIN, analyzer=ANALYZER)
    assert alone("How long does it take?", second, topic) == "How long does night train to Salzburg take?"


TEXT = st.text(
    alphabet=st.sampled_from(list("abcITN 가나은는그?.,()'-")) | st.characters(codec="utf-8"), max_size=60
)


@given(asked=TEXT, earlier=TEXT)
def test_only_words_of_the_two_questions_are_ever_asked(asked: str, earlier: str) -> None:
    meant = alone(asked, earlier)
    known = {term for text in (asked, earlier) for word in text.split() for term in ANALYZER.terms(word)}
    known |= {term for text in (asked, earlier) for term in ANALYZER.terms(text)}
    stems = {t for text in (asked, earlier) for w in read_question(text, ANALYZER).keywords for t in w.terms}
    stems |= {
        t
        for text in (asked, earlier)
        for w in read_question(text, ANALYZER).keywords
        for t in ANALYZER.terms(w.text)
    }
    assert set(ANALYZER.terms(meant)) <= known | stems


@given(asked=TEXT)
def test_making_a_question_stand_alone_twice_changes_nothing_more(asked: str) -> None:
    once = alone(asked, TRAIN)
    assert len(once) <= len(asked) + len(TRAIN) + 4
