"""Conversations: a follow-up is understood, shown, stored, and answered as what it means."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kebab.answer.generate import ModelWriter
from kebab.answer.prompt import load_template
from kebab.domain.answers import AskRequest, Budget, Condenser, RefusalReason
from kebab.errors import InvalidInput, Timeout
from kebab.ports import Ending
from tests.model_fakes import FakeLanguageModel
from tests.unit.answer.world import World, notes

TRAIN = "When does the night train to Vienna leave?"
SAID = "The night train leaves at 21:40 [#1]."


class Talker(FakeLanguageModel):
    """Says one thing after the other, a call each."""

    def __init__(self, *replies: str, ending: Ending = Ending.DONE) -> None:
        super().__init__((), ending=ending)
        self.replies = list(replies)

    def stream(self, prompt, *, max_tokens, schema=None, seconds=None):  # type: ignore[no-untyped-def]
        self.pieces = [self.replies.pop(0)]
        return super().stream(prompt, max_tokens=max_tokens, schema=schema, seconds=seconds)


def follow(question: str, trace_id: str) -> AskRequest:
    return AskRequest(question, continue_from=trace_id)


def test_a_follow_up_is_answered_as_what_it_means() -> None:
    asker = notes().asker()
    first = asker.ask(AskRequest(TRAIN))
    second = asker.ask(follow("and when does it arrive?", first.trace_id))
    assert second.request.asked == "when does night train to Vienna arrive?"
    assert second.request.question == "and when does it arrive?"
    assert second.grounded
    assert "07:52" in second.text


def test_the_same_words_mean_something_else_in_another_conversation() -> None:
    world = notes()
    world.add("ferry.md", "The ferry to Crete leaves Piraeus at 21:00 and arrives at 06:15.")
    asker = world.asker()
    for question, arrival in ((TRAIN, "07:52"), ("When does the ferry to Crete leave?", "06:15")):
        first = asker.ask(AskRequest(question))
        second = asker.ask(follow("and when does it arrive?", first.trace_id))
        assert arrival in second.text.splitlines()[0]


def test_the_question_that_was_really_asked_is_told_before_the_answer() -> None:
    asker = notes().asker()
    first = asker.ask(AskRequest(TRAIN))
    events = list(asker.stream(follow("and when does it arrive?", first.trace_id)))
    assert events[0].asked == "when does night train to Vienna arrive?"
    plain = list(asker.stream(follow("How long does sourdough dough rise?", first.trace_id)))
    assert plain[0].asked is None


def test_a_conversation_goes_on_where_nothing_is_stored() -> None:
    world = notes()
    asker = world.asker(keeps=False)
    first = asker.ask(AskRequest(TRAIN))
    assert world.answers.recent() == []
    assert "07:52" in asker.ask(follow("and when does it arrive?", first.trace_id)).text


def test_following_an_answer_that_is_not_there_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="no stored answer 'ans_0'"):
        notes().asker().ask(follow("and when does it arrive?", "ans_0"))


def test_a_follow_up_is_repeated_as_it_was_understood() -> None:
    world = notes()
    asker = world.asker()
    first = asker.ask(AskRequest(TRAIN))
    second = asker.ask(follow("and when does it arrive?", first.trace_id))
    world.answers.bodies.pop(first.trace_id)
    assert asker.again(second.trace_id).changes == ()


def test_a_model_reads_the_conversation_and_writes_the_question() -> None:
    model = Talker(SAID, "When does the night train to Vienna arrive?", "At 07:52 [#1].")
    asker = notes().asker(model)
    first = asker.ask(AskRequest(TRAIN))
    second = asker.ask(follow("and the arrival?", first.trace_id))
    assert second.request.follow is not None
    assert second.request.follow.by is Condenser.MODEL
    assert second.request.asked == "When does the night train to Vienna arrive?"
    told = model.prompts[1].user
    assert TRAIN in told
    assert "leaves at 21:40" in told
    assert "and the arrival?" in told
    assert "[#" not in told


@pytest.mark.parametrize(
    "written",
    ["When does the 1742 Orient Express to Istanbul arrive?", "", "word " * 200],
    ids=["brings in names and numbers", "says nothing", "rambles"],
)
def test_a_question_that_a_model_makes_up_is_not_asked(written: str) -> None:
    asker = notes().asker(Talker(SAID, written, "At 07:52 [#1]."))
    first = asker.ask(AskRequest(TRAIN))
    second = asker.ask(follow("and when does it arrive?", first.trace_id))
    assert second.request.follow is not None
    assert second.request.follow.by is Condenser.RULES
    assert second.request.asked == "when does night train to Vienna arrive?"


def test_what_understanding_cost_counts_as_read() -> None:
    plain = notes().asker(Talker("At 07:52 [#1].")).ask(AskRequest(TRAIN))
    asker = notes().asker(Talker(SAID, TRAIN, "At 07:52 [#1]."))
    first = asker.ask(AskRequest(TRAIN))
    assert asker.ask(follow("again?", first.trace_id)).usage.prompt_tokens > plain.usage.prompt_tokens


def structured(world: World, model: FakeLanguageModel, **changes: object) -> ModelWriter:
    return ModelWriter(model, load_template(structured=True), **changes)  # type: ignore[arg-type]


def test_an_answer_in_json_is_checked_like_any_other() -> None:
    world = notes()
    right = FakeLanguageModel(['{"sentences": [{"text": "It leaves at 21:40.", "evidence": [1]}]}'])
    answer = world.asker(writer=structured(world, right)).ask(AskRequest(TRAIN))
    assert (answer.text, answer.grounded) == ("It leaves at 21:40. [#1]", True)
    assert right.given[0][1] is not None
    wrong = FakeLanguageModel(['{"sentences": [{"text": "It leaves at 22:15.", "evidence": [1]}]}'])
    assert world.asker(writer=structured(world, wrong)).ask(AskRequest(TRAIN)).refusal is (
        RefusalReason.UNSUPPORTED
    )


@pytest.mark.parametrize("question", [TRAIN, "야간 열차는 언제 Vienna 로 출발하나요? night train"])
def test_json_without_a_sentence_is_a_refusal_in_the_questions_language(question: str) -> None:
    world = notes(threshold=0.0)
    model = FakeLanguageModel(['{"sentences": []}'])
    answer = world.asker(writer=structured(world, model)).ask(AskRequest(question))
    assert answer.refusal is RefusalReason.DECLINED
    assert ("찾지 못했습니다" in answer.text) is (question is not TRAIN)


def test_an_answer_that_the_budget_cut_says_so() -> None:
    model = FakeLanguageModel([SAID], ending=Ending.TOKENS)
    answer = notes().asker(model).ask(AskRequest(TRAIN))
    assert answer.grounded
    assert (answer.partial, answer.error) == (True, "stopped at 1024 tokens (rag.max_answer_tokens)")
    assert answer.budget == Budget(2000, 1024, 60.0)


def test_a_model_that_writes_nothing_in_its_time_is_an_error_that_names_the_budget() -> None:
    with pytest.raises(Timeout, match="stopped after 60 s"):
        notes().asker(FakeLanguageModel([], ending=Ending.SECONDS)).ask(AskRequest(TRAIN))


def test_the_model_is_given_the_tokens_and_the_seconds_that_are_left() -> None:
    world, model = notes(), FakeLanguageModel([SAID])
    asker = world.asker(writer=structured(world, model, max_answer_tokens=40))
    replace(asker, budget=Budget(2000, 40, 5.0)).ask(AskRequest(TRAIN))
    tokens, _, seconds = model.given[0]
    assert tokens == 40
    assert seconds is not None
    assert 0 < seconds <= 5.0
