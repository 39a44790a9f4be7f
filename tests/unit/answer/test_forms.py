"""How well a passage has the form of what is asked for: somebody, a day, a place, an amount."""

from __future__ import annotations

import pytest

from kebab.answer.kinds import Kind, fits, kind_of
from kebab.answer.shapes import Shape


@pytest.mark.parametrize(
    ("question", "better", "worse"),
    [
        ("Who approves time off?", "Managers are responsible for it.", "Please book it early."),
        (
            "System/360의 아키텍트는 누구인가?",
            "아키텍트는 진 암달(Gene Amdahl)이었다.",
            "System/360 시리즈는 최초였다.",
        ),
        ("보일러는 누가 고치나?", "보일러: 집주인", "보일러는 오래되었다."),
        ("협회는 언제 시작되었나?", "1983년에 시작되었다.", "2년 후 선언문이 나왔다."),
        (
            "Where is the database stored?",
            "It defaults to `/var/lib/notes.db`.",
            "It lies in a file on disk.",
        ),
        (
            "How often is pay reviewed?",
            "Reviews occur once a year.",
            "Once you have reviewed it, press Save.",
        ),
        (
            "How many sessions does everybody get?",
            "Two 45-minute on-demand, coaching sessions.",
            "It takes 45 minutes.",
        ),
    ],
)
def test_what_names_the_thing_fits_better(question: str, better: str, worse: str) -> None:
    kind = kind_of(question)
    assert fits(kind, Shape.SENTENCE, better, question) > fits(kind, Shape.SENTENCE, worse, question)


@pytest.mark.parametrize(
    "keywords",
    [
        "standing desk budget",
        "co-working space limit per month",
        "공유 오피스 비용 한도",
        "hotel rate in Rome",
    ],
)
def test_keywords_that_end_with_an_amount_ask_for_a_number(keywords: str) -> None:
    assert kind_of(keywords) is Kind.NUMBER


@pytest.mark.parametrize("keywords", ["price list of the shop", "size matters", "budget", "입장료 안내"])
def test_other_keywords_do_not(keywords: str) -> None:
    assert kind_of(keywords) is not Kind.NUMBER


@pytest.mark.parametrize(
    "keywords", ["one line installer command", "새 폴더를 만드는 명령어", "commands for the firewall"]
)
def test_keywords_for_a_command_ask_how(keywords: str) -> None:
    assert kind_of(keywords) is Kind.HOW
