"""Unit vectors of one model in one block of memory, with the id of each row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kebab.domain.fusion import Ranked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SPARE = 1024


class Matrix:
    """Rows can be put, replaced and forgotten without moving the others: a record costs its own bytes."""

    def __init__(self, ids: list[str], block: NDArray[np.float32]) -> None:
        self._ids = ids
        self._block = block
        self._places = {key: place for place, key in enumerate(ids)}

    @classmethod
    def of(cls, rows: Sequence[tuple[str, bytes]], *, dimensions: int) -> Matrix:
        import numpy as np

        block = np.frombuffer(b"".join(content for _, content in rows), dtype=np.float32)
        return cls([key for key, _ in rows], block.reshape(len(rows), dimensions))

    def put(self, key: str, vector: NDArray[np.float32]) -> None:
        place = self._places.setdefault(key, len(self._ids))
        if place == len(self._ids):
            self._ids.append(key)
            self._grow()
        self._own()[place] = vector

    def forget(self, keys: Iterable[str]) -> None:
        """The last row moves into the gap."""
        for key in keys:
            place = self._places.pop(key, None)
            if place is None:
                continue
            last = self._ids.pop()
            if last != key:
                self._own()[place] = self._block[len(self._ids)]
                self._ids[place] = last
                self._places[last] = place

    def nearest(self, vector: Sequence[float], *, limit: int, allowed: Sequence[str] | None) -> list[Ranked]:
        """By cosine, best first, ties by id."""
        import numpy as np

        query = np.asarray(vector, dtype=np.float32)
        query = query / np.float32(np.linalg.norm(query) or 1.0)
        places = None if allowed is None else [self._places[key] for key in allowed if key in self._places]
        rows = self._block[: len(self._ids)] if places is None else self._block[places]
        # Not rows @ query: BLAS shares the work among threads and waits for the slowest, which on a busy
        # machine costs more than the work.
        scores = np.vecdot(rows, query)
        best = _top(scores, limit)
        hits = [
            Ranked(self._ids[row if places is None else places[row]], min(1.0, max(-1.0, float(scores[row]))))
            for row in best
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))

    def _grow(self) -> None:
        import numpy as np

        rows, dimensions = self._block.shape
        if len(self._ids) > rows:
            larger = np.zeros((rows + rows // 2 + _SPARE, dimensions), dtype=np.float32)
            larger[:rows] = self._block
            self._block = larger

    def _own(self) -> NDArray[np.float32]:
        """The block, writable: the first one is a view of what was read."""
        if not self._block.flags.writeable:
            self._block = self._block.copy()
        return self._block


def _top(scores: NDArray[np.float32], limit: int) -> list[int]:
    """Rows of the best scores, in no order."""
    import numpy as np

    if len(scores) <= limit:
        return list(range(len(scores)))
    return [int(row) for row in np.argpartition(-scores, limit - 1)[:limit]]
