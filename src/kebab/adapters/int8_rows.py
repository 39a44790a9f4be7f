"""The rows of an int8 vector index as a search sees them, and the nearest of them to a query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from kebab.adapters import int8_looks as looks
from kebab.adapters.int8_segments import inverse_of, squares_of
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
LEAST = 8000
"""Of many rows, so many with the nearest signs are looked at again, and no fewer than the following."""
_AGAIN = 80
"""For each that is wanted."""
_SHARE = 100
"""Of so many rows, one."""
# Among fewer than so many times as many, a look at all signs costs more than it saves.
_WORTH = 4
_FIRST = 4
"""So many for each that is wanted are compared first, then those that may be better than the last wanted,"""
_MOST = 30
"""and no more than so many in all."""
_MAPPED = 25
"""Of more rows than so many times ``LEAST`` the map would take too much memory: few are read instead."""
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

        Of many rows, only those are compared whose signs are near; which these are does not depend on how the
        rows are divided into segments, nor on their order.
        """
        import numpy as np

        if not self.files:
            return []
        allowed = self._all if docs is None else self._rows_of(docs)
        if not allowed.count:
            return []
        picked, dots = self._compared(query, allowed, limit)
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

    def _compared(
        self, query: Codes, allowed: _Allowed, limit: int
    ) -> tuple[NDArray[np.intp] | None, NDArray[np.float64]]:
        """The rows that are compared in full, None for all there are, and the product of each."""
        hits = max(limit, self.least // _AGAIN)
        again = max(_AGAIN * hits, allowed.count // _SHARE)
        if not self._signs or self.count <= _WORTH * again:
            picked = allowed.picked
            return picked, self._dots(query) if picked is None else self._picked_dots(query, picked)
        if not self._scattered:
            # While the map has them at hand, comparing half as many costs less than a look in between.
            near = self._near(query, allowed, again // 2)
            return near, self._picked_dots(query, near)
        return self._likely(query, self._near(query, allowed, again), hits)

    def _near(self, query: Codes, allowed: _Allowed, again: int) -> NDArray[np.intp]:
        """So many of the allowed rows, or some more, by how many signs differ; all where they are few."""
        import numpy as np

        if allowed.count <= _WORTH * again:
            return np.flatnonzero(allowed.mask) if allowed.picked is None else allowed.picked
        apart = looks.apart(query, self._signs)
        if allowed.count < len(self):
            apart[~allowed.mask] = np.iinfo(apart.dtype).max
        return np.flatnonzero(looks.lowest(apart, again))

    def _likely(
        self, query: Codes, near: NDArray[np.intp], hits: int
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Those of some rows that may be among so many nearest, by signs against numbers, and their products.

        How good the likeliest are in truth tells how many more may be as good.
        """
        import numpy as np

        signs = [part.signs.take(own, axis=0) for part, own in self._shares(near) if part.signs is not None]
        against = looks.against(query, np.concatenate(signs))
        dots = np.zeros(len(near))
        first = looks.lowest(against, _FIRST * hits)
        dots[first] = self._picked_dots(query, near[first])
        cosines = dots[first] * inverse_of(self._lengths(near[first])) / np.sqrt(float(squares_of(query)[0]))
        least = -np.partition(-cosines, hits - 1)[hits - 1] if hits < len(cosines) else -1.0
        more = looks.lowest(against, _MOST * hits) & (against <= looks.against_at(query, least)) & ~first
        dots[more] = self._picked_dots(query, near[more])
        return near[first | more], dots[first | more]

    @cached_property
    def _scattered(self) -> bool:
        """Whether there are so many rows that single ones are read: then few of them are compared."""
        return bool(self._signs) and self.count > _MAPPED * self.least

    @cached_property
    def _signs(self) -> tuple[Signs, ...]:
        """Those of all segments; none where one of them has none, or where they tell nothing of the model."""
        found = tuple(files.signs for files in self.files if files.signs is not None)
        return found if self.signed and len(found) == len(self.files) else ()

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

        return np.concatenate([_products(query, self._codes(*share)) for share in self._shares(picked)])

    def _codes(self, files: Files, rows: NDArray[np.intp]) -> Codes:
        return files.scattered.read(rows) if self._scattered else files.codes.take(rows, axis=0)

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
