"""The two model adapters over real sockets, against servers that follow the protocols."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kebab.adapters.llms.ollama import OllamaLanguageModel
from kebab.adapters.llms.openai_compatible import OpenAiLanguageModel
from kebab.errors import ConfigInvalid, ModelUnavailable, Timeout
from kebab.ports import LanguageModel, Prompt
from tests.adapters.llms.servers import OllamaHandler, OpenAiHandler, Script, serving

PROMPT = Prompt("Rules.", "Question?")
KEY = "sk-very-secret-key"

Served = Callable[..., LanguageModel]


@contextmanager
def ollama(script: Script, *, model: str = "smol", timeout_s: float = 5.0) -> Iterator[LanguageModel]:
    with serving(OllamaHandler, script) as address:
        yield OllamaLanguageModel(model, endpoint=address, timeout_s=timeout_s, seed=7, context_tokens=2048)


@contextmanager
def openai(script: Script, *, model: str = "smol", timeout_s: float = 5.0) -> Iterator[LanguageModel]:
    with serving(OpenAiHandler, script) as address:
        yield OpenAiLanguageModel(
            model, endpoint=f"{address}/v1/", api_key=KEY, timeout_s=timeout_s, seed=7, context_tokens=2048
        )


both = pytest.mark.parametrize("server", [ollama, openai], ids=["ollama", "openai"])


@both
def test_the_answer_arrives_piece_by_piece(server: Served) -> None:
    with server(Script()) as model:  # type: ignore[attr-defined]
        assert list(model.stream(PROMPT, max_tokens=9)) == ["It leaves ", "at 21:40 ", "[#1]."]


def test_ollama_is_asked_as_its_api_wants() -> None:
    script = Script()
    with ollama(script) as model:
        list(model.stream(PROMPT, max_tokens=9))
    (asked,) = script.requests
    assert asked["path"] == "/api/chat"
    assert asked["body"]["messages"] == [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "Question?"},
    ]
    assert asked["body"]["options"] == {"temperature": 0.0, "seed": 7, "num_ctx": 2048, "num_predict": 9}


def test_an_openai_server_is_asked_as_its_api_wants() -> None:
    script = Script(key=KEY)
    with openai(script) as model:
        list(model.stream(PROMPT, max_tokens=9))
    (asked,) = script.requests
    assert asked["path"] == "/v1/chat/completions"
    assert {k: asked["body"][k] for k in ("model", "stream", "max_tokens", "temperature", "seed")} == {
        "model": "smol",
        "stream": True,
        "max_tokens": 9,
        "temperature": 0.0,
        "seed": 7,
    }


@both
def test_closing_the_stream_hangs_up_on_the_server(server: Served) -> None:
    script = Script(pieces=["word "] * 2000, pause_s=0.005)
    with server(script) as model:  # type: ignore[attr-defined]
        stream = model.stream(PROMPT, max_tokens=9)
        assert next(stream) == "word "
        stream.close()
        assert script.hung_up.wait(5)


@both
def test_a_server_that_falls_silent_is_a_timeout(server: Served) -> None:
    with server(Script(pause_s=2.0), timeout_s=0.2) as model, pytest.raises(Timeout, match=r"0\.2 s"):  # type: ignore[attr-defined]
        list(model.stream(PROMPT, max_tokens=9))


@both
@pytest.mark.parametrize("end", ["error", "drop", "garbage"])
def test_a_stream_that_breaks_is_reported_after_what_had_arrived(server: Served, end: str) -> None:
    arrived: list[str] = []
    with server(Script(end=end)) as model, pytest.raises(ModelUnavailable):  # type: ignore[attr-defined]
        arrived.extend(model.stream(PROMPT, max_tokens=9))
    with server(Script(end=end)) as model:  # type: ignore[attr-defined]
        stream = model.stream(PROMPT, max_tokens=9)
        assert [next(stream), next(stream)] == ["It leaves ", "at 21:40 "]


def test_a_model_ollama_does_not_have_is_named() -> None:
    with ollama(Script(), model="absent") as model, pytest.raises(ModelUnavailable, match="absent") as caught:
        list(model.stream(PROMPT, max_tokens=9))
    assert "try pulling it" in caught.value.message
    assert caught.value.hint


def test_a_model_an_openai_server_does_not_have_is_named() -> None:
    with openai(Script(), model="absent") as model, pytest.raises(ModelUnavailable, match="does not exist"):
        list(model.stream(PROMPT, max_tokens=9))


def test_a_refused_key_is_reported_without_the_key() -> None:
    with openai(Script(key="another")) as model, pytest.raises(ModelUnavailable, match="401") as caught:
        list(model.stream(PROMPT, max_tokens=9))
    assert KEY not in caught.value.message
    assert KEY not in repr(caught.value.details)
    assert "api_key_env" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "model",
    [
        OllamaLanguageModel("smol", endpoint="http://127.0.0.1:9"),
        OpenAiLanguageModel("smol", endpoint="http://127.0.0.1:9/v1", api_key=KEY),
    ],
    ids=["ollama", "openai"],
)
def test_a_server_that_is_not_there_is_said_so(model: LanguageModel) -> None:
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        list(model.stream(PROMPT, max_tokens=9))


@pytest.mark.parametrize(("endpoint", "said"), [("localhost", "no http address"), ("http://[::1", "http://")])
def test_an_address_that_is_none_is_said_so(endpoint: str, said: str) -> None:
    with pytest.raises(ModelUnavailable, match=said):
        list(OpenAiLanguageModel("m", endpoint=endpoint).stream(PROMPT, max_tokens=9))


def test_what_a_configuration_must_name_is_asked_for() -> None:
    with pytest.raises(ConfigInvalid, match=r"models\.llm\.model"):
        OllamaLanguageModel("")
    with pytest.raises(ConfigInvalid, match=r"models\.llm\.endpoint"):
        OpenAiLanguageModel("m", endpoint="")


def test_without_the_package_for_http_the_hint_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)  # what Python does for a package that is not there
    with pytest.raises(ModelUnavailable, match="httpx") as caught:
        list(OllamaLanguageModel("smol").stream(PROMPT, max_tokens=9))
    assert "kebab[remote]" in (caught.value.hint or "")


FORM = {"type": "object", "properties": {"question": {"type": "string"}}}


def test_an_openai_server_is_asked_for_a_form_as_its_api_wants() -> None:
    script = Script()
    with openai(script) as model:
        list(model.stream(PROMPT, max_tokens=9, schema=FORM))
    asked = script.requests[0]["body"]["response_format"]
    assert asked == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": FORM},
    }


def test_ollama_is_asked_for_a_form_as_its_api_wants() -> None:
    script = Script()
    with ollama(script) as model:
        list(model.stream(PROMPT, max_tokens=9, schema=FORM))
    assert script.requests[0]["body"]["format"] == FORM


@both
def test_a_server_that_refuses_a_form_is_asked_for_it_once(server: Served) -> None:
    script = Script(forms=False)
    with server(script) as model:  # type: ignore[attr-defined]
        for _ in range(2):
            list(model.stream(PROMPT, max_tokens=9, schema=FORM))
    formed = ["format" in asked["body"] or "response_format" in asked["body"] for asked in script.requests]
    assert formed == [True, False, False]
