"""A knowledge base whose model is a server: found by meaning while it is there, by words when it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from kebab import Kebab, config
from kebab.adapters.embedders.remote import ollama_embedder
from kebab.domain.queries import SearchMode
from tests.adapters.embedders.servers import MODEL, EmbeddingServer, closed_address, serving


def opened(folder: Path, provider: str, endpoint: str) -> Kebab:
    notes = folder / "notes"
    notes.mkdir(exist_ok=True)
    (notes / "seat.md").write_text("# Seats\n\nA seat is held for 7 minutes.\n", encoding="utf-8")
    (notes / "home.md").write_text("# 전세 계약\n\n갱신은 두 달 전까지 알린다.\n", encoding="utf-8")
    overrides = {
        "workspace.root": str(notes),
        "storage.data_dir": str(folder / "data"),
        "models.embedding.provider": provider,
        "models.embedding.model": MODEL,
        "models.embedding.endpoint": endpoint,
    }
    return Kebab(config.load(None, overrides=overrides, environ={"XDG_CONFIG_HOME": str(folder)}, cwd=folder))


def address(server: EmbeddingServer, provider: str) -> str:
    return server.openai if provider == "openai" else server.address


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_notes_are_found_by_the_servers_vectors(tmp_path: Path, provider: str) -> None:
    with serving(EmbeddingServer()) as server, opened(tmp_path, provider, address(server, provider)) as kebab:
        assert kebab.engines.endpoints == (address(server, provider),)
        kebab.ingest()
        found = kebab.search("a seat is held", mode=SearchMode.VECTOR)
        assert (found.hits[0].doc_path, found.hits[0].embedding_model) == ("seat.md", MODEL)
        assert not found.degraded


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_when_the_server_is_gone_words_still_find_and_the_answer_says_so(
    tmp_path: Path, provider: str
) -> None:
    with serving(EmbeddingServer()) as server:
        endpoint = address(server, provider)
        with opened(tmp_path, provider, endpoint) as kebab:
            kebab.ingest()
    with opened(tmp_path, provider, endpoint) as kebab:
        found = kebab.search("전세 갱신")
    assert found.hits[0].doc_path == "home.md"
    assert [(note.part, note.code) for note in found.degraded] == [("vector", "model_unavailable")]


def test_a_server_lost_between_two_searches_degrades_the_second(tmp_path: Path) -> None:
    with serving(EmbeddingServer()) as server, opened(tmp_path, "ollama", server.address) as kebab:
        kebab.ingest()
        assert not kebab.search("seat").degraded
        server.faults.extend([(500, "out of memory")] * 3)
        found = kebab.search("seat")
        assert found.hits[0].doc_path == "seat.md"
        assert [note.code for note in found.degraded] == ["model_unavailable"]


def test_ingest_without_the_server_keeps_the_notes_and_embeds_them_later(tmp_path: Path) -> None:
    with opened(tmp_path, "ollama", closed_address()) as kebab:
        report = kebab.ingest()
        assert "not embedded" in " ".join(report.degraded)
        assert kebab.search("seat", mode=SearchMode.LEXICAL).hits
    with serving(EmbeddingServer()) as server, opened(tmp_path, "ollama", server.address) as kebab:
        assert kebab.index(embeddings=True).embedded == 2
        assert kebab.search("seat", mode=SearchMode.VECTOR).hits


@pytest.mark.parametrize("answers_first", [False, True])
def test_a_server_that_is_too_slow_leaves_the_notes_found_by_words(
    tmp_path: Path, answers_first: bool
) -> None:
    with serving(EmbeddingServer()) as server, opened(tmp_path, "ollama", server.address) as kebab:
        embedder = ollama_embedder(MODEL, endpoint=server.address, timeout_s=0.3)
        kebab.engines.embedder = embedder
        if answers_first:
            assert embedder.dimensions == server.dimensions
        server.delay_s = 5.0
        report = kebab.ingest()
        assert "did not answer within 0.3 s" in " ".join(report.degraded)
        found = kebab.search("seat")
        assert found.hits[0].doc_path == "seat.md"
        assert "timeout" in [note.code for note in found.degraded]


def test_the_response_names_the_version_of_what_took_part(tmp_path: Path) -> None:
    with serving(EmbeddingServer()) as server, opened(tmp_path, "ollama", server.address) as kebab:
        kebab.ingest()
        for mode in SearchMode:
            found = kebab.search("seat", mode=mode)
            assert found.index_version == found.hits[0].index_version
            assert found.index_version.startswith(mode.value)
