"""Vectors as int8 in plain files that can be mapped into memory, and the cosines between them.

A vector is kept as whole numbers, the largest of them 127 or -127. Cosines are taken between such vectors:
sums of whole numbers are exact, so that equal vectors get equal scores, on every processor and wherever they
stand. Measured on real collections this costs no quality (docs/decisions/0003-vector-index.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

from blake3 import blake3

from kebab.disk.private import replacing
from kebab.domain.fusion import Ranked
from kebab.domain.ids import DocId

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kebab.adapters.lead_axes import Axes
    from kebab.ports import Vectors

    Codes = NDArray[np.int8]
    Mask = NDArray[np.bool_]

_LARGEST = 127
# Picking a row costs several times as much as multiplying it, so few are picked and many are not.
_PICKED = 8
_BLOCK = 4096
# So many blocks for each row that is wanted: few of the best then share one.
_BLOCKS = 8
LEAST = 3000
"""Of many rows, so many with the likeliest leads are compared in full, and 30 for each that is wanted."""
_CANDIDATES = 30
# Of fewer than so many times as many, a look at the leads costs more than it saves.
_WORTH = 8
# What a product may differ by from the quotient that it stands for, of its size.
_ROUNDING = 1e-12


def key_type() -> np.dtype[Any]:
    """What a key file holds of each row: the chunk, its document, the square of the vector's length."""
    import numpy as np

    return np.dtype([("chunk", "V16"), ("doc", "V16"), ("square", "<u4")])


def codes_of(vectors: Vectors) -> Codes:
    """The vectors as whole numbers, a row each; one of zeros, or with what is no number, becomes zeros."""
    import numpy as np

    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    with np.errstate(all="ignore"):
        scaled = np.rint(vectors * (_LARGEST / largest))
    return np.where(np.isfinite(scaled), scaled, 0).astype(np.int8)


def squares_of(codes: Codes) -> NDArray[np.uint32]:
    import numpy as np

    wide = codes.astype(np.int32)
    return np.asarray((wide * wide).sum(axis=1), dtype=np.uint32)


