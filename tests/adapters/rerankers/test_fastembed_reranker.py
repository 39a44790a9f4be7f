"""fastembed's cross-encoders from a folder, so that nothing is downloaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from kebab import Kebab
from kebab.adapters.rerankers.fastembed import DEFAULT, FastembedReranker
from kebab.assembly.engines import Engines
from kebab.domain.hits import ScoreKind
from kebab.domain.queries import SearchMode
from kebab.errors import ConfigInvalid, ModelUnavailable
from tests.adapters.rerankers.small_cross_encoder import write_cross_encoder

TEXTS = ["seat seat held minutes", "charge", "좌석 예약 seat", ""]


def reranker(folder: Path, model: str = "") -> FastembedReranker:
    return FastembedReranker(model, cache_dir=folder.parent / "cache", threads=1, folder=folder)


def test_query_and_text_are_read_together(tmp_path: Path) -> None:
    found = reranker(write_cross_encoder(tmp_path / "small"))
    assert found.model_id == "small"
    assert found.score("seat held", TEXTS) == [3.0, 0.0, 1.0, 0.0]
    assert found.score("예약", TEXTS) == [0.0, 0.0, 1.0, 0.0]


def test_a_score_does_not_depend_on_the_other_texts(tmp_path: Path) -> None:
    found = reranker(write_cross_encoder(tmp_path / "small"))
    together = found.score("seat 예약", TEXTS)
    assert together == [found.score("seat 예약", [text])[0] for text in TEXTS]
    assert found.score("seat 예약", []) == []


def test_two_folders_in_one_process_do_not_mix(tmp_path: Path) -> None:
    plain = reranker(write_cross_encoder(tmp_path / "a"))
    negative = reranker(write_cross_encoder(tmp_path / "b", factor=-2.0))
    flat = reranker(write_cross_encoder(tmp_path / "c", file="model.onnx", factor=5.0))
    assert [each.score("seat", ["seat"]) for each in (plain, negative, flat)] == [[1.0], [-2.0], [5.0]]


def test_a_model_that_fastembed_lists_runs_from_its_folder(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "listed", file="onnx/model_int8.onnx")
    assert reranker(folder, DEFAULT).score("seat", ["seat"]) == [1.0]


def test_without_a_name_it_is_one_that_reads_korean_and_loads_nothing(tmp_path: Path) -> None:
    found = FastembedReranker("", cache_dir=tmp_path / "cache")
    assert found.model_id == DEFAULT
    assert not (tmp_path / "cache").exists()


def test_a_model_it_does_not_list_is_named_with_those_it_does(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="knows no reranker 'nobody/nothing'") as caught:
        FastembedReranker("nobody/nothing", cache_dir=tmp_path).score("a", ["b"])
    assert DEFAULT in str(caught.value.hint)


def test_an_empty_folder_says_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelUnavailable, match="no ONNX model"):
        reranker(tmp_path / "empty").score("a", ["b"])


@pytest.mark.parametrize("file", ["onnx/model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_a_broken_folder_is_an_error_and_not_a_traceback(tmp_path: Path, file: str) -> None:
    folder = write_cross_encoder(tmp_path / "small")
    (folder / file).write_bytes(b"{")
    with pytest.raises(ModelUnavailable, match="cannot load small") as caught:
        reranker(folder).score("a", ["b"])
    assert "models.reranker.path" in str(caught.value.hint)


def library(tmp_path: Path, **reranking: object) -> Kebab:
    notes = tmp_path / "notes"
    if not notes.exists():
        notes.mkdir()
        for number in range(6):
            text = f"# Note {number}\n\n{'minutes ' * number}booking\n"
            (notes / f"{number}.md").write_text(text, encoding="utf-8")
    overrides = {f"models.reranker.{key}": value for key, value in reranking.items()}
    return Kebab.open(root=notes, data_dir=tmp_path / "data", overrides=overrides)


@pytest.mark.parametrize("mode", list(SearchMode))
def test_the_product_searches_with_it_in_every_mode(tmp_path: Path, mode: SearchMode) -> None:
    folder = write_cross_encoder(tmp_path / "small")
    with library(tmp_path, provider="fastembed", path=str(folder), top=6) as kebab:
        kebab.ingest()
        response = kebab.search("booking minutes", mode=mode, k=3, explain=True, trace=True)
    assert response.degraded == ()
    assert [hit.doc_path for hit in response.hits] == ["5.md", "4.md", "3.md"]
    first = response.hits[0]
    assert (first.score_kind, first.rerank and first.rerank.model) == (ScoreKind.RERANKER, "small")
    assert response.trace is not None
    assert [item.score for item in response.trace.legs["reranker"]] == [5.0, 4.0, 3.0, 2.0, 1.0, 0.0]
    assert "rerank_ms" in response.trace.timings_ms


def test_a_reranker_that_is_not_there_is_named_and_the_search_answers(tmp_path: Path) -> None:
    with library(tmp_path) as plain:
        plain.ingest()
        expected = plain.search("booking minutes").hits
    with library(tmp_path, provider="fastembed", path=str(tmp_path / "nowhere")) as kebab:
        response = kebab.search("booking minutes")
    assert response.hits == expected
    assert [(note.part, note.code) for note in response.degraded] == [("reranker", "model_unavailable")]


def test_a_provider_that_does_not_exist_is_an_error_of_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match=r"models.reranker.provider: it must be one of none, fastembed"):
        library(tmp_path, provider="guess")


@pytest.mark.parametrize(("path", "addresses"), [("", 1), ("models/small", 0)])
def test_a_download_is_listed_among_the_network_addresses(tmp_path: Path, path: str, addresses: int) -> None:
    settings = library(tmp_path, provider="fastembed", path=path).settings
    assert len(Engines(settings).endpoints) == addresses
