"""A small transformer in ONNX with its tokenizer, made on the spot: no hub is needed to test with a real run.

One layer of self-attention over byte tokens. Weights come from a fixed seed, positions from a table of
limited length, and what stands beside a text in a batch would show in its vector if padding were wrong.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.processors import TemplateProcessing

SPECIAL = ("[PAD]", "[CLS]", "[SEP]")


def write_small_model(
    folder: Path,
    *,
    dimensions: int = 16,
    positions: int = 128,
    seed: int = 7,
    file: str = "model.onnx",
    pooled: bool = False,
    settings: dict[str, object] | None = None,
) -> Path:
    """Write model, tokenizer and their configuration into a new folder; ``settings`` become kebab.json."""
    target = folder / file
    target.parent.mkdir(parents=True, exist_ok=True)
    tokenizer = _tokenizer()
    graph = _graph(tokenizer.get_vocab_size(), dimensions, positions=positions, seed=seed, pooled=pooled)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.checker.check_model(model)
    onnx.save(model, str(target))
    tokenizer.save(str(folder / "tokenizer.json"))
    _write(folder / "config.json", {"max_position_embeddings": positions, "pad_token_id": 0})
    _write(folder / "tokenizer_config.json", {"model_max_length": positions, "pad_token": "[PAD]"})
    if settings is not None:
        _write(folder / "kebab.json", settings)
    return folder


def _write(file: Path, values: dict[str, object]) -> None:
    file.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")


def _tokenizer() -> Tokenizer:
    """Bytes as tokens, so that any script can be read; [CLS] and [SEP] around them."""
    letters = [*SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(BPE(vocab={letter: n for n, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    # As hubs write it: a fixed padding that an adapter must not let through.
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]", length=32)
    return tokenizer


def _graph(vocabulary: int, dimensions: int, *, positions: int, seed: int, pooled: bool) -> onnx.GraphProto:
    random = np.random.default_rng(seed)

    def weights(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(random.normal(size=shape).astype(np.float32), name)

    def constant(name: str, value: object, dtype: type) -> onnx.TensorProto:
        return numpy_helper.from_array(np.array(value, dtype=dtype), name)

    node = helper.make_node
    nodes = [
        node("Gather", ["words", "input_ids"], ["word_rows"]),
        node("Shape", ["input_ids"], ["shape"]),
        node("Gather", ["shape", "one"], ["length"]),
        node("Range", ["zero", "length", "one"], ["places"]),
        node("Gather", ["positions", "places"], ["place_rows"]),
        node("Add", ["word_rows", "place_rows"], ["x"]),
        node("MatMul", ["x", "to_query"], ["q"]),
        node("MatMul", ["x", "to_key"], ["k"]),
        node("Transpose", ["k"], ["k_t"], perm=[0, 2, 1]),
        node("MatMul", ["q", "k_t"], ["scores"]),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Sub", ["one_f", "mask"], ["hidden_mask"]),
        node("Mul", ["hidden_mask", "far"], ["penalty_row"]),
        node("Unsqueeze", ["penalty_row", "one_axis"], ["penalty"]),
        node("Add", ["scores", "penalty"], ["masked"]),
        node("Softmax", ["masked"], ["attention"], axis=-1),
        node("MatMul", ["attention", "x"], ["mixed"]),
        node("Add", ["x", "mixed"], ["last_hidden_state"]),
    ]
    shape: list[str | int] = ["batch", "length", dimensions]
    output = "last_hidden_state"
    if pooled:
        nodes.append(node("ReduceMean", ["last_hidden_state"], ["sentence_embedding"], axes=[1], keepdims=0))
        output, shape = "sentence_embedding", ["batch", dimensions]
    return helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"]) for n in _INPUTS],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        initializer=[
            weights("words", vocabulary, dimensions),
            weights("positions", positions, dimensions),
            weights("to_query", dimensions, dimensions),
            weights("to_key", dimensions, dimensions),
            constant("zero", 0, np.int64),
            constant("one", 1, np.int64),
            constant("one_axis", [1], np.int64),
            constant("one_f", 1.0, np.float32),
            constant("far", -1e4, np.float32),
        ],
    )


_INPUTS = ("input_ids", "attention_mask")
