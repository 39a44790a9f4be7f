"""Answers that arrive as JSON, and those that do not."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from kebab.answer.structured import answer_schema, as_text, question_of

TWO = json.dumps(
    {"sentences": [{"text": "It leaves at 21:40.", "evidence": [1]}, {"text": "Daily.", "evidence": [2, 2]}]}
)


def read(*pieces: str) -> list[str]:
    return list(as_text(pieces, none="No answer."))


def test_sentences_come_with_their_markers_as_soon_as_they_are_whole() -> None:
    half = TWO.index("}") + 1
    assert read(TWO[:half], TWO[half:]) == ["It leaves at 21:40. [#1]\n", "Daily. [#2]\n"]


def test_an_empty_list_says_that_there_is_no_answer() -> None:
    assert read('{"sentences"', ": [ ]", " }") == ["No answer."]


def test_a_list_that_was_cut_gives_the_sentences_that_are_whole() -> None:
    assert read(TWO[: TWO.index("Daily")]) == ["It leaves at 21:40. [#1]\n"]


def test_json_in_a_fence_is_read_too() -> None:
    assert "".join(read(f"```json\n{TWO}\n```")) == "It leaves at 21:40. [#1]\nDaily. [#2]\n"


def test_the_form_allows_only_markers_that_were_given() -> None:
    assert '"enum": [1, 2]' in json.dumps(answer_schema([1, 2]))


@given(st.lists(st.text(max_size=12), max_size=12))
def test_free_text_passes_unchanged_however_it_is_cut(pieces: list[str]) -> None:
    text = "x" + "".join(pieces)
    assert "".join(read("x", *pieces)) == text


@given(st.integers(0, len(TWO)), st.integers(0, len(TWO)))
def test_where_json_is_cut_does_not_matter(one: int, other: int) -> None:
    first, second = sorted((one, other))
    assert read(TWO[:first], TWO[first:second], TWO[second:]) == read(TWO)


@given(st.text(max_size=80))
def test_no_reply_breaks_the_reading_of_a_question(text: str) -> None:
    assert "\n" not in question_of(text)


def test_a_question_is_read_from_json_and_from_a_plain_line() -> None:
    assert question_of('{"question": "When does it leave?"}') == "When does it leave?"
    assert question_of('"When does it leave?"\nBecause …') == "When does it leave?"
    assert question_of('{"question": ') == ""
