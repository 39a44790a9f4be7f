"""Vectors as int8 in plain files that can be mapped into memory: how they are written, opened and merged.

A vector is kept as whole numbers, the largest of them 127 or -127. Cosines are taken between such vectors:
sums of whole numbers are exact, so that equal vectors get equal scores, on every processor and wherever they
stand. Measured on real collections this costs no quality (docs/decisions/0003-vector-index.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from blake3 import blake3

from kebab.adapters.int8_scattered import ScatteredRows
from kebab.disk.private import replacing
from kebab.domain.ids import DocId

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kebab.ports import Vectors

    Codes = NDArray[np.int8]
    Signs = NDArray[np.uint8]
    Mask = NDArray[np.bool_]

_LARGEST = 127
_BLOCK = 4096
_MADE = 512


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


def codes_of_each(vectors: Sequence[Vectors], dimensions: int) -> Codes:
    """The same of single vectors, some at a time: all of them as one array would take five times the room."""
    import numpy as np

    codes = np.empty((len(vectors), dimensions), dtype=np.int8)
    for start in range(0, len(vectors), _MADE):
        some = vectors[start : start + _MADE]
        codes[start : start + len(some)] = codes_of(np.array(some, dtype=np.float32))
    return codes


def squares_of(codes: Codes) -> NDArray[np.uint32]:
    import numpy as np

    # Without a copy of all of them in numbers of four bytes.
    return np.asarray(np.einsum("ij,ij->i", codes, codes, dtype=np.int32), dtype=np.uint32)


def signs_of(codes: Codes) -> Signs:
    """A bit for each number of each vector: whether it is above zero."""
    import numpy as np

    return np.packbits(codes > 0, axis=1)


def bytes_of_signs(dimensions: int) -> int:
    """How many those of a vector take."""
    return -(-dimensions // 8)


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
    signs: str = ""
    """Hash of the file of signs; empty for a segment that has none."""


@dataclass(frozen=True, eq=False)
class Files:
    """The files of a segment, opened: vectors and signs mapped and not read, keys read whole and checked.

    They never change, whatever becomes of the rows in them: one of these serves every state of the index that
    names the segment.
    """

    segment: Segment
    codes: Codes
    keys: NDArray[np.void]
    signs: Signs | None
    """Those of the codes, where the segment has them."""
    scattered: ScatteredRows
    """Reads some of the vectors without mapping them."""
    _lock: Lock = field(default_factory=Lock, repr=False)
    _known: WeakKeyDictionary[frozenset[DocId], Mask] = field(default_factory=WeakKeyDictionary, repr=False)

    def __len__(self) -> int:
        return len(self.keys)

    def are_those_of(self, segment: Segment) -> bool:
        """Whether these are the files that a segment names."""
        own = self.segment
        return (own.name, own.codes, own.keys, own.signs) == (
            segment.name,
            segment.codes,
            segment.keys,
            segment.signs,
        )

    def lengths(self, rows: NDArray[np.intp] | slice = slice(None)) -> NDArray[np.float64]:
        """Those of the vectors of some rows."""
        import numpy as np

        return np.sqrt(self.keys["square"][rows].astype(np.float64))

    @cached_property
    def inverse(self) -> NDArray[np.float64]:
        """One divided by each length; 0 for a vector of zeros."""
        return inverse_of(self.lengths())

    def among(self, docs: frozenset[DocId]) -> Mask:
        """The rows of these documents, dead ones too; remembered, since searches repeat their filters."""
        with self._lock:
            known = self._known.get(docs)
        if known is None:
            known = self.rows_of(docs)
            with self._lock:
                self._known[docs] = known
        return known

    def rows_of(self, docs: frozenset[DocId]) -> Mask:
        """The rows of these documents, dead ones too."""
        import numpy as np

        numbers, of_run, lengths = self._documents
        if len(docs) < len(numbers):
            keys = (key_of(doc) for doc in docs)
            known = [numbers[key] for key in keys if key is not None and key in numbers]
        else:
            known = [number for name, number in numbers.items() if name.hex() in docs]
        chosen = np.zeros(len(numbers), dtype=bool)
        chosen[known] = True
        return np.repeat(chosen[of_run], lengths)

    @cached_property
    def _documents(self) -> tuple[dict[bytes, int], NDArray[np.intp], NDArray[np.intp]]:
        """A number for each document, and for each run of rows of one document its number and length."""
        import numpy as np

        docs = np.ascontiguousarray(self.keys["doc"])
        halves = docs.view("<u8").reshape(-1, 2)
        starts = np.flatnonzero(np.append(True, (halves[1:] != halves[:-1]).any(axis=1))[: len(docs)])
        numbers: dict[bytes, int] = {}
        of_run = [numbers.setdefault(name, len(numbers)) for name in docs[starts].tolist()]
        return numbers, np.array(of_run, dtype=np.intp), np.diff(starts, append=len(docs))


def inverse_of(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    return np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)


def key_of(name: str) -> bytes | None:
    """The bytes of an id; None for what is no id of ours, which no row has."""
    try:
        key = bytes.fromhex(name)
    except ValueError:
        return None
    return key if len(key) == 16 else None


def write_segment(folder: Path, name: str, codes: Codes, keys: NDArray[np.void], *, signed: bool) -> Segment:
    """Write the files of a segment, with its signs or not; on return they are on disk. Raises OSError."""
    return Segment(
        name,
        len(keys),
        _written(folder / f"{name}.codes", (codes.tobytes(),)),
        _written(folder / f"{name}.keys", (keys.tobytes(),)),
        signs=_written(folder / f"{name}.signs", (signs_of(codes).tobytes(),)) if signed else "",
    )


def merge_segments(
    folder: Path, name: str, merged: Sequence[tuple[Files, Mask]], dimensions: int, *, signed: bool
) -> Segment:
    """Write the living rows of some segments as one, some thousands at a time; raises like ``write_segment``.

    What is copied is read and not mapped: of a mapped file every page that was touched stays in memory.
    """
    files = ((folder / f"{files.segment.name}.codes", alive) for files, alive in merged)
    codes = chain.from_iterable(_living(file, alive, dimensions) for file, alive in files)
    segment = Segment(
        name,
        sum(int(alive.sum()) for _, alive in merged),
        _written(folder / f"{name}.codes", codes),
        _written(folder / f"{name}.keys", (files.keys[alive].tobytes() for files, alive in merged)),
    )
    return with_signs(folder, segment, dimensions) if signed else segment


def with_signs(folder: Path, segment: Segment, dimensions: int) -> Segment:
    """The same segment with its signs, written to their file from those of its codes."""
    import numpy as np

    every = np.ones(segment.rows, dtype=bool)
    blocks = _living(folder / f"{segment.name}.codes", every, dimensions)
    signs = (signs_of(np.frombuffer(one, dtype=np.int8).reshape(-1, dimensions)).tobytes() for one in blocks)
    return replace(segment, signs=_written(folder / f"{segment.name}.signs", signs))


def _written(path: Path, parts: Iterable[bytes]) -> str:
    """Write a file of these parts; returns its hash."""
    digest = blake3()
    with replacing(path) as file:
        for part in parts:
            file.write(part)
            digest.update(part)
    return digest.hexdigest(length=16)


def _living(path: Path, alive: Mask, width: int) -> Iterator[bytes]:
    """The living rows of a file of them, some thousands at a time; raises like ``open_files``."""
    import numpy as np

    _check(path, len(alive), width)
    with path.open("rb") as file:
        for start in range(0, len(alive), _BLOCK):
            kept = alive[start : start + _BLOCK]
            block = file.read(len(kept) * width)
            whole = kept.all()
            yield block if whole else np.frombuffer(block, np.int8).reshape(-1, width)[kept].tobytes()


def open_files(folder: Path, segment: Segment, dimensions: int) -> Files:
    """The files of a segment. Raises OSError for one that is not there, ValueError for one that is not as it
    was written."""
    import numpy as np

    signs = None
    if segment.signs:
        signs = _mapped(folder / f"{segment.name}.signs", segment, bytes_of_signs(dimensions), np.uint8)
    vectors = folder / f"{segment.name}.codes"
    codes = _mapped(vectors, segment, dimensions, np.int8)
    return Files(segment, codes, _keys(folder, segment), signs, ScatteredRows(vectors, codes))


def _keys(folder: Path, segment: Segment) -> NDArray[np.void]:
    import numpy as np

    content = (folder / f"{segment.name}.keys").read_bytes()
    if blake3(content).hexdigest(length=16) != segment.keys:
        raise ValueError(f"{segment.name}.keys is damaged")
    keys = np.frombuffer(content, dtype=key_type())
    if len(keys) != segment.rows:
        raise ValueError(f"{segment.name} does not have {segment.rows} rows")
    return keys


def _mapped(path: Path, segment: Segment, width: int, kind: type[Any]) -> NDArray[Any]:
    import numpy as np

    _check(path, segment.rows, width)
    return np.asarray(np.memmap(path, dtype=kind, mode="r", shape=(segment.rows, width)))


def _check(path: Path, rows: int, width: int) -> None:
    if path.stat().st_size != rows * width:
        raise ValueError(f"{path.name} does not have {rows} rows")


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
