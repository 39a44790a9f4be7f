"""What every LanguageModel promises, on the fake and on servers that follow the protocols."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from time import monotonic

import pytest

from kebab.answer.generate import Heard
from kebab.errors import ModelUnavailable
from kebab.ports import Ending, LanguageModel, Prompt
from tests.adapters.llms.servers import Script
from tests.adapters.llms.test_streaming_models import ollama, openai
from tests.model_fakes import FakeLanguageModel

PROMPT = Prompt("Rules.", "Question?")
PIECES = ("It leaves ", "at 21:40 ", "[#1].")

Opened = Callable[[Script], AbstractContextManager[LanguageModel]]


def fake(script: Script) -> AbstractContextManager[LanguageModel]:
    error = ModelUnavailable("the stream broke") if script.end == "drop" else None
    ending = Ending.TOKENS if script.reason == "length" else Ending.DONE
    ending = Ending.SECONDS if script.silence_s else ending
    return nullcontext(FakeLanguageModel(script.pieces, error, ending=ending))


@pytest.fixture(params=[fake, ollama, openai], ids=["fake", "ollama", "openai"])
def opened(request: pytest.FixtureRequest) -> Opened:
    chosen: Opened = request.param
    return chosen


def test_the_pieces_come_in_order_and_make_up_the_answer(opened: Opened) -> None:
    with opened(Script(PIECES)) as model:
        assert "".join(model.stream(PROMPT, max_tokens=9)) == "It leaves at 21:40 [#1]."


def test_it_can_be_asked_twice(opened: Opened) -> None:
    with opened(Script(PIECES)) as model:
        assert list(model.stream(PROMPT, max_tokens=9)) == list(model.stream(PROMPT, max_tokens=9))


def test_a_stream_that_breaks_gives_what_had_arrived_and_then_an_error(opened: Opened) -> None:
    arrived: list[str] = []
    with opened(Script(PIECES, end="drop")) as model, pytest.raises(ModelUnavailable):
        arrived.extend(model.stream(PROMPT, max_tokens=9))
    assert "".join(arrived) in ("", "It leaves at 21:40 [#1].")


def test_an_answer_can_be_left_in_the_middle(opened: Opened) -> None:
    with opened(Script(PIECES)) as model:
        stream = model.stream(PROMPT, max_tokens=9)
        assert next(stream) == "It leaves "
        stream.close()
        assert next(stream, None) is None


def test_it_has_a_name_and_a_window(opened: Opened) -> None:
    with opened(Script(PIECES)) as model:
        assert ":" in model.name
        assert model.context_tokens > 0


def test_it_says_whether_it_came_to_its_end_or_ran_out_of_tokens(opened: Opened) -> None:
    for reason, ending in (("stop", Ending.DONE), ("length", Ending.TOKENS)):
        with opened(Script(PIECES, reason=reason)) as model:
            heard = Heard(model.stream(PROMPT, max_tokens=3))
            assert "".join(heard) == "".join(PIECES)
            assert heard.ending is ending


def test_a_model_that_falls_silent_is_stopped_when_its_seconds_are_over(opened: Opened) -> None:
    begun = monotonic()
    with opened(Script(PIECES, silence_s=4.0)) as model:
        heard = Heard(model.stream(PROMPT, max_tokens=9, seconds=0.5))
        assert "".join(heard) == "".join(PIECES)
    assert heard.ending is Ending.SECONDS
    assert monotonic() - begun < 3.0, "it waited for the server instead"


def test_a_form_is_asked_for_and_a_server_that_refuses_it_writes_plain_text(opened: Opened) -> None:
    for offered in (True, False):
        with opened(Script(PIECES, forms=offered)) as model:
            for _ in range(2):
                pieces = model.stream(PROMPT, max_tokens=9, schema={"type": "object"})
                assert "".join(pieces) == "".join(PIECES)
