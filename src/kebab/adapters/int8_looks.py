"""What signs tell of vectors: how far each is from a query, and what its cosine is about.

A sign is a bit for each number of a vector: whether it is above zero. What is told of a row is a whole number
of that row and the query alone: nothing depends on the order of the rows (docs/decisions/0016-two-looks.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kebab.adapters.int8_segments import signs_of, squares_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kebab.adapters.int8_segments import Codes, Mask, Signs

_BITS = 6
"""Of a number of the query, when it is held against signs; two more do not find more."""
# Of the length of a vector of many numbers its signs keep the square root of 2/π.
_KEPT = 0.7979
_DOUBT = 1.4
"""By so much, divided by the root of the dimensions, a cosine may be above what the signs tell: two standard
deviations."""
_BLOCK = 262_144
"""So many rows at once, for the memory that takes."""


def apart(query: Codes, parts: Sequence[Signs]) -> NDArray[np.uint16]:
    """In how many signs each row differs from the query, part after part."""
    found: NDArray[np.uint16] = _differences(signs_of(query), parts)[0]
    return found


def against(query: Codes, signs: Signs) -> NDArray[np.int32]:
    """How much the signs of each row are against the numbers of the query, of which large ones count more.

    Each bit of the numbers is held against the signs by itself, and counts as it does in the number. The sum
    of the numbers, each with the sign of the row, is the largest that there can be, less twice this.
    """
    import numpy as np

    levels = query.view(np.uint8) ^ 128
    bits = [np.packbits(levels >> at & 1, axis=1) for at in range(8 - _BITS, 8)]
    weights = 1 << np.arange(_BITS, dtype=np.int32)
    return np.asarray(weights @ _differences(np.concatenate(bits), [signs]), dtype=np.int32)


def against_at(query: Codes, cosine: float) -> float:
    """No row of this cosine is likely to be ``against`` the query by more than this."""
    import numpy as np

    dimensions = query.shape[1]
    expected = cosine - _DOUBT / np.sqrt(dimensions)
    product = expected * np.sqrt(float(squares_of(query)[0]) * dimensions) * _KEPT
    step = 2 ** (8 - _BITS)
    return float(((2**_BITS - 1) * dimensions - 2 * product / step) / 2)


def lowest(numbers: NDArray[Any], limit: int) -> Mask:
    """Which are the ``limit`` lowest, and all that equal the last of those."""
    import numpy as np

    if limit >= len(numbers):
        return np.ones(len(numbers), dtype=bool)
    return np.asarray(numbers <= np.partition(numbers, limit - 1)[limit - 1])


def _differences(query: Signs, parts: Sequence[Signs]) -> NDArray[np.uint16]:
    """In how many signs each row of each part differs from each of the query's."""
    import numpy as np
    import simsimd

    # Numbers of two bytes: the lowest of them are found in a quarter of the time.
    found = np.empty((len(query), sum(map(len, parts))), dtype=np.uint16)
    end = 0
    for signs in (part[at : at + _BLOCK] for part in parts for at in range(0, len(part), _BLOCK)):
        start, end = end, end + len(signs)
        # Not with `out`: simsimd 6.5 then returns a None that is not its own, of which Python dies.
        own = simsimd.cdist(query, signs, metric="hamming", dtype="bin8", threads=1, out_dtype="float32")
        found[:, start:end] = np.asarray(own)
    return found
