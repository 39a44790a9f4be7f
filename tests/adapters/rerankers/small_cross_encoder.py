"""A small cross-encoder in ONNX with its tokenizer, made on the spot.

It scores a pair by how often the text's tokens stand in the query, so a test can say who must come first. A
token of the query and one of the text are told apart by their type, as in a real cross-encoder.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

SPECIAL = ("[PAD]", "[CLS]", "[SEP]", "[UNK]")
WORDS = ("seat", "held", "minutes", "charge", "좌석", "예약", "환불")
POSITIONS = 64


def write_cross_encoder(folder: Path, *, file: str = "onnx/model.onnx", factor: float = 1.0) -> Path:
    """Write graph, tokenizer and configuration; scores are the number of shared words times ``factor``."""
    target = folder / file
    target.parent.mkdir(parents=True, exist_ok=True)
    model = helper.make_model(_graph(factor), opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.checker.check_model(model)
    onnx.save(model, str(target))
    _tokenizer().save(str(folder / "tokenizer.json"))
    _write(folder / "config.json", {"pad_token_id": 0})
    _write(folder / "tokenizer_config.json", {"model_max_length": POSITIONS, "pad_token": "[PAD]"})
    _write(folder / "special_tokens_map.json", {"pad_token": "[PAD]"})
    return folder


def _write(file: Path, values: dict[str, object]) -> None:
    file.write_text(json.dumps(values), encoding="utf-8")


def _tokenizer() -> Tokenizer:
    words = {word: number for number, word in enumerate([*SPECIAL, *WORDS])}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    return tokenizer


def _graph(factor: float) -> onnx.GraphProto:
    """Each known word is an axis: query side times text side, summed."""
    size = len(SPECIAL) + len(WORDS)
    table = np.zeros((size, len(WORDS)), dtype=np.float32)
    table[len(SPECIAL) :] = np.eye(len(WORDS), dtype=np.float32)
    node = helper.make_node
    nodes = [
        node("Gather", ["table", "input_ids"], ["rows"]),
        node("Cast", ["token_type_ids"], ["of_text"], to=TensorProto.FLOAT),
        node("Cast", ["attention_mask"], ["real"], to=TensorProto.FLOAT),
        node("Sub", ["real", "of_text"], ["of_query"]),
        node("Unsqueeze", ["of_query", "last"], ["query_mask"]),
        node("Unsqueeze", ["of_text", "last"], ["text_mask"]),
        node("Mul", ["rows", "query_mask"], ["query_rows"]),
        node("Mul", ["rows", "text_mask"], ["text_rows"]),
        node("ReduceSum", ["query_rows", "first"], ["query_sum"], keepdims=0),
        node("ReduceSum", ["text_rows", "first"], ["text_sum"], keepdims=0),
        node("Mul", ["query_sum", "text_sum"], ["shared"]),
        node("ReduceSum", ["shared", "first"], ["counted"], keepdims=1),
        node("Mul", ["counted", "factor"], ["logits"]),
    ]
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    return helper.make_graph(
        nodes,
        "small-cross-encoder",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])],
        initializer=[
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(np.array([1], dtype=np.int64), "first"),
            numpy_helper.from_array(np.array([2], dtype=np.int64), "last"),
            numpy_helper.from_array(np.array(factor, dtype=np.float32), "factor"),
        ],
    )
