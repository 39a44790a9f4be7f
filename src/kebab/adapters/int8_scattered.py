"""Some rows of a large file of vectors, read one by one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import finalize

from kebab.disk.private import open_private

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int8]

CAN_READ = hasattr(os, "pread")
"""Not on Windows: its files know one place only, which all threads move."""


class ScatteredRows:
    """Reads rows of a file that stays open as long as this lives; for any number of threads.

    They are not taken from the map: there each brings in the pages around it, up to 2 MB of them, and after
    some hundred searches the whole file counts as memory of the process.
    """

    def __init__(self, path: Path, mapped: Codes, *, can_read: bool = CAN_READ) -> None:
        """``mapped`` are the rows of the same file, taken where it cannot be read. Raises OSError."""
        self._name = path.name
        self._mapped = mapped
        self._descriptor = open_private(path) if can_read else None
        if self._descriptor is not None:
            finalize(self, os.close, self._descriptor)

    def read(self, rows: NDArray[np.intp]) -> Codes:
        """These rows, which are in ascending order; those that stand together with one call.

        Raises OSError, and ValueError where the file is shorter than it was.
        """
        import numpy as np

        if self._descriptor is None:
            return self._mapped.take(rows, axis=0)
        width = self._mapped.shape[1]
        starts = np.flatnonzero(np.diff(rows, prepend=-2) != 1)
        lengths = np.diff(starts, append=len(rows))
        runs = zip((rows[starts] * width).tolist(), (lengths * width).tolist(), strict=True)
        content = b"".join([os.pread(self._descriptor, length, at) for at, length in runs])
        if len(content) != len(rows) * width:
            raise ValueError(f"{self._name} is shorter than it was")
        return np.frombuffer(content, dtype=np.int8).reshape(-1, width)
