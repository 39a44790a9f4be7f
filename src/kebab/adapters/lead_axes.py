"""Leads: short forms of vectors, which tell where the nearest may be at less than half the reading.

The vectors of a model differ more along some directions than along others. What a vector has along the
first few hundred of these axes, its *lead*, gives most of every product with it. The axes belong to the model
and not to what is indexed, so that the same vector has the same lead in every index that holds it; everything
is whole numbers, so that it has it on every machine (docs/decisions/0016-two-looks.md).
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.errors import ModelUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int8]

_LARGEST = 127
_WIDEST = 0.5
"""What a vector of length 1 has along an axis is less than this, but for a few, where it is cut."""


class Axes:
    """The first axes of a model, a row of int8 each, from a file that is read when first needed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def count(self) -> int:
        """How many numbers a lead has."""
        return len(self._rows)

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return int(self._rows.shape[1])

    def leads_of(self, codes: Codes, squares: NDArray[np.uint32]) -> Codes:
        """The leads of vectors as the index holds them, by the squares of their lengths; all on one scale."""
        import numpy as np

        lengths = np.sqrt(squares.astype(np.float64))
        scale = np.divide(self._scale, lengths, out=np.zeros(len(codes)), where=lengths > 0)
        return np.clip(np.rint(self._along(codes) * scale[:, None]), -_LARGEST, _LARGEST).astype(np.int8)

    def lead_of(self, query: Codes) -> Codes:
        """The lead of a query, as large as it can be: it is compared with many, and with one scale."""
        import numpy as np

        along = self._along(query)
        largest = np.abs(along).max(initial=0)
        return np.rint(along * (_LARGEST / largest if largest else 0.0)).astype(np.int8)

    def _along(self, codes: Codes) -> NDArray[np.float64]:
        """What vectors have along each axis, exactly, times the length of an axis."""
        import numpy as np
        import simsimd

        found = simsimd.cdist(codes, self._rows, metric="dot", threads=1)
        return np.asarray(found).reshape(len(codes), self.count)

    @cached_property
    def _scale(self) -> float:
        import numpy as np

        # The axes have one length but for rounding; the sum of all squares is exact.
        squares = np.square(self._rows.astype(np.int64)).sum()
        return float(_LARGEST / _WIDEST / np.sqrt(float(squares) / self.count))

    @cached_property
    def _rows(self) -> Codes:
        import numpy as np

        try:
            rows = np.load(self._path, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise ModelUnavailable(f"the axes in {self._path} cannot be read: {error}") from error
        return np.ascontiguousarray(rows, dtype=np.int8)
