"""fastembed with models from a folder, so that nothing is downloaded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kebab.adapters.embedders.fastembed import E5_SMALL, FastembedEmbedder, supported_models
from kebab.adapters.embedders.onnx_folder import OnnxFolderEmbedder
from kebab.errors import ModelMismatch, ModelUnavailable
from kebab.ports import EmbeddingKind
from tests.adapters.embedders.small_model import write_small_model

TEXTS = ["seat hold", "전세 계약 갱신", ""]


def e5_folder(folder: Path, **given: Any) -> Path:
    """The layout of the real model, with its 384 dimensions."""
    return write_small_model(folder, **{"dimensions": 384, **given}, file="onnx/model.onnx")


def e5(folder: Path, *, cache: Path) -> FastembedEmbedder:
    return FastembedEmbedder("", cache_dir=cache, threads=1, folder=folder)


def test_without_a_name_it_is_multilingual_e5_small(tmp_path: Path) -> None:
    embedder = FastembedEmbedder("", cache_dir=tmp_path / "cache")
    assert (embedder.model_id, embedder.dimensions) == ("intfloat/multilingual-e5-small", 384)
    assert not (tmp_path / "cache").exists()


def test_e5_small_runs_from_its_folder_with_its_prefixes(tmp_path: Path) -> None:
    folder = e5_folder(tmp_path / "model")
    plain = OnnxFolderEmbedder(folder, threads=1)
    found = e5(folder, cache=tmp_path / "cache")
    for kind, prefix in ((EmbeddingKind.QUERY, "query: "), (EmbeddingKind.DOCUMENT, "passage: ")):
        expected = plain.embed([prefix + text for text in TEXTS], kind)
        np.testing.assert_allclose(found.embed(TEXTS, kind), expected, atol=1e-6)


def test_what_fastembed_lists_can_be_named_and_e5_small_is_among_it() -> None:
    models = supported_models()
    assert (E5_SMALL, 384) in models
    assert len(models) > 20
    assert models == sorted(models)


def test_a_model_it_does_not_list_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="knows no model 'nobody/nothing'"):
        assert FastembedEmbedder("nobody/nothing", cache_dir=tmp_path).dimensions


def test_a_folder_with_another_model_is_a_mismatch(tmp_path: Path) -> None:
    folder = e5_folder(tmp_path / "model", dimensions=16)
    with pytest.raises(ModelMismatch, match=r"\[16\] dimensions instead of 384"):
        e5(folder, cache=tmp_path / "cache").embed(["seat"], EmbeddingKind.QUERY)


@pytest.mark.parametrize(
    ("file", "content"),
    [("onnx/model.onnx", b"not a model"), ("tokenizer.json", b"{}"), ("tokenizer_config.json", b"{")],
)
def test_a_broken_folder_is_an_error_and_not_a_traceback(tmp_path: Path, file: str, content: bytes) -> None:
    folder = e5_folder(tmp_path / "model")
    (folder / file).write_bytes(content)
    with pytest.raises(ModelUnavailable, match="cannot load"):
        e5(folder, cache=tmp_path / "cache").embed(["seat"], EmbeddingKind.QUERY)


def test_a_graph_that_fails_while_it_runs_is_an_error_and_not_a_traceback(tmp_path: Path) -> None:
    folder = e5_folder(tmp_path / "model", positions=16)
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 4000, "pad_token": "[PAD]"}')
    with pytest.raises(ModelUnavailable, match="cannot run"):
        e5(folder, cache=tmp_path / "cache").embed(["x" * 100], EmbeddingKind.QUERY)


def test_the_version_tells_two_folders_apart(tmp_path: Path) -> None:
    one = e5_folder(tmp_path / "one")
    same = shutil.copytree(one, tmp_path / "same")
    other = e5_folder(tmp_path / "other", seed=8)
    versions = [e5(folder, cache=tmp_path / "cache").version for folder in (one, same, other)]
    assert versions[0] == versions[1] != versions[2]
    assert FastembedEmbedder("", cache_dir=tmp_path).version == "fastembed"


def test_a_model_that_was_never_downloaded_says_how_to_get_it(tmp_path: Path) -> None:
    """In a process that may not use the network, which the library decides when it is imported."""
    script = """if True:
        import sys
        from pathlib import Path
        from kebab.adapters.embedders.fastembed import FastembedEmbedder
        from kebab.errors import ModelUnavailable
        from kebab.ports import EmbeddingKind
        try:
            FastembedEmbedder("", cache_dir=Path(sys.argv[1])).embed(["seat"], EmbeddingKind.QUERY)
        except ModelUnavailable as error:
            print(error.message, error.hint)
    """
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "cannot load intfloat/multilingual-e5-small" in done.stdout
    assert "connect once, or set models.embedding.path" in done.stdout
