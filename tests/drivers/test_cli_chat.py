"""Conversations from the shell: following up by id, and talking line by line."""

from __future__ import annotations

from tests.adapters.llms.servers import OpenAiHandler, Script, serving
from tests.drivers.conftest import Cli
from tests.drivers.terminal import answering

QUESTION = "How long are idempotency keys kept?"
FOLLOW = "and why are they kept that long?"
MEANT = "why are idempotency keys kept that long?"


def test_a_follow_up_shows_the_question_that_was_really_asked(library: Cli) -> None:
    first = library("ask", QUESTION, "--json").json
    result = library("ask", FOLLOW, "--continue", first["trace_id"])
    assert f"asked: {MEANT}" in result.out
    told = library("ask", FOLLOW, "--continue", first["trace_id"], "--json").json
    assert told["follow_up"] == {"continues": first["trace_id"], "question": MEANT, "by": "rules"}
    assert told["question"] == FOLLOW
    assert "work/architecture/payment-idempotency.md" in told["citations"][0]["citation"]["uri"]


def test_a_follow_up_of_nothing_is_an_error(library: Cli) -> None:
    result = library("ask", FOLLOW, "--continue", "ans_0")
    assert (result.code, "no stored answer 'ans_0'" in result.err) == (2, True)


def test_lines_on_standard_input_make_a_conversation(library: Cli) -> None:
    result = library("chat", "--json", stdin=f"{QUESTION}\n\n{FOLLOW}\n/new\n{FOLLOW}\n/quit\nnever asked\n")
    assert result.code == 0
    answers = [event["answer"] for event in result.lines if event["kind"] == "final"]
    assert [answer["question"] for answer in answers] == [QUESTION, FOLLOW, FOLLOW]
    assert answers[1]["follow_up"]["continues"] == answers[0]["trace_id"]
    assert "follow_up" not in answers[2]


def test_an_unknown_word_behind_a_slash_is_no_question(library: Cli) -> None:
    result = library("chat", stdin="/help\n/\n")
    assert (result.out, result.err.count("/new starts over, /quit ends.")) == ("", 3)


def test_one_empty_line_stands_between_an_answer_and_its_sources(library: Cli) -> None:
    shown = library("chat", stdin=f"{QUESTION}\n").out
    assert "]\n\n[#1] work/" in shown


def test_reading_only_a_conversation_still_goes_on(library: Cli) -> None:
    result = library("chat", "--json", "--readonly", stdin=f"{QUESTION}\n{FOLLOW}\n")
    assert [event["asked"] for event in result.lines if "asked" in event] == [MEANT]


def test_on_a_terminal_one_talks_until_one_quits(library: Cli) -> None:
    code, screen = answering(library, "chat", answers=[QUESTION, FOLLOW, "/quit"])
    assert code == 0
    assert "72 hours" in screen
    assert f"asked: {MEANT}" in screen


def test_a_model_condenses_and_the_budget_that_cuts_it_is_said(library: Cli) -> None:
    script = Script(("Idempotency keys are kept for 72 hours [#1].",), reason="length")
    with serving(OpenAiHandler, script) as address:
        model = {
            "KEBAB_MODELS__LLM__PROVIDER": "openai",
            "KEBAB_MODELS__LLM__ENDPOINT": f"{address}/v1",
            "KEBAB_RAG__MAX_ANSWER_TOKENS": "16",
        }
        first = library("ask", QUESTION, "--json", **model).json
        shown = library("ask", FOLLOW, "--continue", first["trace_id"], **model)
    assert first["partial"]
    assert first["budget"]["completion_tokens"] == 16
    assert "stopped at 16 tokens (rag.max_answer_tokens)" in first["error"]
    assert "asked: Idempotency keys are kept for 72 hours" in shown.out
    assert "incomplete: stopped at 16 tokens" in shown.out
    assert [asked["body"]["max_tokens"] for asked in script.requests] == [16, 160, 16]
