"""A model folder as hubs lay it out, run by onnxruntime and checked against ONNX's own reference."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from tokenizers import Tokenizer

from kebab.adapters.embedders.onnx_folder import OnnxFolderEmbedder
from kebab.errors import ModelUnavailable
from kebab.ports import EmbeddingKind, Vectors
from tests.adapters.embedders.small_model import write_small_model

TEXTS = ["seat hold", "전세 계약 갱신", "a much longer note about the ferry, so that lengths differ"]


def hidden_states(folder: Path, text: str, *, file: str = "model.onnx") -> Vectors:
    """What the graph gives for a text, by the reference implementation instead of onnxruntime."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
    feed: dict[str, Any] = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
    found = ReferenceEvaluator(onnx.load(str(folder / file))).run(None, feed)
    assert isinstance(found, list)
    states: Vectors = np.asarray(found[0])[0]
    return states


def unit(row: Vectors) -> Vectors:
    return row / np.linalg.norm(row)


def embed(folder: Path, *texts: str, kind: EmbeddingKind = EmbeddingKind.DOCUMENT) -> Vectors:
    return OnnxFolderEmbedder(folder, threads=1).embed(texts, kind)


def test_a_vector_is_the_mean_of_the_tokens_as_the_reference_computes_them(tmp_path: Path) -> None:
    folder = write_small_model(tmp_path / "small")
    expected = [unit(hidden_states(folder, text).mean(axis=0)) for text in TEXTS]
    np.testing.assert_allclose(embed(folder, *TEXTS), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("file", "values"),
    [("kebab.json", {"pooling": "cls"}), ("1_Pooling/config.json", {"pooling_mode_cls_token": True})],
)
def test_cls_pooling_takes_the_first_token(tmp_path: Path, file: str, values: dict[str, object]) -> None:
    folder = write_small_model(tmp_path / "small")
    (folder / "1_Pooling").mkdir()
    (folder / file).write_text(json.dumps(values))
    expected = [unit(hidden_states(folder, text)[0]) for text in TEXTS]
    np.testing.assert_allclose(embed(folder, *TEXTS), expected, atol=1e-5)


def test_a_graph_that_pools_itself_is_taken_at_its_word(tmp_path: Path) -> None:
    folder = write_small_model(tmp_path / "small", pooled=True)
    expected = [unit(hidden_states(folder, text)) for text in TEXTS]
    np.testing.assert_allclose(embed(folder, *TEXTS), expected, atol=1e-5)


@pytest.mark.parametrize("file", ["model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx"])
def test_the_model_is_found_where_hubs_put_it(tmp_path: Path, file: str) -> None:
    folder = write_small_model(tmp_path / "small", file=file, dimensions=12)
    embedder = OnnxFolderEmbedder(folder, threads=1)
    assert (embedder.model_id, embedder.dimensions) == ("small", 12)


def test_a_text_longer_than_the_model_can_read_is_cut(tmp_path: Path) -> None:
    folder = write_small_model(tmp_path / "small", positions=24)
    long, cut = embed(folder, "x" * 500, "x" * 22)
    assert (long == cut).all()


def test_without_a_tokenizer_configuration_the_table_of_positions_is_the_limit(tmp_path: Path) -> None:
    folder = write_small_model(tmp_path / "small", positions=24)
    (folder / "tokenizer_config.json").unlink()
    assert (embed(folder, "x" * 500) == embed(folder, "x" * 22)).all()


def test_the_first_positions_of_a_roberta_are_not_for_text(tmp_path: Path) -> None:
    folder = write_small_model(tmp_path / "small", positions=26)
    (folder / "tokenizer_config.json").unlink()
    config = {"model_type": "xlm-roberta", "max_position_embeddings": 26, "pad_token_id": 1}
    (folder / "config.json").write_text(json.dumps(config))
    assert (embed(folder, "x" * 500) == embed(folder, "x" * 22)).all()
    assert (embed(folder, "x" * 500) != embed(folder, "x" * 21)).any()


def test_a_limit_that_means_unknown_is_passed_over(tmp_path: Path) -> None:
    folder = write_small_model(tmp_path / "small", positions=24)
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": int(1e30)}))
    assert (embed(folder, "x" * 500) == embed(folder, "x" * 22)).all()


def test_an_e5_folder_reads_its_prefixes_unasked(tmp_path: Path) -> None:
    e5 = write_small_model(tmp_path / "multilingual-e5-small")
    plain = write_small_model(tmp_path / "plain")
    for kind, prefix in ((EmbeddingKind.QUERY, "query: "), (EmbeddingKind.DOCUMENT, "passage: ")):
        assert (embed(e5, "좌석", kind=kind) == embed(plain, f"{prefix}좌석", kind=kind)).all()


