"""How answers look to people."""

from __future__ import annotations

from dataclasses import replace

from kebab.answer.archive import compare
from kebab.cli import answers
from kebab.cli.screen import Screen, width
from kebab.domain.answers import Answer, RefusalReason
from kebab.domain.citations import Citation
from tests.model_fakes import FakeLanguageModel
from tests.unit.answer.world import notes

TRAIN = "When does the night train to Vienna leave?"
NARROW = Screen(columns=60)


def nowhere(_: Citation) -> None:
    return None


def shown(answer: Answer, *, explain: bool = False) -> str:
    return answers.answer(answer, screen=NARROW, locate=nowhere, explain=explain)


def test_the_text_comes_first_then_where_it_stands() -> None:
    lines = shown(notes().ask(TRAIN)).splitlines()
    assert lines[0].startswith("The night train to Vienna leaves")
    assert "[#1] trip.md#L1" in lines


def test_a_sentence_that_failed_its_check_is_marked_with_the_reason() -> None:
    answer = notes().ask(TRAIN, FakeLanguageModel(["It goes to Vienna [#1]. It leaves at 22:15 [#1]."]))
    out = shown(answer)
    assert "! '22' does not stand in [#1]" in out
    assert "not grounded: a sentence states what its source does not" in out


def test_a_refusal_names_its_reason_and_the_nearest() -> None:
    out = shown(notes().ask("Does the mail server run on water from Mongolia?"))
    assert "not grounded: what was found does not speak about the question" in out
    assert "nearest, though not an answer:" in out


def test_every_reason_has_words() -> None:
    assert set(answers.REASONS) == set(RefusalReason)


def test_explain_shows_claims_gate_and_versions() -> None:
    out = shown(notes().ask(TRAIN), explain=True)
    for part in ("claims", "gate passed at", "coverage", "semantic   does not apply", "prompt extractive-v4"):
        assert part in out


def test_a_source_quoted_twice_is_named_once_with_both_places() -> None:
    answer = notes().ask(TRAIN)
    claim = answer.claims[0]
    other = replace(claim.quotes[0], citation=replace(claim.quotes[0].citation, start=5, end=6))
    out = shown(replace(answer, claims=(claim, replace(claim, quotes=(other,)))))
    assert "[#1] trip.md#L1, L5-L6" in out.splitlines()


def test_an_answer_in_another_language_than_the_question_says_so() -> None:
    answer = notes().ask(TRAIN)
    assert "quoted in English, the language of the source" in shown(replace(answer, lang="ko"))
    assert "quoted in" not in shown(answer)


def test_lines_fit_the_screen_in_korean_too() -> None:
    answer = notes().ask("전세 계약 갱신은 언제까지 알려야 하나요?")
    assert all(width(line) <= 60 for line in shown(answer, explain=True).splitlines())


def test_a_repetition_shows_what_changed_or_that_nothing_did() -> None:
    before = notes().ask(TRAIN)
    after = replace(before, text="It leaves at 20:10 [#1].", trace_id="ans_2")
    same = answers.comparison(compare(before, before), screen=NARROW, locate=nowhere)
    other = answers.comparison(compare(before, after), screen=NARROW, locate=nowhere)
    assert "nothing changed" in same
    assert "+ It leaves at 20:10 [#1]." in other
