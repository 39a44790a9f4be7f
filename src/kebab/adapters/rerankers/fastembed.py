"""Any cross-encoder that fastembed lists, or one in a folder of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from kebab.adapters.embedders.onnx_errors import onnx_errors
from kebab.disk.private import make_folder
from kebab.errors import ModelUnavailable

DEFAULT = "BAAI/bge-reranker-v2-m3-int8"
"""Reads Korean and English; the other multilingual one that fastembed lists may not be used commercially."""

_MODEL_FILES = ("onnx/model.onnx", "model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx")


class FastembedReranker:
    """Pairs go in one at a time, so that what stands beside a text cannot change its score.

    The first use downloads the model into ``cache_dir``, unless ``folder`` holds it already. A folder whose
    model fastembed does not list is run as it is: it needs an ONNX graph and its tokenizer's files.
    """

    def __init__(
        self, model: str, *, cache_dir: Path, threads: int | None = None, folder: Path | None = None
    ) -> None:
        self.model_id = model or (folder.name if folder else DEFAULT)
        self._cache_dir = cache_dir
        self._threads = threads
        self._folder = folder

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        model = self._model
        try:
            return [float(found) for found in model.rerank(query, list(texts), batch_size=1)]
        except onnx_errors() as error:
            raise ModelUnavailable(f"fastembed cannot run {self.model_id}: {error}") from error

    @cached_property
    def _model(self) -> Any:
        library = _library()
        name = self._listed(library)
        given = {"specific_model_path": str(self._folder)} if self._folder else {}
        try:
            make_folder(self._cache_dir)
            return library(name, cache_dir=str(self._cache_dir), threads=self._threads, **given)
        # A tokenizer that cannot be read raises the bare class and nothing narrower.
        except Exception as error:
            raise ModelUnavailable(
                f"fastembed cannot load {self.model_id}: {error}",
                hint="it is downloaded at first use: connect once, or set models.reranker.path to a folder",
            ) from error

    def _listed(self, library: Any) -> str:
        """The name that fastembed knows the model by; an unlisted one in a folder is made known to it."""
        if self.model_id.lower() in _names(library):
            return self.model_id
        if self._folder is None:
            listed = sorted(str(known["model"]) for known in library.list_supported_models())
            raise ModelUnavailable(
                f"fastembed knows no reranker {self.model_id!r}", hint=f"one of {', '.join(listed)}"
            )
        return _registered(library, self._graph(self._folder))

    def _graph(self, folder: Path) -> str:
        found = next((name for name in _MODEL_FILES if (folder / name).is_file()), None)
        if found is None:
            raise ModelUnavailable(
                f"there is no ONNX model in {folder}", hint=f"it needs one of {', '.join(_MODEL_FILES)}"
            )
        return found


def _names(library: Any) -> set[str]:
    return {str(known["model"]).lower() for known in library.list_supported_models()}


def _registered(library: Any, file: str) -> str:
    """fastembed's registry is one for the process and needs only the file's place: that names the entry."""
    from fastembed.common.model_description import ModelSource

    name = f"kebab/{file}"
    if name.lower() not in _names(library):
        # Never read: the folder is given with every use of the name.
        source = ModelSource(hf=name)
        library.add_custom_model(model=name, sources=source, model_file=file)
    return name


def _library() -> Any:
    """fastembed's class for cross-encoders."""
    try:
        from fastembed.rerank.cross_encoder import TextCrossEncoder
    except ImportError as error:
        raise ModelUnavailable(
            "the package fastembed is not installed", hint="pip install 'kebab[fastembed]'"
        ) from error
    return TextCrossEncoder