@dataclass(frozen=True, slots=True)
class Segment:
    """What the manifest says of one pair of files, written once and never changed."""

    name: str
    rows: int
    codes: str
    """Hash of the file of vectors."""
    keys: str
    """Hash of the file of keys."""
    dead: str = ""
    """Rows whose documents are gone, as the hexadecimal digits of a bit for each row; empty for none."""
    leads: str = ""
    """Hash of the file of leads; empty for a segment that has none."""


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
    """The living and dead rows of all segments, in order; immutable, for any number of threads."""

    codes: tuple[Codes, ...]
    chunks: NDArray[np.void]
    docs: NDArray[np.void]
    lengths: NDArray[np.float64]
    alive: Mask
    leads: tuple[Codes, ...] = ()
    """Short forms of the codes, where all segments have them; see ``lead_axes``."""
    axes: Axes | None = None
    least: int = LEAST
    _lock: Lock = field(default_factory=Lock, repr=False)
    _known: WeakKeyDictionary[frozenset[DocId], _Allowed] = field(
        default_factory=WeakKeyDictionary, repr=False
    )

    def __len__(self) -> int:
        return len(self.chunks)

    @cached_property
    def count(self) -> int:
        return int(self.alive.sum())

    def nearest(self, query: Codes, *, limit: int, docs: frozenset[DocId] | None) -> list[Ranked]:
        """The rows by cosine, best first, ties by chunk id; among those of some documents, or all.

        Of many rows, only those whose leads are near are compared; which these are does not depend on how
        the rows are divided into segments, nor on their order.
        """
        import numpy as np

        allowed = self._all if docs is None else self._rows_of(docs)
        if not allowed.count:
            return []
        likely = self._likely(query, allowed, limit)
        picked = allowed.picked if likely is None else likely
        dots = self._dots(query) if picked is None else self._picked_dots(query, picked)
        # One multiplication instead of a division tells who may be among the best; cosines are theirs alone.
        near = dots * (self._inverse if picked is None else self._inverse[picked])
        if picked is None and allowed.count < len(self):
            near[~allowed.mask] = -np.inf
        kept = _best(near, min(limit, len(near)))
        at = kept if picked is None else picked[kept]
        own = self.lengths[at] * np.sqrt(float(squares_of(query)[0]))
        cosines = np.divide(dots[kept], own, out=np.zeros(len(at)), where=own > 0)
        scores = np.clip(cosines, -1.0, 1.0).tolist()
        names = [name.hex() for name in self.chunks[at].tolist()]
        ranked = sorted(zip(scores, names, strict=True), key=lambda pair: (-pair[0], pair[1]))
        return [Ranked(name, score) for score, name in ranked[:limit]]

    def _likely(self, query: Codes, allowed: _Allowed, limit: int) -> NDArray[np.intp] | None:
        """The allowed rows that may be among the nearest, by their leads; None where all are compared."""
        import numpy as np

        wanted = max(_CANDIDATES * limit, self.least)
        if self.axes is None or not self.leads or allowed.count <= _WORTH * wanted:
            return None
        lead = self.axes.lead_of(query)
        near = np.concatenate([_products(lead, leads, short=True) for leads in self.leads])
        if allowed.count < len(self):
            near[~allowed.mask] = -np.inf
        cut = np.partition(near, len(near) - wanted)[len(near) - wanted]
        return np.asarray(np.flatnonzero(near >= cut), dtype=np.intp)

    def rows_among(self, docs: Sequence[bytes]) -> Mask:
        """The rows of these documents, dead ones too."""
        import numpy as np

        names, codes = self._documents
        known = [number for doc in docs if (number := names.get(doc)) is not None]
        chosen = np.zeros(len(names), dtype=bool)
        chosen[known] = True
        return chosen[codes] if len(names) else np.zeros(0, dtype=bool)

    def _rows_of(self, docs: frozenset[DocId]) -> _Allowed:
        """The living rows of these documents; remembered, since searches repeat their filters."""
        with self._lock:
            known = self._known.get(docs)
        if known is None:
            among = self.rows_among([key for doc in docs if (key := key_of(doc)) is not None])
            known = _Allowed.of(among & self.alive)
            with self._lock:
                self._known[docs] = known
        return known

    @cached_property
    def _inverse(self) -> NDArray[np.float64]:
        import numpy as np

        return np.divide(1.0, self.lengths, out=np.zeros(len(self)), where=self.lengths > 0)

    @cached_property
    def _all(self) -> _Allowed:
        return _Allowed(self.alive, self.count, None)

    @cached_property
    def _documents(self) -> tuple[dict[bytes, int], NDArray[np.intp]]:
        import numpy as np

        names, codes = np.unique(self.docs, return_inverse=True)
        return {name: code for code, name in enumerate(names.tolist())}, codes

    def _dots(self, query: Codes) -> NDArray[np.float64]:
        import numpy as np

        return np.concatenate([_products(query, codes) for codes in self.codes])

    def _picked_dots(self, query: Codes, picked: NDArray[np.intp]) -> NDArray[np.float64]:
        import numpy as np

        ends = np.cumsum([len(codes) for codes in self.codes])
        shares = np.split(picked, np.searchsorted(picked, ends[:-1]))
        firsts = (0, *ends[:-1])
        return np.concatenate(
            [
                _products(query, codes[share - first])
                for codes, share, first in zip(self.codes, shares, firsts, strict=True)
            ]
        )


def key_of(name: str) -> bytes | None:
    """The bytes of an id; None for what is no id of ours, which no row has."""
    try:
        key = bytes.fromhex(name)
    except ValueError:
        return None
    return key if len(key) == 16 else None


