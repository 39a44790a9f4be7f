"""What the vector indexes share: how a model's table is called, and what a query vector must be."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.domain.ids import digest
from kebab.errors import InvalidInput, ModelMismatch
from kebab.ports import ModelKey

if TYPE_CHECKING:
    from kebab.ports import Vectors


_ENDINGS = ("int8", "lance", "flat", "checkpoint.json", "sums.json")


def table_name(model: ModelKey) -> str:
    """``chunk_embeddings_<model>_<dim>_<digest>``; the digest tells apart what the readable part cannot.

    Two models may differ only in signs that a file name cannot hold, and two versions share their name.
    """
    sign = digest("vectors", model.model_id, model.version, model.dimensions)[:8]
    return f"chunk_embeddings_{_slug(model.model_id)}_{model.dimensions}_{sign}"


def _slug(model_id: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]+", "-", model_id).strip("-").lower() or "model"


def remove_superseded(folder: Path, model: ModelKey, *, keep: Collection[str]) -> None:
    """Remove the model's other forms, among them those that carried no digest in their name.

    ``keep`` holds the endings of the form that is complete by now; two of them would only cost disk.
    """
    name = table_name(model)
    gone = {f"{name}.{ending}" for ending in _ENDINGS if ending not in keep}
    gone |= {f"{name.rpartition('_')[0]}.{ending}" for ending in _ENDINGS}
    for path in folder.iterdir():
        if path.name in gone:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def unit_query(vector: Vectors, model: ModelKey) -> Vectors:
    """The vector at length 1, or 0. Raises ModelMismatch, and InvalidInput for what is no number."""
    import numpy as np

    flat = np.asarray(vector, dtype=np.float32).reshape(-1)
    if len(flat) != model.dimensions:
        raise ModelMismatch(
            f"the query has {len(flat)} dimensions, the index of {model.model_id} has {model.dimensions}"
        )
    # Not linalg.norm: its last bits depend on the processor, and the scores of every hit with them.
    norm = float(np.sqrt(np.square(flat, dtype=np.float64).sum()))
    if not np.isfinite(norm):
        raise InvalidInput("the query vector holds a number that is not finite")
    return flat / np.float32(norm) if norm else flat
