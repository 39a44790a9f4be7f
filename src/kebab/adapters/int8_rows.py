"""The rows of an int8 vector index as a search sees them, and the nearest of them to a query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from kebab.adapters.int8_segments import inverse_of, signs_of, squares_of
from kebab.domain.fusion import Ranked
from kebab.domain.ids import DocId

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kebab.adapters.int8_segments import Codes, Files, Mask, Signs

# Picking a row costs several times as much as multiplying it, so few are picked and many are not.
_PICKED = 8
# So many blocks for each row that is wanted: few of the best then share one.
_BLOCKS = 8
LEAST = 4000
"""Of many rows, so many with the likeliest signs are compared in full, and no fewer than the following."""
_CANDIDATES = 40
"""For each that is wanted."""
_SHARE = 100
"""Of so many rows, one."""
# Of fewer than so many times as many, a look at the signs costs more than it saves.
_WORTH = 8
# What a product may differ by from the quotient that it stands for, of its size.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class _Allowed:
    """Rows that may be found: all of them that live, or those of a filter."""

    mask: Mask
    count: int
    picked: NDArray[np.intp] | None
    """Where they stand, if they are so few that only they are multiplied."""

    @classmethod
    def of(cls, mask: Mask) -> _Allowed:
        import numpy as np

        count = int(mask.sum())
        return cls(mask, count, np.flatnonzero(mask) if _PICKED * count <= len(mask) else None)


@dataclass(frozen=True)
class Rows:
    """The living and dead rows of all segments, in order; immutable, for any number of threads.

    Another state of the index shares the files that it has in common with this one.
    """

    files: tuple[Files, ...]
    alive: Mask
    signed: bool = False
    least: int = LEAST
    _lock: Lock = field(default_factory=Lock, repr=False)
    _known: WeakKeyDictionary[frozenset[DocId], _Allowed] = field(
        default_factory=WeakKeyDictionary, repr=False
    )

    def __len__(self) -> int:
        return len(self.alive)

    @cached_property
    def count(self) -> int:
        return int(self.alive.sum())

    def parts(self) -> Iterator[tuple[Files, Mask]]:
        """The files of each segment and which of their rows live."""
        import numpy as np

        alive = np.split(self.alive, self._ends[:-1]) if self.files else ()
        return zip(self.files, alive, strict=True)

    def names(self) -> list[str]:
        """The chunks of all living rows."""
        import numpy as np

        return self._names(np.flatnonzero(self.alive)) if self.files else []

    def nearest(self, query: Codes, *, limit: int, docs: frozenset[DocId] | None) -> list[Ranked]:
        """The rows by cosine, best first, ties by chunk id; among those of some documents, or all.

        Of many rows, only those whose signs are near are compared; which these are does not depend on how
        the rows are divided into segments, nor on their order.
        """
        import numpy as np

        if not self.files:
            return []
        allowed = self._all if docs is None else self._rows_of(docs)
        if not allowed.count:
            return []
        likely = self._likely(query, allowed, limit)
        picked = allowed.picked if likely is None else likely
        dots = self._dots(query) if picked is None else self._picked_dots(query, picked)
        # One multiplication instead of a division tells who may be among the best; cosines are theirs alone.
        near = dots * (self._inverse if picked is None else inverse_of(self._lengths(picked)))
        if picked is None and allowed.count < len(self):
            near[~allowed.mask] = -np.inf
        kept = _best(near, min(limit, len(near)))
        at = kept if picked is None else picked[kept]
        own = self._lengths(at) * np.sqrt(float(squares_of(query)[0]))
        cosines = np.divide(dots[kept], own, out=np.zeros(len(at)), where=own > 0)
        scores = np.clip(cosines, -1.0, 1.0).tolist()
        ranked = sorted(zip(scores, self._names(at), strict=True), key=lambda pair: (-pair[0], pair[1]))
        return [Ranked(name, score) for score, name in ranked[:limit]]

    def _likely(self, query: Codes, allowed: _Allowed, limit: int) -> NDArray[np.intp] | None:
        """The allowed rows that may be among the nearest, by their signs; None where all are compared."""
        import numpy as np

        wanted = max(_CANDIDATES * limit, self.least, allowed.count // _SHARE)
        if not self.signed or not self._signs or allowed.count <= _WORTH * wanted:
            return None
        sign = signs_of(query)
        apart = np.concatenate([_differences(sign, some) for some in self._signs])
        if allowed.count < len(self):
            apart[~allowed.mask] = np.inf
        return np.asarray(np.flatnonzero(apart <= np.partition(apart, wanted - 1)[wanted - 1]), dtype=np.intp)

    @cached_property
    def _signs(self) -> tuple[Signs, ...]:
        """Those of all segments; none where one of them has none."""
        found = tuple(files.signs for files in self.files if files.signs is not None)
        return found if len(found) == len(self.files) else ()

    def _rows_of(self, docs: frozenset[DocId]) -> _Allowed:
        """The living rows of these documents; remembered, since searches repeat their filters."""
        import numpy as np

        with self._lock:
            known = self._known.get(docs)
        if known is None:
            among = np.concatenate([files.among(docs) for files in self.files])
            known = _Allowed.of(among & self.alive)
            with self._lock:
                self._known[docs] = known
        return known

    @cached_property
    def _all(self) -> _Allowed:
        return _Allowed(self.alive, self.count, None)

    @cached_property
    def _inverse(self) -> NDArray[np.float64]:
        import numpy as np

        return np.concatenate([files.inverse for files in self.files])

    def _dots(self, query: Codes) -> NDArray[np.float64]:
        import numpy as np

        return np.concatenate([_products(query, files.codes) for files in self.files])

    def _picked_dots(self, query: Codes, picked: NDArray[np.intp]) -> NDArray[np.float64]:
        import numpy as np

        return np.concatenate([_products(query, files.codes[rows]) for files, rows in self._shares(picked)])

    def _lengths(self, picked: NDArray[np.intp]) -> NDArray[np.float64]:
        import numpy as np

        return np.concatenate([files.lengths(rows) for files, rows in self._shares(picked)])

    def _names(self, picked: NDArray[np.intp]) -> list[str]:
        shares = self._shares(picked)
        return [name.hex() for files, rows in shares for name in files.keys["chunk"][rows].tolist()]

    def _shares(self, picked: NDArray[np.intp]) -> Iterator[tuple[Files, NDArray[np.intp]]]:
        """Rows, in order, divided among the segments that they stand in and counted from their beginnings."""
        import numpy as np

        shares = np.split(picked, np.searchsorted(picked, self._ends[:-1]))
        firsts = (0, *self._ends[:-1])
        return (
            (files, share - first) for files, share, first in zip(self.files, shares, firsts, strict=True)
        )

    @cached_property
    def _ends(self) -> list[int]:
        import numpy as np

        return [int(end) for end in np.cumsum([len(files) for files in self.files])]


def _products(query: Codes, codes: Codes) -> NDArray[np.float64]:
    """The exact products of each row."""
    import numpy as np

    if not len(codes):
        return np.zeros(0)
    import simsimd

    # One thread: a pool of them waits for the slowest, which on a busy machine costs more than the work.
    return np.asarray(simsimd.cdist(query, codes, metric="dot", threads=1)).reshape(-1)


def _differences(query: Signs, signs: Signs) -> NDArray[np.float32]:
    """In how many signs each row differs: exact, as such numbers are small."""
    import numpy as np
    import simsimd

    found = simsimd.cdist(query, signs, metric="hamming", dtype="bin8", threads=1, out_dtype="float32")
    return np.asarray(found).reshape(-1)


def _best(scores: NDArray[np.float64], limit: int) -> NDArray[np.intp]:
    """Where the highest stand: at least ``limit`` of them, and all that may equal the last of those.

    The highest of each block are put in order first: no fewer scores than blocks reach the least of them.
    What was ruled out, at minus infinity, is never among them.
    """
    import numpy as np

    width = len(scores) // (_BLOCKS * limit)
    heads = scores[: len(scores) // width * width].reshape(-1, width).max(axis=1) if width > 1 else scores
    if limit >= len(heads):
        return np.flatnonzero(scores > -np.inf)
    cut = np.partition(heads, len(heads) - limit)[len(heads) - limit]
    if np.isinf(cut):  # what a filter lets through stands close together
        cut = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return np.flatnonzero((scores >= cut - _ROUNDING * abs(cut)) & (scores > -np.inf))
