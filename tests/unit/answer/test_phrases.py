"""Words that mean one thing together, and words that are written as one or as two."""

from __future__ import annotations

import pytest

from kebab.answer.meeting import WordSpace, meter, words_of
from kebab.answer.phrases import joined, phrases
from kebab.answer.question import read_question
from tests.unit.answer.world import ANALYZER


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("How do I turn off the cache?", "turn-off"),
        ("How do I turn the cache off?", "turn-off"),
        ("turning off caching", "turn-off"),
        ("washing machines in the cellar", "washing-machine"),
        ("who paid two times", "two-times"),
    ],
)
def test_a_phrase_of_a_question_is_one_of_its_words(question: str, phrase: str) -> None:
    assert phrase in [keyword.text for keyword in read_question(question, ANALYZER).keywords]


def test_the_longest_phrase_counts() -> None:
    assert joined(["get", "rid", "of", "it"]) == ["get-rid-of", "it"]


def test_words_that_happen_to_be_in_phrases_are_none() -> None:
    assert phrases(["turn", "left", "and", "switch", "the", "off-road", "lamp"]) == []
    assert joined(["machine", "washing"]) == ["machine", "washing"]


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("disable caching", "You turn off caching with 0."),
        ("turn off caching", "A size of 0 disables caching."),
        ("which jellyfish is old", "The jelly fish that grows old."),
        ("sunscreen for old skin", "A sun screen for skin that is old."),
        ("body weight of old cats", "Bodyweight of cats, old ones."),
        ("two times old", "An old one came twice."),
    ],
)
def test_every_word_is_met_however_it_is_written(asked: str, text: str) -> None:
    question = read_question(asked, ANALYZER)
    words = words_of(text)
    measure = meter(dict.fromkeys(question.keywords, 1.0), [words], WordSpace(None))
    met = measure.met(frozenset(ANALYZER.terms(text)), words)
    assert met.min() >= 0.5, dict(zip([k.text for k in question.keywords], met.tolist(), strict=True))


def test_half_of_a_word_does_not_meet_it() -> None:
    question = read_question("jellyfish", ANALYZER)
    words = words_of("Fish and chips.")
    measure = meter(dict.fromkeys(question.keywords, 1.0), [words], WordSpace(None))
    assert measure.met(frozenset(ANALYZER.terms("Fish and chips.")), words).max() == 0.0
