"""Question files, their verdicts and tables, and weights fitted to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kebab.answer.measured import FEATURES
from kebab.domain.answers import GATE_FEATURES, GateFeatures
from kebab.domain.evaluations import Share
from kebab.errors import InvalidInput
from kebab.evaluate.answers import AskedQuestion, read_questions, report, verdict
from kebab.evaluate.fit import Example, fit_gate, fit_selection
from tests.unit.answer.world import notes

TRAIN = "When does the night train to Vienna leave?"


def test_an_answer_that_holds_the_fact_in_its_first_line_counts_twice() -> None:
    found = verdict(AskedQuestion(TRAIN, gold="21:40", path="trip.md"), notes().ask(TRAIN), folder="notes")
    assert (found.fact, found.first, found.cited, found.refused) == (True, True, True, False)


def test_an_answer_without_the_fact_is_no_refusal_and_holds_nothing() -> None:
    found = verdict(AskedQuestion(TRAIN, gold="22:22"), notes().ask(TRAIN), folder="notes")
    assert (found.fact, found.first, found.cited, found.refused) == (False, False, None, False)


def test_the_table_counts_refusals_by_folder_type_and_language() -> None:
    question = "Who painted the Sistine Chapel?"
    asked = [
        verdict(AskedQuestion(TRAIN, gold="21:40", type="when"), notes().ask(TRAIN), folder="a"),
        verdict(AskedQuestion(question, type="who"), notes().ask(question), folder="b"),
    ]
    rows = {row.name: row for row in report(asked).rows}
    assert set(rows) == {"all", "folder a", "folder b", "type when", "type who", "lang en"}
    assert (rows["all"].fact.value, rows["all"].precision.value, rows["all"].f1) == (1.0, 1.0, 1.0)
    assert rows["folder a"].f1 is None


@pytest.mark.parametrize("text", ["questions: 3", "- {question: a, gold: '('}", "- {ask: a}", "{"])
def test_a_wrong_question_file_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"mine\.yaml"):
        read_questions(file)


def test_a_question_file_names_its_folder_relative_to_itself(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("root: notes\nquestions:\n- question: 왜 그런가요?\n", encoding="utf-8")
    found = read_questions(file)
    assert (found.folder, found.root) == ("mine", str(tmp_path / "notes"))
    assert found.questions[0].language == "ko"


@given(st.integers(0, 50), st.integers(1, 50))
@example(0, 47)
def test_the_interval_holds_the_share(count: int, more: int) -> None:
    share = Share(count, count + more)
    low, high = share.interval
    assert 0 <= low <= (share.value or 0.0) <= high <= 1


def passage(**values: float) -> tuple[float, ...]:
    return tuple(values.get(name, 0.5) for name in FEATURES)


def examples(count: int = 20) -> list[Example]:
    """The passage with more coverage holds the fact; without an answer nothing is covered."""
    gate = GateFeatures(*[0.5] * len(GATE_FEATURES))
    filler = [passage(own=0.1)] * 5
    answered = Example(
        "a", True, [*filler, passage(own=0.9)], [False] * 5 + [True], replace(gate, coverage=0.9)
    )
    refused = Example("a", False, filler, [False] * 5, replace(gate, coverage=0.2, semantic=None))
    return [answered, refused] * count


def test_a_fit_finds_the_feature_that_tells() -> None:
    selection = fit_selection(examples())
    bias, gate, means = fit_gate(examples())
    assert max(selection, key=lambda name: selection[name]) == "own"
    assert max(gate, key=lambda name: gate[name]) == "coverage"
    assert bias < 0
    assert means["semantic"] == 0.5
    assert min(*selection.values(), *gate.values()) >= 0


def test_too_few_questions_are_refused_with_a_hint() -> None:
    with pytest.raises(InvalidInput, match="too few"):
        fit_gate(examples(3))
