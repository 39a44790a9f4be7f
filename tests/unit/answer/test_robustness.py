"""Whatever a model writes and a document holds, reading it neither fails nor takes long."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.answer.check import Verdict, check, check_quotes
from kebab.answer.decline import declines
from kebab.answer.generate import without_thoughts
from kebab.answer.markers import read_markers
from kebab.answer.passages import passages
from kebab.answer.question import read_question
from kebab.answer.shown import show
from kebab.answer.split import split
from tests.unit.answer.world import ANALYZER, evidence


def quoted(said: str, source: str) -> Verdict:
    """What the check says when passages of one text are quoted from another."""
    return check_quotes([(passage, show(passage), evidence(source)[0]) for passage in passages(said)])


odd = st.text(alphabet=st.sampled_from("aZ3. \n[#1]`\"'“”-:,?!<>|한다을지 \u0301\u200b"), max_size=120)


@given(odd, odd)
def test_any_text_can_be_checked_against_any_other(said: str, source: str) -> None:
    for verdict in (check(said, evidence(source), analyzer=ANALYZER), quoted(said, source)):
        if verdict.refusal is None:
            assert any(claim.supported for claim in verdict.claims)
            assert not any(claim.problems for claim in verdict.claims)


@given(odd)
def test_no_marker_remains_in_the_text_of_a_claim(said: str) -> None:
    assert not any("[#1]" in marked.text for marked in read_markers(said))


@given(st.text(max_size=200))
def test_any_question_can_be_read_and_split(text: str) -> None:
    question = read_question(text, ANALYZER)
    assert len(split(question, ANALYZER)) <= 4


@given(st.lists(st.text(alphabet=st.sampled_from("<think>/a "), max_size=6), max_size=12))
def test_an_answer_is_the_same_however_it_is_cut_into_pieces(pieces: list[str]) -> None:
    assert "".join(without_thoughts(pieces)).strip() == "".join(without_thoughts(["".join(pieces)])).strip()


@pytest.mark.parametrize(
    "text",
    [
        "word " * 4000,
        "the evidence " * 2000,
        "근거 정보 내용은 " * 2000,
        "[#1]" * 4000,
        "a" * 20_000,
        "1." * 10_000,
        '"' * 20_000,
        "not in the " * 2000,
        "`" * 20_000,
    ],
)
def test_a_long_answer_is_read_in_a_moment(text: str) -> None:
    started = time.perf_counter()
    check(text, evidence("Some evidence, once."), analyzer=ANALYZER)
    declines(text)
    assert time.perf_counter() - started < 2.0
