"""How a vector lies in a row: numbers, then a checksum of them.

The built-in model's vectors are kept as int8 with a scale each, which costs no quality and a quarter of the
disk; computing them again takes seconds. What another model gave may have cost hours or money: float32.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from kebab.errors import Corrupt
from kebab.ports import ModelKey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kebab.ports import Vectors

COMPACT_MODELS = frozenset({"kebab-static"})
INT8, FLOAT32 = "int8", "float32"
_SUM_BYTES = 4


def form_of(model: ModelKey) -> str:
    """The form that new vectors of a model get."""
    return INT8 if model.model_id in COMPACT_MODELS else FLOAT32


def packed(vectors: Vectors, form: str) -> Iterator[bytes]:
    """One blob a row."""
    return (_sealed(row) for row in (_int8(vectors) if form == INT8 else _float32(vectors)))


def unpacked(blob: bytes, form: str, model: ModelKey) -> Vectors:
    """The vector of a blob; raises Corrupt where it is not what was packed."""
    import numpy as np

    content = blob[:-_SUM_BYTES]
    size = model.dimensions + 4 if form == INT8 else 4 * model.dimensions
    if len(content) != size or not is_sound(blob):
        raise Corrupt(f"a stored vector of {model.model_id} is damaged", hint="run `kebab doctor --repair`")
    if form == INT8:
        numbers = np.frombuffer(content[:-4], dtype=np.int8).astype(np.float32)
        numbers *= np.frombuffer(content[-4:], dtype="<f4")
        return numbers
    return np.frombuffer(content, dtype="<f4").astype(np.float32, copy=False)


def is_sound(blob: bytes) -> bool:
    """Whether the checksum fits."""
    return zlib.crc32(blob[:-_SUM_BYTES]).to_bytes(_SUM_BYTES, "little") == blob[-_SUM_BYTES:]


def _sealed(content: bytes) -> bytes:
    return content + zlib.crc32(content).to_bytes(_SUM_BYTES, "little")


def _float32(vectors: Vectors) -> Iterator[bytes]:
    return (row.tobytes() for row in vectors.astype("<f4", copy=False))


def _int8(vectors: Vectors) -> Iterator[bytes]:
    import numpy as np

    scales = (np.abs(vectors).max(axis=1) / 127).astype("<f4")
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = np.rint(vectors / scales[:, None])
    # A vector of zeros has the scale 0; what is no number cannot be kept, and is found by its length of 0.
    rows = np.where(np.isfinite(rows), rows, 0).astype(np.int8)
    return (row.tobytes() + scale.tobytes() for row, scale in zip(rows, scales, strict=True))
