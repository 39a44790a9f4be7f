"""How a vector lies in a row: numbers, then a checksum of them.

The built-in model's vectors are kept as whole numbers of 12 bits with a scale each; computing them again
takes seconds. With eight bits ranks move where two documents are almost equally near. What another model
gave may have cost hours or money: float32.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from kebab.errors import Corrupt
from kebab.ports import ModelKey

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from kebab.ports import Vectors

COMPACT_MODELS = frozenset({"kebab-static"})
INT12, FLOAT32 = "int12", "float32"
_LARGEST = 2047
_SUM_BYTES = 4
_BLOCK = 512
"""Rows that are turned at once: on the way they take several times the room that they need."""


def form_of(model: ModelKey) -> str:
    """The form that new vectors of a model get."""
    return INT12 if model.model_id in COMPACT_MODELS else FLOAT32


def packed(vectors: Vectors, form: str) -> Iterator[bytes]:
    """One blob a row."""
    turn = _int12 if form == INT12 else _float32
    blocks = (vectors[start : start + _BLOCK] for start in range(0, len(vectors), _BLOCK))
    return (_sealed(row) for block in blocks for row in turn(block))


def unpacked(blob: bytes, form: str, model: ModelKey) -> Vectors:
    """The vector of a blob; raises Corrupt where it is not what was packed."""
    row: Vectors = unpacked_all([blob], form, model)[0]
    return row


def unpacked_all(blobs: Sequence[bytes], form: str, model: ModelKey) -> Vectors:
    """The vectors of blobs, of one at least, a row each; raises Corrupt where one is not what was packed."""
    import numpy as np

    width = 3 * _pairs(model.dimensions) if form == INT12 else 4 * model.dimensions
    size = width + (4 if form == INT12 else 0) + _SUM_BYTES
    if not all(len(blob) == size and is_sound(blob) for blob in blobs):
        raise Corrupt(f"a stored vector of {model.model_id} is damaged", hint="run `kebab doctor --repair`")
    found = np.empty((len(blobs), model.dimensions), dtype=np.float32)
    for start in range(0, len(blobs), _BLOCK):
        some = blobs[start : start + _BLOCK]
        rows = np.frombuffer(b"".join(some), dtype=np.uint8).reshape(len(some), size)
        content = np.ascontiguousarray(rows[:, :width])
        if form == INT12:
            scales = np.ascontiguousarray(rows[:, width : width + 4]).view("<f4")
            found[start : start + _BLOCK] = _spread(content)[:, : model.dimensions] * scales
        else:
            found[start : start + _BLOCK] = content.view("<f4")
    return found


def is_sound(blob: bytes) -> bool:
    """Whether the checksum fits."""
    return zlib.crc32(blob[:-_SUM_BYTES]).to_bytes(_SUM_BYTES, "little") == blob[-_SUM_BYTES:]


def _sealed(content: bytes) -> bytes:
    return content + zlib.crc32(content).to_bytes(_SUM_BYTES, "little")


def _float32(vectors: Vectors) -> Iterator[bytes]:
    return (row.tobytes() for row in vectors.astype("<f4", copy=False))


def _int12(vectors: Vectors) -> Iterator[bytes]:
    import numpy as np

    scales = (np.abs(vectors).max(axis=1, initial=0) / _LARGEST).astype("<f4")
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = np.rint(vectors / scales[:, None])
    # A vector of zeros has the scale 0; of what is no number only the scale is kept, which is none either.
    whole = np.where(np.isfinite(rows), rows, 0).astype(np.int16)
    return (row.tobytes() + scale.tobytes() for row, scale in zip(_dense(whole), scales, strict=True))


def _pairs(dimensions: int) -> int:
    return (dimensions + 1) // 2


def _dense(numbers: NDArray[np.int16]) -> NDArray[np.uint8]:
    """Two numbers in three bytes, row by row."""
    import numpy as np

    raised = (numbers + (_LARGEST + 1)).astype(np.uint16)
    if raised.shape[1] % 2:
        raised = np.pad(raised, ((0, 0), (0, 1)))
    first, second = raised[:, 0::2], raised[:, 1::2]
    parts = (first & 0xFF, (first >> 8) | ((second & 0xF) << 4), second >> 4)
    return np.stack(parts, axis=2).astype(np.uint8).reshape(len(raised), -1)


def _spread(content: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The numbers, row by row."""
    import numpy as np

    parts = content.reshape(len(content), -1, 3).astype(np.int16)
    low, middle, high = parts[:, :, 0], parts[:, :, 1], parts[:, :, 2]
    pairs = np.stack((low | ((middle & 0xF) << 8), (middle >> 4) | (high << 4)), axis=2)
    return (pairs.reshape(len(content), -1) - (_LARGEST + 1)).astype(np.float32)
