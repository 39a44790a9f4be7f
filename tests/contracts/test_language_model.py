"""What every LanguageModel promises, on the fake and on servers that follow the protocols."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import pytest

from kebab.errors import ModelUnavailable
from kebab.ports import LanguageModel, Prompt
from tests.adapters.llms.servers import Script
from tests.adapters.llms.test_streaming_models import ollama, openai
from tests.model_fakes import FakeLanguageModel

PROMPT = Prompt("Rules.", "Question?")
PIECES = ("It leaves ", "at 21:40 ", "[#1].")

Opened = Callable[[Script], AbstractContextManager[LanguageModel]]


def fake(script: Script) -> AbstractContextManager[LanguageModel]:
    error = ModelUnavailable("the stream broke") if script.end == "drop" else None
    return nullcontext(FakeLanguageModel(script.pieces, error))


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
