"""Ollama's and OpenAI's protocols, spoken with servers on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from kebab.adapters.embedders.remote import BATCH, TRIES, RemoteEmbedder, ollama_embedder, openai_embedder
from kebab.assembly.engines import Engines
from kebab.config import load
from kebab.config.sections import EmbeddingModel
from kebab.errors import KebabError, ModelMismatch, ModelUnavailable, Timeout
from kebab.ports import EmbeddingKind
from tests.adapters.embedders.servers import KEY, MODEL, EmbeddingServer, closed_address, serving

Connect = Callable[..., RemoteEmbedder]

CONNECT: dict[str, Connect] = {
    "ollama": lambda server, model=MODEL, **given: ollama_embedder(
        model, endpoint=server.address, pause_s=0.0, **given
    ),
    "openai": lambda server, model=MODEL, **given: openai_embedder(
        model, endpoint=server.openai, pause_s=0.0, **given
    ),
}


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving(EmbeddingServer()) as running:
        yield running


@pytest.fixture(params=list(CONNECT))
def connect(request: pytest.FixtureRequest) -> Connect:
    return CONNECT[request.param]


def asked(server: EmbeddingServer) -> list[tuple[str, ...]]:
    """The texts of each request, without the one that asks how long a vector is."""
    return [request.texts for request in server.requests if request.texts != ("dimensions",)]


def failure(embedder: RemoteEmbedder, text: str = "text") -> KebabError:
    with pytest.raises(KebabError) as caught:
        embedder.embed([text], EmbeddingKind.QUERY)
    return caught.value


def test_vectors_come_in_the_order_of_the_texts_and_have_length_1(
    server: EmbeddingServer, connect: Connect
) -> None:
    texts = ["seat hold", "전세 계약", "seat", "refund"]
    expected = np.array(server.vectors(texts)) / 3
    np.testing.assert_allclose(connect(server).embed(texts, EmbeddingKind.DOCUMENT), expected, atol=1e-6)


def test_many_texts_are_sent_in_batches_and_come_back_in_order(
    server: EmbeddingServer, connect: Connect
) -> None:
    texts = [f"note {number}" for number in range(2 * BATCH + 5)]
    vectors = connect(server).embed(texts, EmbeddingKind.DOCUMENT)
    assert [len(batch) for batch in asked(server)] == [BATCH, BATCH, 5]
    assert [text for batch in asked(server) for text in batch] == texts
    np.testing.assert_allclose(vectors, np.array(server.vectors(texts)) / 3, atol=1e-6)


def test_no_texts_give_no_rows(server: EmbeddingServer, connect: Connect) -> None:
    assert connect(server).embed([], EmbeddingKind.DOCUMENT).shape == (0, server.dimensions)
    assert asked(server) == []


def test_a_blank_text_is_not_sent_and_moves_no_other_vector(
    server: EmbeddingServer, connect: Connect
) -> None:
    embedder = connect(server)
    with_blanks = embedder.embed(["", "seat", " \n", "refund"], EmbeddingKind.DOCUMENT)
    assert asked(server) == [("seat", "refund")]
    alone = embedder.embed(["seat", "refund"], EmbeddingKind.DOCUMENT)
    assert (with_blanks[[1, 3]] == alone).all()
    np.testing.assert_allclose(np.linalg.norm(with_blanks, axis=1), 1.0, atol=1e-6)


def test_the_length_of_vectors_is_that_of_the_server(connect: Connect) -> None:
    with serving(EmbeddingServer(dimensions=5)) as server:
        assert connect(server).dimensions == 5


def test_an_e5_model_reads_its_prefixes(server: EmbeddingServer, connect: Connect) -> None:
    server.faults.extend([(200, '{"embeddings": [[1, 0]], "data": [{"index": 0, "embedding": [1, 0]}]}')] * 3)
    embedder = connect(server, model="multilingual-e5-small")
    embedder.embed(["seat"], EmbeddingKind.QUERY)
    embedder.embed(["seat"], EmbeddingKind.DOCUMENT)
    assert asked(server) == [("query: seat",), ("passage: seat",)]


def test_a_server_fault_is_tried_again(server: EmbeddingServer, connect: Connect) -> None:
    embedder = connect(server)
    assert embedder.dimensions == server.dimensions
    server.faults.extend([(503, "loading model"), (500, "")])
    vectors = embedder.embed(["seat"], EmbeddingKind.QUERY)
    np.testing.assert_allclose(vectors, np.array(server.vectors(["seat"])) / 3, atol=1e-6)
    assert asked(server) == [("seat",)] * TRIES


def test_a_server_that_stays_broken_is_given_up_and_quoted(server: EmbeddingServer, connect: Connect) -> None:
    server.faults.extend([(503, "loading model")] * (TRIES + 1))
    error = failure(connect(server))
    assert isinstance(error, ModelUnavailable)
    assert "answered 503" in error.message
    assert "loading model" in error.message
    assert len(server.requests) == TRIES


def test_a_missing_model_is_named_and_not_asked_for_again(server: EmbeddingServer, connect: Connect) -> None:
    error = failure(connect(server, model="absent-model"))
    assert isinstance(error, ModelUnavailable)
    assert "answered 404 for 'absent-model'" in error.message
    assert error.hint
    assert len(server.requests) == 1


def test_a_slow_server_is_a_timeout(connect: Connect) -> None:
    with serving(EmbeddingServer(delay_s=5.0)) as server:
        error = failure(connect(server, timeout_s=0.2))
    assert isinstance(error, Timeout)
    assert "did not answer within 0.2 s" in error.message


def test_where_nothing_listens_the_address_is_named() -> None:
    address = closed_address()
    for embedder in (ollama_embedder(MODEL, endpoint=address), openai_embedder(MODEL, endpoint=address)):
        error = failure(embedder)
        assert isinstance(error, ModelUnavailable)
        assert address in error.message
        assert "cannot be reached" in error.message


@pytest.mark.parametrize("address", ["http://[", "nonsense", "ftp://127.0.0.1", "http://127.0.0.1:port"])
def test_an_address_that_is_none_is_an_error_and_not_a_traceback(address: str) -> None:
    assert isinstance(failure(ollama_embedder(MODEL, endpoint=address)), ModelUnavailable)


def test_vectors_of_another_length_are_never_mixed_in(server: EmbeddingServer, connect: Connect) -> None:
    embedder = connect(server)
    assert embedder.dimensions == 8
    server.dimensions = 6
    error = failure(embedder)
    assert isinstance(error, ModelMismatch)
    assert "[6] dimensions instead of 8" in error.message


@pytest.mark.parametrize(
    "body",
    [
        "<html>",
        "[]",
        "{}",
        '{"embeddings": null, "data": null}',
        '{"embeddings": [null], "data": [{"index": 0, "embedding": null}]}',
        '{"embeddings": [["a"]], "data": [{"index": 0, "embedding": ["a"]}]}',
        '{"embeddings": [[1], [2]], "data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": []}]}',
        '{"embeddings": [], "data": []}',
        '{"embeddings": [[NaN]], "data": [{"index": 0, "embedding": [NaN]}]}',
    ],
)
def test_an_answer_that_is_no_embedding_is_said_to_be_none(
    server: EmbeddingServer, connect: Connect, body: str
) -> None:
    server.faults.extend([(200, body)] * 2)
    assert isinstance(failure(connect(server)), ModelUnavailable)


def test_the_key_is_sent_as_a_bearer_token() -> None:
    with serving(EmbeddingServer(needs_key=True)) as server:
        openai_embedder(MODEL, endpoint=server.openai, api_key=KEY).embed(["seat"], EmbeddingKind.QUERY)
        assert {request.key for request in server.requests} == {KEY}


def test_no_key_sends_no_header(server: EmbeddingServer, connect: Connect) -> None:
    connect(server).embed(["seat"], EmbeddingKind.QUERY)
    assert {request.key for request in server.requests} == {None}


def test_the_key_stands_in_no_message_even_when_the_server_repeats_it() -> None:
    with serving(EmbeddingServer(needs_key=True)) as server:
        embedder = openai_embedder(MODEL, endpoint=server.openai, api_key="sk-wrong-77aa")
        error = failure(embedder)
        assert server.requests[0].key == "sk-wrong-77aa"
    assert "answered 401" in error.message
    shown = f"{error.message} {error.hint} {error.details} {embedder!r}"
    assert "sk-wrong-77aa" not in shown


def test_the_key_comes_from_the_variable_that_the_settings_name(
    monkeypatch: pytest.MonkeyPatch, server: EmbeddingServer, tmp_path: Path
) -> None:
    monkeypatch.setenv("MY_EMBEDDING_KEY", KEY)
    model = EmbeddingModel(
        provider="openai", model=MODEL, endpoint=server.openai, api_key_env="MY_EMBEDDING_KEY"
    )
    embedder = Engines(load(environ={"XDG_CONFIG_HOME": str(tmp_path)}, cwd=tmp_path)).build_embedder(model)
    assert embedder is not None
    embedder.embed(["seat"], EmbeddingKind.QUERY)
    assert {request.key for request in server.requests} == {KEY}


def test_a_proxy_of_the_environment_is_not_asked_for_a_server_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, server: EmbeddingServer, connect: Connect
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, closed_address())
    assert connect(server).dimensions == server.dimensions
