"""A plain copy of a vector table that can be mapped into memory: exact cosines without the engine.

Small tables are searched on it alone, which spares a short-lived process the engine's import. In large ones
it gives the exact cosines of what the approximate index proposes: reading those few rows from the table
itself takes several times as long as the search (see docs/decisions/0003-vector-index.md).
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from kebab.disk.private import make_folder, open_private, replacing
from kebab.domain.fusion import Ranked
from kebab.domain.ids import ID_LENGTH, DocId

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    from kebab.ports import Vectors

# Single precision may order two rows the wrong way round when their cosines differ by less than this.
_SLACK = 1e-5
# No cosine is above 1; what rounding may add to one is far below this.
_LONGEST = 1.01
# Fewer than one row in so many is read by itself.
_SCATTER = 20
_KEYS = ("row_id", "chunk_id", "doc_id")


class RowsOnDisk:
    """Single rows of a file of float32, read without mapping it.

    A map brings in the pages around each one touched, hundreds of kilobytes where the system caches files in
    large pieces: some hundred picked rows a search would hold the whole file in the process. Letting go of
    them after each search saves a third of the time, but the process is that large while it searches.
    """

    def __init__(self, path: Path, *, offset: int, dimensions: int) -> None:
        self._descriptor = open_private(path)
        self._offset, self._dimensions = offset, dimensions
        weakref.finalize(self, os.close, self._descriptor)

    def read(self, at: NDArray[np.intp]) -> Vectors:
        import numpy as np

        found = np.empty((len(at), self._dimensions), dtype=np.float32)
        size = 4 * self._dimensions
        for row, position in zip(found, at.tolist(), strict=True):
            if os.preadv(self._descriptor, [row.data], self._offset + position * size) != size:
                raise OSError(f"the copy of the vectors ends before row {position}")
        return found


@dataclass(frozen=True)
class FlatVectors:
    """Rows in ascending order of the table's row ids; the vectors have length 1 or 0."""

    row_ids: NDArray[np.uint64]
    chunk_ids: NDArray[np.bytes_]
    doc_ids: NDArray[np.bytes_]
    vectors: Vectors = field(repr=False)
    rows_on_disk: RowsOnDisk | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.row_ids)

    def nearest(self, query: Vectors, *, limit: int, among: NDArray[np.intp] | None = None) -> list[Ranked]:
        """The rows, or some of them, by cosine to a query of length 1, best first, ties by chunk id."""
        import numpy as np

        # Picking a row costs several times as much as multiplying it, so few are picked and many are not.
        picked = among is not None and 8 * len(among) <= len(self)
        vectors = self._picked(among) if among is not None and picked else self.vectors
        # Row by row: a matrix product is shared out to all cores, and waits for them on a busy machine.
        with np.errstate(all="ignore"):
            rough = np.vecdot(vectors, query)
        if not (np.abs(rough) <= _LONGEST).all():
            raise ValueError("the copy of the vectors holds what is no vector of length 1")
        rough = rough if among is None or picked else rough[among]
        kept = _best(rough, limit)
        rows = kept if among is None else among[kept]
        exact = vectors[kept] if picked else self._picked(rows)
        # Summed again row by row in double precision: equal vectors get equal scores, wherever they stand.
        cosines = (exact.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
        names = self.chunk_ids[rows].astype(str).tolist()
        scores = np.clip(cosines, -1.0, 1.0).tolist()
        found = sorted(zip(scores, names, strict=True), key=lambda pair: (-pair[0], pair[1]))
        return [Ranked(name, score) for score, name in found[:limit]]

    def _picked(self, at: NDArray[np.intp]) -> Vectors:
        few = _SCATTER * len(at) <= len(self)
        return self.rows_on_disk.read(at) if self.rows_on_disk and few else self.vectors[at]

    def positions(self, row_ids: NDArray[np.uint64]) -> NDArray[np.intp]:
        """Where these row ids stand; ids that are not in the copy are left out."""
        import numpy as np

        at = np.searchsorted(self.row_ids, row_ids)
        at[at == len(self.row_ids)] = 0
        return at[self.row_ids[at] == row_ids] if len(self.row_ids) else at[:0]

    def rows_of(self, docs: Iterable[DocId]) -> NDArray[np.intp]:
        """The rows of these documents, ascending."""
        import numpy as np

        names, codes = self._documents
        allowed = np.zeros(len(names) + 1, dtype=bool)
        allowed[[names.get(doc_id, -1) for doc_id in docs]] = True
        allowed[-1] = False
        return np.flatnonzero(allowed[codes])

    def taken(self, at: NDArray[np.intp]) -> FlatVectors:
        """The rows at these positions, which ascend."""
        return FlatVectors(self.row_ids[at], self.chunk_ids[at], self.doc_ids[at], self._picked(at))

    def joined(self, other: FlatVectors) -> FlatVectors:
        """Both, in order of their row ids; they share none."""
        import numpy as np

        order = np.argsort(np.concatenate([self.row_ids, other.row_ids]))
        return FlatVectors(
            np.concatenate([self.row_ids, other.row_ids])[order],
            np.concatenate([self.chunk_ids, other.chunk_ids])[order],
            np.concatenate([self.doc_ids, other.doc_ids])[order],
            np.concatenate([self.vectors, other.vectors])[order],
        )

    @cached_property
    def _documents(self) -> tuple[dict[str, int], NDArray[np.intp]]:
        import numpy as np

        names, codes = np.unique(self.doc_ids, return_inverse=True)
        return {name: code for code, name in enumerate(names.astype(str).tolist())}, codes


def _best(rough: Vectors, limit: int) -> NDArray[np.intp]:
    """Where the highest stand, ascending: at least ``limit`` of them, and all that may belong to those."""
    import numpy as np

    if limit >= len(rough):
        return np.arange(len(rough))
    cut = np.partition(rough, len(rough) - limit)[len(rough) - limit]
    return np.flatnonzero(rough >= cut - _SLACK)


@dataclass(frozen=True, slots=True)
class FlatFiles:
    """The copies on disk, each named by the version of the table that it shows."""

    folder: Path

    def load(self, version: int) -> FlatVectors | None:
        """The copy of this version, mapped, not read; None when there is none that can be used."""
        import numpy as np

        try:
            keys = np.load(self._keys(version), allow_pickle=False)
            vectors = np.load(self._vectors(version), mmap_mode="r", allow_pickle=False)
            rows = RowsOnDisk(self._vectors(version), offset=vectors.offset, dimensions=vectors.shape[1])
        except (OSError, ValueError, EOFError):
            return None  # missing, cut short or overwritten: it is only a copy
        if len(keys) != len(vectors) or keys.dtype.names != _KEYS:
            return None
        # Each in one piece: a column of the records would be copied at every look-up.
        row_ids, chunk_ids, doc_ids = (np.ascontiguousarray(keys[name]) for name in _KEYS)
        return FlatVectors(row_ids, chunk_ids, doc_ids, vectors, rows)

    def newest(self) -> int | None:
        """The newest version that has a copy."""
        versions = [int(path.name.split(".")[0]) for path in self.folder.glob("*.keys.npy")]
        return max(versions, default=None)

    def save(self, version: int, pieces: Iterable[FlatVectors], *, rows: int, dimensions: int) -> None:
        """Write the copy of a version, so many rows in order of their ids, and drop the others.

        Raises OSError. Only one piece is held at a time: the whole can be larger than memory.
        """
        make_folder(self.folder)
        # The keys come last: a copy counts only when they are there.
        with replacing(self._keys(version)) as keys, replacing(self._vectors(version)) as vectors:
            _write_header(keys, (rows,), _key_type())
            _write_header(vectors, (rows, dimensions), "<f4")
            for piece in pieces:
                keys.write(_packed(piece).tobytes())
                vectors.write(piece.vectors.astype("<f4").tobytes())
        for path in self.folder.iterdir():
            if path not in (self._vectors(version), self._keys(version)):
                path.unlink(missing_ok=True)

    def _keys(self, version: int) -> Path:
        return self.folder / f"{version}.keys.npy"

    def _vectors(self, version: int) -> Path:
        return self.folder / f"{version}.vectors.npy"


def _key_type() -> np.dtype[Any]:
    import numpy as np

    return np.dtype([("row_id", "<u8"), ("chunk_id", f"S{ID_LENGTH}"), ("doc_id", f"S{ID_LENGTH}")])


def _packed(piece: FlatVectors) -> NDArray[np.void]:
    import numpy as np

    keys = np.empty(len(piece), dtype=_key_type())
    keys["row_id"], keys["chunk_id"], keys["doc_id"] = piece.row_ids, piece.chunk_ids, piece.doc_ids
    return keys


def _write_header(file: BinaryIO, shape: tuple[int, ...], kind: DTypeLike) -> None:
    """What ``numpy.load`` reads of an array that is written piece by piece."""
    import numpy as np

    described = {
        "descr": np.lib.format.dtype_to_descr(np.dtype(kind)),
        "fortran_order": False,
        "shape": shape,
    }
    np.lib.format.write_array_header_1_0(file, described)
