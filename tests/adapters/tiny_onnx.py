"""A real ONNX model small enough to make in a test: a table of token vectors with a tokenizer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

WORDS = ("[UNK]", "rope", "ship", "anchor", "harbour", "dry", "밧줄", "배")


def make_model(folder: Path, *, seed: int = 1, dimensions: int = 16) -> Path:
    """Write model.onnx and tokenizer.json; another seed gives other vectors under the same name."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    folder.mkdir(parents=True, exist_ok=True)
    table = np.random.default_rng(seed).normal(size=(len(WORDS), dimensions)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["hidden"])],
        "tiny",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])],
        [helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["batch", "tokens", dimensions])],
        [numpy_helper.from_array(table, "table")],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), str(folder / "model.onnx"))
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "kebab.json").write_text(json.dumps({"id": "tiny"}), encoding="utf-8")
    return folder
