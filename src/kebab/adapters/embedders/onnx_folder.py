"""An embedding model in a folder of this machine: ``model.onnx``, ``tokenizer.json``, laid out as by hubs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from kebab.adapters.embedders.fingerprint import fingerprint
from kebab.adapters.embedders.onnx_errors import onnx_errors
from kebab.adapters.embedders.prefixes import Prefixes, prefixes_of
from kebab.adapters.embedders.unit import unit_rows
from kebab.errors import ModelUnavailable
from kebab.ports import EmbeddingKind, Vectors

_MODEL_FILES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
_LONGEST = 8192
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

    def __reduce__(self) -> tuple[Callable[[Path], OnnxFolderEmbedder], tuple[Path]]:
        """Another process loads the model itself."""
        return partial(type(self), threads=self._threads), (self._folder,)

    @cached_property
    def model_id(self) -> str:
        """The name in ``kebab.json``, the one in ``config.json``, or the folder's."""
        told = str(self._config.get("_name_or_path") or "")
        # Exporters write the path of their own machine there, which names nothing here.
        told = "" if told.startswith(("/", ".", "~")) or "\\" in told else told
        return str(self._own.get("id") or told or self._folder.name)

    @cached_property
    def version(self) -> str:
        """Weights, tokenizer and the settings that shape a vector."""
        weights = sorted(self._file.parent.glob(f"{self._file.name}*"))
        settings = (self._pooling, self._prefixes.query, self._prefixes.document, str(self._max_tokens))
        return fingerprint([*weights, self._tokenizer_file], settings=settings)

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

        wanted = {item.name for item in self._session.get_inputs()}
        encoding = self._tokenizer.encode(text)
        given = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        feed = {name: np.array([values], dtype=np.int64) for name, values in given.items() if name in wanted}
        output = self._run(feed)
        if output.ndim == 2:
            return output[0]
        return output[0, 0] if self._pooling == "cls" else output[0].mean(axis=0, dtype=np.float64)

    def _run(self, feed: dict[str, Any]) -> Any:
        try:
            return self._session.run(None, feed)[0]
        except onnx_errors() as error:
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
        except onnx_errors() as error:
            raise ModelUnavailable(f"{self._file} is no usable ONNX model: {error}") from error

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizers = self._imported("tokenizers")
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(self._tokenizer_file))
        # The engine raises the bare class and nothing narrower.
        except Exception as error:
            raise ModelUnavailable(f"{self._tokenizer_file} is no usable tokenizer: {error}") from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._max_tokens)
        return tokenizer

    @cached_property
    def _tokenizer_file(self) -> Path:
        file = self._folder / "tokenizer.json"
        if not file.is_file():
            raise ModelUnavailable(f"{file} is missing", hint="copy the model's tokenizer.json beside it")
        return file

    @cached_property
    def _max_tokens(self) -> int:
        told = (
            self._own.get("max_tokens"),
            self._json("sentence_bert_config.json").get("max_seq_length"),
            self._json("tokenizer_config.json").get("model_max_length"),
            self._positions,
        )
        # An unknown limit is written as null, 0 or 1e30.
        known = (value for value in told if isinstance(value, int) and 0 < value < 1_000_000)
        return min(next(known, DEFAULT_MAX_TOKENS), _LONGEST)

    @property
    def _positions(self) -> int | None:
        """How many tokens the table of positions holds; RoBERTa's begins after the padding token's id."""
        positions = self._config.get("max_position_embeddings")
        if not isinstance(positions, int):
            return None
        taken = int(self._config.get("pad_token_id") or 0) + 1
        return positions - taken if "roberta" in str(self._config.get("model_type", "")) else positions

    @cached_property
    def _prefixes(self) -> Prefixes:
        if "query_prefix" in self._own or "document_prefix" in self._own:
            return Prefixes(str(self._own.get("query_prefix", "")), str(self._own.get("document_prefix", "")))
        # An export may name only the model it was trained from; the folder's name then tells the family.
        return prefixes_of(f"{self.model_id} {self._folder.name}")

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