def test_an_e5_folder_whose_export_names_another_model_keeps_its_prefixes(tmp_path: Path) -> None:
    e5 = write_small_model(tmp_path / "multilingual-e5-small")
    (e5 / "config.json").write_text(json.dumps({"_name_or_path": "vendor/base-model"}))
    plain = write_small_model(tmp_path / "plain")
    assert OnnxFolderEmbedder(e5).model_id == "vendor/base-model"
    assert (embed(e5, "seat") == embed(plain, "passage: seat")).all()


def test_a_path_of_the_exporting_machine_is_no_name(tmp_path: Path) -> None:
    folder = write_small_model(tmp_path / "small")
    (folder / "config.json").write_text(json.dumps({"_name_or_path": "/home/someone/checkpoint"}))
    assert OnnxFolderEmbedder(folder).model_id == "small"


def test_kebab_json_names_the_model_and_its_prefixes(tmp_path: Path) -> None:
    own = {"id": "my/notes", "query_prefix": "Q ", "document_prefix": "D ", "max_tokens": 12}
    folder = write_small_model(tmp_path / "small", settings=own)
    plain = write_small_model(tmp_path / "plain")
    embedder = OnnxFolderEmbedder(folder, threads=1)
    assert embedder.model_id == "my/notes"
    assert (embedder.embed(["seat"], EmbeddingKind.QUERY) == embed(plain, "Q seat")).all()
    assert (embedder.embed(["seat"], EmbeddingKind.DOCUMENT) == embed(plain, "D seat")).all()
    assert (embedder.embed(["x" * 50], EmbeddingKind.DOCUMENT) == embed(plain, "D " + "x" * 8)).all()


def test_the_version_changes_with_whatever_changes_a_vector(tmp_path: Path) -> None:
    first = write_small_model(tmp_path / "a" / "small")
    versions = {OnnxFolderEmbedder(first).version}
    changes: tuple[dict[str, Any], ...] = (
        {"seed": 8},
        {"settings": {"pooling": "cls"}},
        {"settings": {"query_prefix": "Q "}},
        {"positions": 64},
    )
    for number, given in enumerate(changes):
        other = write_small_model(tmp_path / str(number) / "small", **given)
        versions.add(OnnxFolderEmbedder(other).version)
    tokenizer = shutil.copytree(first, tmp_path / "t" / "small") / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace('"[CLS]"', '"[BOS]"'))
    versions.add(OnnxFolderEmbedder(tokenizer.parent).version)
    assert len(versions) == 6


def test_weights_beside_the_graph_count_in_the_version(tmp_path: Path) -> None:
    folder = write_small_model(tmp_path / "small")
    model = onnx.load(str(folder / "model.onnx"))
    versions = set()
    for words in (0.0, 1.0):
        model.graph.initializer[0].CopyFrom(
            onnx.numpy_helper.from_array(np.full((259, 16), words, dtype=np.float32), "words")
        )
        (folder / "model.onnx_data").unlink(missing_ok=True)
        onnx.save(model, str(folder / "model.onnx"), save_as_external_data=True, location="model.onnx_data")
        embedder = OnnxFolderEmbedder(folder, threads=1)
        versions.add(embedder.version)
        assert embedder.dimensions == 16
        model = onnx.load(str(folder / "model.onnx"))
    assert len(versions) == 2


def test_the_version_does_not_depend_on_where_the_folder_lies(tmp_path: Path) -> None:
    first = write_small_model(tmp_path / "small")
    moved = shutil.copytree(first, tmp_path / "elsewhere" / "small")
    assert OnnxFolderEmbedder(first).version == OnnxFolderEmbedder(moved).version


def broken(folder: Path, file: str, content: bytes | None) -> str:
    """What is said of a folder in which this file holds something else, or is gone."""
    write_small_model(folder)
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(content)
    with pytest.raises(ModelUnavailable) as caught:
        embed(folder, "seat")
    return caught.value.message


def test_a_broken_folder_says_which_file_is_wrong(tmp_path: Path) -> None:
    assert "no ONNX model" in broken(tmp_path / "a", "model.onnx", None)
    assert "model.onnx is no usable ONNX model" in broken(tmp_path / "b", "model.onnx", b"not a model")
    assert "tokenizer.json is missing" in broken(tmp_path / "c", "tokenizer.json", None)
    assert "tokenizer.json is no usable tokenizer" in broken(tmp_path / "d", "tokenizer.json", b"{}")
    assert "kebab.json cannot be read" in broken(tmp_path / "e", "kebab.json", b"{")
    assert "config.json cannot be read" in broken(tmp_path / "f", "config.json", b"\xff\xfe")


def test_a_graph_that_fails_while_it_runs_is_an_error_and_not_a_traceback(tmp_path: Path) -> None:
    # A limit above the table of positions makes the graph read past its end.
    folder = write_small_model(tmp_path / "small", positions=16, settings={"max_tokens": 4000})
    with pytest.raises(ModelUnavailable, match="cannot run"):
        embed(folder, "x" * 100)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"no ONNX model in .*absent"):
        assert OnnxFolderEmbedder(tmp_path / "absent").dimensions
