"""An embedding model in a folder of this machine: ``model.onnx``, ``tokenizer.json``, laid out as by hubs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from kebab.adapters.embedders.prefixes import Prefixes, prefixes_of
from kebab.adapters.embedders.unit import unit_rows
from kebab.domain.ids import content_hash
from kebab.errors import ModelUnavailable
from kebab.ports import EmbeddingKind, Vectors

_MODEL_FILES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
_SAMPLE = 1 << 20
DEFAULT_MAX_TOKENS = 512


class OnnxFolderEmbedder:
    """Runs the model on the CPU, one text at a time.

    Padding and the shape of a batch change the last bits of a transformer's output; alone, a text always
    gives the same vector. On a CPU a batch is hardly faster. An optional ``kebab.json`` in the folder
    states ``id``, ``pooling`` (mean or cls), ``query_prefix``, ``document_prefix`` and ``max_tokens``.
    """

    def __init__(self, folder: Path, *, threads: int | None = None) -> None:
        self._folder = folder
        self._threads = threads

    @cached_property
    def model_id(self) -> str:
        named = self._own.get("id") or self._config.get("_name_or_path") or self._folder.name
        return str(named)

    @cached_property
    def version(self) -> str:
        """Size and both ends of the file: reading gigabytes at each start would cost more than it tells."""
        with self._file.open("rb") as file:
            head = file.read(_SAMPLE)
            size = file.seek(0, 2)
            file.seek(max(0, size - _SAMPLE))
            tail = file.read()
        return content_hash(f"{size}".encode() + head + tail)[:12]

    @cached_property
    def dimensions(self) -> int:
        return len(self._vector("dimensions"))

    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> Vectors:
        prefixed = [self._prefixes.apply(text, kind) for text in texts]
        rows = [self._vector(text) for text in prefixed]
        return unit_rows(rows, dimensions=self.dimensions, model=self.model_id)

    def _vector(self, text: str) -> Any:
        """The pooled output for one text, not yet of length 1."""
        import numpy as np

        encoding = self._tokenizer.encode(text)
        given = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        wanted = {item.name for item in self._session.get_inputs()}
        feed = {name: np.array([values], dtype=np.int64) for name, values in given.items() if name in wanted}
        output = self._run(feed)
        if output.ndim == 2:
            return output[0]
        return output[0, 0] if self._pooling == "cls" else output[0].mean(axis=0, dtype=np.float64)

    def _run(self, feed: dict[str, Any]) -> Any:
        try:
            return self._session.run(None, feed)[0]
        except _ort_errors() as error:
            raise ModelUnavailable(f"{self._file} cannot run: {error}") from error

    @cached_property
    def _session(self) -> Any:
        ort = self._imported("onnxruntime")
        options = ort.SessionOptions()
        options.log_severity_level = 3
        if self._threads:
            options.intra_op_num_threads = self._threads
        try:
            return ort.InferenceSession(str(self._file), options, providers=["CPUExecutionProvider"])
        except _ort_errors() as error:
            raise ModelUnavailable(f"{self._file} is no usable ONNX model: {error}") from error

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizers = self._imported("tokenizers")
        file = self._folder / "tokenizer.json"
        if not file.is_file():
            raise ModelUnavailable(f"{file} is missing", hint="copy the model's tokenizer.json beside it")
        tokenizer = tokenizers.Tokenizer.from_file(str(file))
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._max_tokens)
        return tokenizer

    @property
    def _max_tokens(self) -> int:
        known = self._own.get("max_tokens") or self._json("sentence_bert_config.json").get("max_seq_length")
        return int(known or min(int(self._config.get("max_position_embeddings", DEFAULT_MAX_TOKENS)), 8192))

    @cached_property
    def _prefixes(self) -> Prefixes:
        if "query_prefix" in self._own or "document_prefix" in self._own:
            return Prefixes(str(self._own.get("query_prefix", "")), str(self._own.get("document_prefix", "")))
        return prefixes_of(self.model_id)

    @cached_property
    def _pooling(self) -> str:
        if "pooling" in self._own:
            return str(self._own["pooling"])
        return "cls" if self._json("1_Pooling/config.json").get("pooling_mode_cls_token") else "mean"

    @cached_property
    def _file(self) -> Path:
        for name in _MODEL_FILES:
            if (self._folder / name).is_file():
                return self._folder / name
        raise ModelUnavailable(
            f"there is no ONNX model in {self._folder}", hint=f"it needs one of {', '.join(_MODEL_FILES)}"
        )

    @cached_property
    def _config(self) -> dict[str, Any]:
        return self._json("config.json")

    @cached_property
    def _own(self) -> dict[str, Any]:
        return self._json("kebab.json")

    def _json(self, name: str) -> dict[str, Any]:
        file = self._folder / name
        if not file.is_file():
            return {}
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelUnavailable(f"{file} cannot be read: {error}") from error
        return found if isinstance(found, dict) else {}

    @staticmethod
    def _imported(name: str) -> Any:
        import importlib

        try:
            return importlib.import_module(name)
        except ImportError as error:
            raise ModelUnavailable(
                f"the package {name} is not installed", hint="pip install 'kebab[onnx]'"
            ) from error


def _ort_errors() -> tuple[type[Exception], ...]:
    """What onnxruntime raises: its own exceptions share no public base class."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    found = (getattr(state, name) for name in dir(state))
    own = (item for item in found if isinstance(item, type) and issubclass(item, Exception))
    return (OSError, RuntimeError, ValueError, *own)
