"""Any model that fastembed lists, and multilingual-e5-small, which it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from kebab.adapters.embedders.fingerprint import fingerprint
from kebab.adapters.embedders.onnx_errors import onnx_errors
from kebab.adapters.embedders.prefixes import prefixes_of
from kebab.adapters.embedders.unit import unit_rows
from kebab.disk.private import make_folder
from kebab.errors import ModelUnavailable
from kebab.ports import EmbeddingKind, Vectors

E5_SMALL = "intfloat/multilingual-e5-small"


class FastembedEmbedder:
    """Texts go in one at a time, so that what stands beside a text cannot change its vector.

    The first use downloads the model into ``cache_dir``, unless ``folder`` holds it already.
    """

    def __init__(
        self, model: str, *, cache_dir: Path, threads: int | None = None, folder: Path | None = None
    ) -> None:
        self.model_id = model or E5_SMALL
        self._cache_dir = cache_dir
        self._threads = threads
        self._folder = folder
        self._prefixes = prefixes_of(self.model_id)

    def __reduce__(self) -> tuple[Callable[[str], FastembedEmbedder], tuple[str]]:
        """Another process loads the model itself."""
        made = partial(type(self), cache_dir=self._cache_dir, threads=self._threads, folder=self._folder)
        return made, (self.model_id,)

    @cached_property
    def version(self) -> str:
        """Of a model by name, ``fastembed``; of one in a folder, its files count too."""
        if self._folder is None:
            return "fastembed"
        files = sorted(self._folder.rglob("*.onnx*")) + sorted(self._folder.glob("tokenizer.json"))
        return f"fastembed-{fingerprint(files)}"

    @cached_property
    def dimensions(self) -> int:
        try:
            return int(_library().get_embedding_size(self.model_id))
        except ValueError as error:
            raise ModelUnavailable(
                f"fastembed knows no model {self.model_id!r}", hint="see: kebab models list --all"
            ) from error

    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> Vectors:
        prefixed = [self._prefixes.apply(text, kind) for text in texts]
        model = self._model
        try:
            rows = list(model.embed(prefixed, batch_size=1))
        except onnx_errors() as error:
            raise ModelUnavailable(f"fastembed cannot run {self.model_id}: {error}") from error
        return unit_rows(rows, dimensions=self.dimensions, model=self.model_id)

    @cached_property
    def _model(self) -> Any:
        given = {"specific_model_path": str(self._folder)} if self._folder else {}
        library = _library()
        try:
            make_folder(self._cache_dir)
            return library(self.model_id, cache_dir=str(self._cache_dir), threads=self._threads, **given)
        # A tokenizer that cannot be read raises the bare class and nothing narrower.
        except Exception as error:
            raise ModelUnavailable(
                f"fastembed cannot load {self.model_id}: {error}",
                hint="it is downloaded at first use: connect once, or set models.embedding.path to a folder",
            ) from error


def supported_models() -> list[tuple[str, int]]:
    """Names and dimensions of what can be downloaded, by name. Raises ModelUnavailable."""
    known = _library().list_supported_models()
    return sorted((str(model["model"]), int(model["dim"])) for model in known)


def _library() -> Any:
    """fastembed's class for text models, with e5-small registered."""
    try:
        from fastembed import TextEmbedding
        from fastembed.common.model_description import ModelSource, PoolingType
    except ImportError as error:
        raise ModelUnavailable(
            "the package fastembed is not installed", hint="pip install 'kebab[fastembed]'"
        ) from error
    if not any(known["model"] == E5_SMALL for known in TextEmbedding.list_supported_models()):
        TextEmbedding.add_custom_model(
            model=E5_SMALL,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=E5_SMALL),
            dim=384,
        )
    return TextEmbedding
