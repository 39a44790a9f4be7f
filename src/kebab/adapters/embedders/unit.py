"""Bringing what a model returned to the shape the port promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kebab.errors import ModelMismatch, ModelUnavailable
from kebab.ports import Vectors


def unit_rows(rows: Sequence[Any], *, dimensions: int, model: str) -> Vectors:
    """One float32 row a text, each of length 1; a row of zeros becomes one fixed direction.

    Raises ModelMismatch when a row has another number of dimensions than the model is known by,
    ModelUnavailable when a row holds something that is no finite number.
    """
    import numpy as np

    if not len(rows):
        return np.zeros((0, dimensions), dtype=np.float32)
    widths = {len(row) for row in rows}
    if widths != {dimensions}:
        raise ModelMismatch(
            f"{model} returned vectors of {sorted(widths)} dimensions instead of {dimensions}",
            hint="another model answers under this name: kebab models use, then kebab index --embeddings",
        )
    matrix = np.asarray(rows, dtype=np.float64)
    if not np.isfinite(matrix).all():
        raise ModelUnavailable(
            f"{model} returned a vector that is not finite",
            hint="half-precision weights overflow on some machines: try the model in full precision",
        )
    lengths = np.sqrt((matrix * matrix).sum(axis=1, keepdims=True))
    matrix = np.where(lengths > 0, matrix / np.where(lengths > 0, lengths, 1), dimensions**-0.5)
    return matrix.astype(np.float32)
