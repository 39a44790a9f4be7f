"""Questions for what somebody is to somebody, and keywords that stand in no section together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kebab.answer.question import read_question
from kebab.answer.typed import holding
from tests.fakes import FakeEmbedder
from tests.unit.answer.test_passages import scored
from tests.unit.answer.world import ANALYZER, World, notes


def founders() -> World:
    world = World(embedder=FakeEmbedder(64), threshold=0.05)
    world.add("ron.md", "Ron Wayne founded the company with two friends and sold his share of it to them.")
    world.add("ada.md", "Ada King was married to William King, and founded the club.")
    return world


@pytest.mark.parametrize(
    "question", ["Who is the wife of Ron Wayne?", "What is the salary of Ron Wayne?", "Ron Wayne nickname"]
)
def test_a_page_about_somebody_does_not_answer_for_a_wife_of_whom_it_says_nothing(question: str) -> None:
    report = founders().ask(question).steps[0].gate
    assert not report.passed
    assert report.confidence == 0.0


def test_another_word_for_the_relation_tells_it_as_well() -> None:
    assert founders().ask("Who is the husband of Ada King?").steps[0].gate.confidence > 0.0


def test_keywords_that_stand_in_two_notes_but_in_none_together_must_convince_more() -> None:
    world = notes()
    gate = replace(world.gate(), threshold=0.4, keyword_threshold=0.0)
    asker = replace(world.asker(), gate=gate)
    apart = asker.ask(asker.request("sourdough certificate")).steps[0].gate
    together = asker.ask(asker.request("sourdough oven")).steps[0].gate
    assert apart.threshold > together.threshold


def test_a_noun_for_which_no_word_stands_anywhere_needs_most_of_all() -> None:
    gate = notes().gate()
    question = read_question("What does the harbour cost?", ANALYZER)
    lost = gate.threshold_for(question, own_words=False, lost=True)
    assert lost > gate.threshold_for(question, own_words=False)


def test_the_line_with_the_price_answers_for_a_price() -> None:
    source = "The toothbrush costs more than it should. The toothbrush is sold for 18$."
    near = [scored(source, place, 9.0 - place, near=0.9) for place in (0, 2)]
    assert [one.passage.text for one in holding("How much does the toothbrush cost?", near)] == [
        near[1].passage.text
    ]
    assert holding("How much does the toothbrush cost?", near[:1]) == near[:1]
