"""Codes, identifiers and single words: who types one wants the line that holds it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kebab.answer.kinds import Kind, fits, kind_of
from kebab.answer.question import read_question, spelled
from kebab.answer.shapes import Shape
from kebab.answer.typed import codes, held_by, holding, lone
from kebab.domain.hits import Correction
from tests.fakes import FakeEmbedder
from tests.unit.answer.world import ANALYZER, World, notes


@pytest.mark.parametrize(
    "code",
    [
        "E15",
        "TP-20931",
        "max_connections",
        "tokio::select",
        "bookings.charge_key",
        "10.0.20.5",
        "--run-cmd",
        "structuredClone",
        "error[E0382]",
    ],
)
def test_what_nobody_spells_as_a_word_is_a_code(code: str) -> None:
    assert codes(code) == (code,)
    assert codes(f"`{code}`는?") == (code,)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("what is TP-20931?", ("TP-20931",)),
        ("E15는 뭐야?", ("E15",)),
        ("what does `max_connections` do", ("max_connections",)),
        ("how do I sync with an iPhone", ()),
        ("is HTML5 supported", ()),
        ("Node.js를 설치하는 방법은", ()),
        ("what is in config.toml", ()),
    ],
)
def test_inside_a_question_only_what_can_be_nothing_else_is_a_code(
    question: str, found: tuple[str, ...]
) -> None:
    assert codes(question) == found


@pytest.mark.parametrize(
    "word",
    ["waitlist", "on-call", "두부", "NASA", "GoCD", "3", "2027", "e.g.", "1.2.0", "Node.js", "iPhone", "mp3"],
)
def test_words_names_and_numbers_are_no_codes(word: str) -> None:
    assert not codes(word)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("E15", "- note: e15: leak sensor"),
        ("E15", "E15는 누수를 뜻한다"),
        ("max_connections", "the setting maxConnections"),
        ("max_connections", "at most 200 max connections"),
        ("--run-cmd", r"\--run-cmd=*COMMAND*"),
    ],
)
def test_a_code_is_held_however_its_parts_are_joined(code: str, text: str) -> None:
    assert held_by(code, [text])


@pytest.mark.parametrize(
    ("code", "text"), [("TP-2093", "booking TP-20931"), ("E15", "E150"), ("E15", "BE15")]
)
def test_the_beginning_of_a_longer_code_is_another_code(code: str, text: str) -> None:
    assert not held_by(code, [text])


def test_one_word_is_all_of_a_query_unless_it_asks_something() -> None:
    assert lone("waitlist") == "waitlist"
    assert lone("E15는") == "E15"
    assert not lone("EBS란?")
    assert not lone("waitlist length")


def appliances(question: str) -> list[str]:
    world = World(embedder=FakeEmbedder(64), threshold=0.0)
    world.add(
        "appliances.md",
        "E15 and what to do.\n\n| appliance | note |\n|---|---|\n| dishwasher | E15: leak sensor |\n"
        "| fridge | gasket replaced |\n",
        "The float switch is up. It is almost never the pump.",
    )
    return [claim.text for claim in world.ask(question).claims]


def test_every_line_that_is_quoted_for_a_code_holds_it() -> None:
    lines = appliances("E15")
    assert lines
    assert all("E15" in line for line in lines)


def test_what_stands_below_a_heading_with_the_word_is_quoted_where_no_line_holds_it() -> None:
    world = World(embedder=FakeEmbedder(64), threshold=0.0)
    world.add("waitlist.md", "When a sailing is full, customers get 15 minutes to take a seat.")
    assert world.ask("waitlist").grounded


def test_without_a_lone_word_all_passages_stay() -> None:
    assert holding("two words", []) == []


@pytest.mark.parametrize("question", ["TP-99999", "what is TP-99999?", "TP-2093", "tokio::select"])
def test_a_code_that_stands_nowhere_is_refused_whatever_is_near_it(question: str) -> None:
    world = World(embedder=FakeEmbedder(64), threshold=0.01)
    world.add("bookings.md", "Booking TP-20931 is an example: what is a booking? It is for the ferry.")
    world.add("tokio.md", "The tokio crate runs tasks; select one of them.")
    assert not world.ask(question).grounded
    assert world.ask("TP-20931").grounded


def test_a_typo_is_judged_as_what_was_searched_for() -> None:
    asked = read_question("sourdogh rising time", ANALYZER)
    read = spelled(asked, (Correction("sourdogh", "sourdough"),), ANALYZER)
    assert [keyword.text for keyword in read.keywords] == ["sourdough", "rising", "time"]
    assert spelled(asked, (), ANALYZER) is asked


def test_a_short_word_that_no_document_holds_may_be_a_name_and_no_typo() -> None:
    asked = read_question("windows with egui", ANALYZER)
    assert spelled(asked, (Correction("egui", "gui"),), ANALYZER) is asked


def test_a_few_keywords_that_lack_one_must_convince_nearly_like_a_question() -> None:
    gate = replace(notes().gate(), threshold=0.4, keyword_threshold=0.05)
    few = read_question("piano lessons Tuesday", ANALYZER)
    assert gate.threshold_for(few) == 0.05
    assert 0.05 < gate.threshold_for(few, lacks=True) < 0.4


@pytest.mark.parametrize(
    ("query", "share"),
    [
        ("sourdough oven", 0.0),
        ("harbour oven", 0.75),
        ("harbour dough rises twelve hours degrees oven", 0.0),
        ("is the harbour oven there?", 1.0),
    ],
)
def test_what_keywords_must_reach_depends_on_whether_one_of_a_few_stands_nowhere(
    query: str, share: float
) -> None:
    """In a description of many words one may be missing: no page repeats all of it."""
    world = notes()
    gate = replace(world.gate(), threshold=0.4, keyword_threshold=0.0)
    asker = replace(world.asker(), gate=gate)
    report = asker.ask(asker.request(query)).steps[0].gate
    assert report.threshold == pytest.approx(share * 0.4)


@pytest.mark.parametrize(
    "query",
    [
        "install rust on linux",
        "reset the router",
        "turn off the alarm",
        "새 계정 만들기",
        "여러 줄 주석 쓰는 법",
    ],
)
def test_keywords_that_name_what_is_to_be_done_ask_how(query: str) -> None:
    assert kind_of(query) is Kind.HOW


def test_the_description_of_a_task_is_no_such_keywords() -> None:
    task = "Add a second worker to the booking API. Keep the connections below what the base allows."
    assert kind_of(task) is Kind.OTHER


@pytest.mark.parametrize("query", ["use strict", "password reset", "파일 크기", "백업 주기", "세탁기"])
def test_keywords_that_name_a_thing_do_not(query: str) -> None:
    assert kind_of(query) is not Kind.HOW


@pytest.mark.parametrize("question", ["where is the serum kept", "what does he use for the serum"])
def test_words_that_only_glue_a_question_are_not_looked_for(question: str) -> None:
    assert [keyword.text for keyword in read_question(question, ANALYZER).keywords] == ["serum"]


def test_a_row_of_a_table_that_only_its_headings_relate_to_keywords_gives_way_to_a_sentence() -> None:
    world = World(threshold=0.0)
    world.add(
        "marathon plan.md",
        "| day | what |\n|---|---|\n| Sat | rest at home |\n| Sun | 18 km slowly |\n\n"
        "Race on 26 April along the river, in less than two hours.",
    )
    assert "Race" in world.ask("marathon plan").claims[0].text


def test_an_amount_of_money_is_asked_for_in_money() -> None:
    question = "how much money per day on the trip"
    assert fits(Kind.NUMBER, Shape.SENTENCE, "The daily allowance is €65.", question) == 1.0
    assert fits(Kind.NUMBER, Shape.SENTENCE, "The report is due within 14 days.", question) < 1.0
