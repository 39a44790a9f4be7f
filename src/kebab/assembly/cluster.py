"""Other machines that read and embed, as the settings name them."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from kebab.assembly.documents import InstalledEngines
from kebab.errors import ConfigInvalid, KebabError
from kebab.ingest.parse.reading import Reading
from kebab.ingest.staff import Cluster
from kebab.ingest.workers import one_process
from kebab.ports import Embedder, Job, Workers

if TYPE_CHECKING:
    from kebab.config import Settings

_SHAPES_RESULTS = (
    "kebab", "numpy", "onnxruntime", "tokenizers", "fastembed", "PyStemmer", "selectolax", "pypdfium2",
    "python-calamine", "unhwp", "tesserocr", "tree-sitter", "tree-sitter-language-pack",
)  # fmt: skip
"""Packages whose other version may read other text out of a file, or give other vectors."""


@dataclass(frozen=True, slots=True)
class Equipment:
    """What the machine that it is called on works with: versions by name."""

    engines: InstalledEngines
    embedder: Embedder | None

    def __call__(self) -> dict[str, str]:
        found = {"Python": ".".join(platform.python_version_tuple()[:2])}
        found |= {name: _version(name) for name in _SHAPES_RESULTS}
        if self.engines.images is not None:
            found["OCR"] = self._ocr()
        if self.embedder is not None:
            found["embedding model"] = self._model(self.embedder)
        return found

    def _ocr(self) -> str:
        try:
            recogniser = self.engines.ocr()
        except KebabError:
            return "missing"
        return recogniser.version if recogniser is not None else "missing"

    @staticmethod
    def _model(embedder: Embedder) -> str:
        try:
            return f"{embedder.model_id} {embedder.version}"
        except KebabError:
            return "missing"


def build_cluster(
    settings: Settings, *, installed: InstalledEngines, reading: Reading, embedder: Embedder | None
) -> Cluster | None:
    """The cluster that ``ingest.on`` names; None where all work is done here.

    Raises ConfigInvalid where the settings also name a model for images or recordings.
    """
    if not settings.ingest.on:
        return None
    if installed.captions or installed.recordings:
        raise ConfigInvalid(
            "ingest.on cannot be combined with models.vision or models.speech",
            hint="read recordings and describe images on this machine: leave ingest.on and --on out",
        )
    travelling, images = embedder if _travels(settings) else None, installed.images
    # A node looks for the data where its own system keeps it, and keeps nothing of what it reads.
    there = replace(images, data=settings.ingest.ocr_data or None, cache=None) if images else None
    engines = InstalledEngines(there)
    return Cluster(
        hire=partial(_hired, settings.ingest.on, settings.ingest.workers, Equipment(engines, travelling)),
        reading=replace(reading, installed=engines),
        embeds=travelling is not None,
    )


def _hired(address: str, most: int, equipment: Equipment, jobs: Mapping[str, Job], memory: int) -> Workers:
    from kebab.adapters.ray_workers import RayWorkers

    return RayWorkers(jobs, address=address, most=most, memory=memory, hire=one_process, equipment=equipment)


def _travels(settings: Settings) -> bool:
    """Whether nodes can use the model from their own disk: they are never made to contact anybody."""
    model = settings.models.embedding
    return model.provider in ("static", "onnx") or (model.provider == "fastembed" and bool(model.path))


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
