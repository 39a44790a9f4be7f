"""What a question is about, and where it falls into parts."""

from __future__ import annotations

import pytest

from kebab.answer.question import read_question
from kebab.answer.split import split
from tests.unit.answer.world import ANALYZER


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How do I wait until a spawned thread has finished?", ["wait", "spawned", "thread", "finished"]),
        ("What is deref coercion?", ["deref", "coercion"]),
        ("소유권 규칙에는 어떤 것들이 있나요?", ["소유권", "규칙"]),
        ("라이프타임이란 무엇인가요?", ["라이프타임"]),
        ("Rc를 여러 스레드에서 사용해도 되나요?", ["Rc", "스레드"]),
        ("이름이 겹치지 않게 하려면?", ["이름", "겹치"]),
        ("패키지는 무엇인가요?", ["패키지"]),
        ("힙은 무엇인가요?", ["힙"]),
        ("안식휴가는 며칠인가?", ["안식휴가"]),
        ("Box를 써야 하나?", ["Box"]),
        ("휴가는 1년에 며칠인가?", ["휴가"]),
    ],
)
def test_only_the_words_an_answer_would_hold_remain(question: str, words: list[str]) -> None:
    assert [keyword.text for keyword in read_question(question, ANALYZER).keywords] == words


def test_a_korean_verb_counts_less_than_a_noun() -> None:
    shares = {k.text: k.share for k in read_question("파일을 찾으려면 화면은 어디인가?", ANALYZER).keywords}
    assert shares == {"파일": 1.0, "찾으": 0.5, "화면": 1.0}


def test_hangul_makes_a_question_korean() -> None:
    assert read_question("Rust의 소유권은?", ANALYZER).lang == "ko"
    assert read_question("What is ownership?", ANALYZER).lang == "en"


def test_decomposed_hangul_is_the_same_question() -> None:
    decomposed = "소유권"
    assert read_question(decomposed, ANALYZER).keywords == read_question("소유권", ANALYZER).keywords


@pytest.mark.parametrize("question", ["", "?!", "what is it", "어떻게 하나요?"])
def test_a_question_of_glue_has_no_words(question: str) -> None:
    assert read_question(question, ANALYZER).keywords == ()


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is ownership and how do I open a channel?", ["What is ownership", "how do I open a channel?"]),
        ("What is a Box? How do I cook rice?", ["What is a Box", "How do I cook rice?"]),
        ("소유권이란 무엇이고 채널은 어떻게 만드나요?", ["소유권이란 무엇이", "채널은 어떻게 만드나요?"]),
    ],
)
def test_a_compound_question_falls_into_its_parts(question: str, parts: list[str]) -> None:
    assert [part.text for part in split(read_question(question, ANALYZER), ANALYZER)] == parts


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference between the stack and the heap?",
        "What are const generics and when did they become stable?",
        "How do I push and pop?",
        "코드가 패닉을 일으키는지 테스트하려면?",
        "What is ownership?",
        "In Rust, how do I open a channel?",
        "When the server starts, what is read first?",
        "Which family distilled brandy and were they Huguenots?",
        "현재 사용하고 있는 모델은?",
        "고다이고 천황이 세운 정부는 무엇인가?",
        "기존의 특성을 어느 정도 가지고 있는 모델은 무엇인가?",
        "여름의 금강산은 무엇이라고 불리는가?",
        "노아는 누구의 명령에 따라 배를 만들고 가족을 태웠는가?",
    ],
)
def test_a_question_about_one_thing_stays_whole(question: str) -> None:
    assert split(read_question(question, ANALYZER), ANALYZER) == ()


def test_a_question_is_never_cut_into_more_than_four_parts() -> None:
    long = "? ".join(f"What is thing{n}" for n in range(9))
    assert len(split(read_question(long, ANALYZER), ANALYZER)) == 4


@pytest.mark.parametrize(
    "question", ["DynamoDB가 뭐지", "DynamoDB가 뭐야?", "DynamoDB는 뭐였지?", "DynamoDB란 무엇을 말하나?"]
)
def test_what_only_asks_is_no_keyword_in_any_tone(question: str) -> None:
    assert [keyword.text for keyword in read_question(question, ANALYZER).keywords] == ["DynamoDB"]