def _products(query: Codes, codes: Codes, *, short: bool = False) -> NDArray[Any]:
    """The exact products of each row; those of leads are small enough for single precision."""
    import numpy as np

    kind: Literal["float32", "float64"] = "float32" if short else "float64"
    if not len(codes):
        return np.zeros(0, dtype=kind)
    import simsimd

    # One thread: a pool of them waits for the slowest, which on a busy machine costs more than the work.
    found = simsimd.cdist(query, codes, metric="dot", threads=1, out_dtype=kind)
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


def write_segment(
    folder: Path, name: str, blocks: Iterable[Codes], keys: NDArray[np.void], *, axes: Axes | None
) -> Segment:
    """Write the files of a segment; on return they are on disk. Raises OSError.

    The vectors come in blocks: a merge of all of them would hold the whole index in memory twice.
    """
    codes = _written(folder / f"{name}.codes", (block.tobytes() for block in blocks))
    written = _written(folder / f"{name}.keys", (keys.tobytes(),))
    segment = Segment(name, len(keys), codes, written)
    return segment if axes is None else with_leads(folder, segment, axes)


def with_leads(folder: Path, segment: Segment, axes: Axes) -> Segment:
    """The same segment with its leads, written to their file from those of its codes and keys."""
    codes, keys, _ = open_segment(folder, segment, axes.dimensions)
    starts = range(0, segment.rows, _BLOCK)
    blocks = (slice(start, start + _BLOCK) for start in starts)
    leads = (axes.leads_of(codes[rows], keys["square"][rows]).tobytes() for rows in blocks)
    return replace(segment, leads=_written(folder / f"{segment.name}.leads", leads))


def _written(path: Path, parts: Iterable[bytes]) -> str:
    """Write a file of these parts; returns its hash."""
    digest = blake3()
    with replacing(path) as file:
        for part in parts:
            file.write(part)
            digest.update(part)
    return digest.hexdigest(length=16)


def living(codes: Codes, alive: Mask) -> Iterator[Codes]:
    """The living rows, some thousands at a time."""
    for start in range(0, len(codes), _BLOCK):
        yield codes[start : start + _BLOCK][alive[start : start + _BLOCK]]


def open_segment(folder: Path, segment: Segment, dimensions: int) -> tuple[Codes, NDArray[np.void], Mask]:
    """Vectors, mapped and not read, keys, read whole and checked, and which rows live.

    Raises OSError for a file that is not there, ValueError for one that is not as it was written.
    """
    import numpy as np

    content = (folder / f"{segment.name}.keys").read_bytes()
    if blake3(content).hexdigest(length=16) != segment.keys:
        raise ValueError(f"{segment.name}.keys is damaged")
    keys = np.frombuffer(content, dtype=key_type())
    if len(keys) != segment.rows:
        raise ValueError(f"{segment.name} does not have {segment.rows} rows")
    return _mapped(folder / f"{segment.name}.codes", segment, dimensions), keys, ~dead_rows(segment)


def open_leads(folder: Path, segment: Segment, axes: Axes) -> Codes:
    """The leads of a segment that has them, mapped and not read; raises like ``open_segment``."""
    return _mapped(folder / f"{segment.name}.leads", segment, axes.count)


def _mapped(path: Path, segment: Segment, width: int) -> Codes:
    import numpy as np

    if path.stat().st_size != segment.rows * width:
        raise ValueError(f"{path.name} does not have {segment.rows} rows")
    return np.asarray(np.memmap(path, dtype=np.int8, mode="r", shape=(segment.rows, width)))


def dead_rows(segment: Segment) -> Mask:
    import numpy as np

    bits = np.frombuffer(bytes.fromhex(segment.dead), dtype=np.uint8)
    return (
        np.unpackbits(bits, count=segment.rows).astype(bool)
        if len(bits)
        else np.zeros(segment.rows, dtype=bool)
    )


def with_dead(segment: Segment, dead: Mask) -> Segment:
    """The same segment with these rows dead."""
    import numpy as np

    bits = np.packbits(dead).tobytes().hex() if dead.any() else ""
    return replace(segment, dead=bits)
