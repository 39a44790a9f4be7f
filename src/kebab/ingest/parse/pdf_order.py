"""The order in which the lines of a page are read: that of the file where it can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from kebab.ports import PdfLine

_WIDE = 0.6
"""A line that takes more of the width than this belongs to no column."""
_APART = 10
"""Lines that are further apart than this many of their heights belong to different parts of the page."""


def in_order(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Reading order. The file's own, unless it jumps up often: then by columns, each from top to bottom.

    Where it jumps seldom, a part that stands above what was drawn before it, such as a title drawn last, is
    read before it.
    """
    jumps = sum(_is_jump(before, after) for before, after in pairwise(lines))
    if jumps <= max(3, len(lines) // 10):
        return _risen(lines)
    return [
        line
        for band in _bands(lines)
        for column in _columns(band)
        for line in sorted(column, key=lambda one: (one.top, one.left))
    ]


def _is_jump(before: PdfLine, after: PdfLine) -> bool:
    return after.top < before.top - before.size


def _risen(lines: Sequence[PdfLine]) -> list[PdfLine]:
    placed: list[tuple[_Box, list[PdfLine]]] = []
    for part in parts(lines):
        box = _Box.around(part)
        at = next((at for at, (other, _) in enumerate(placed) if box.is_above(other)), len(placed))
        placed.insert(at, (box, part))
    return [line for _, part in placed for line in part]


def parts(lines: Sequence[PdfLine]) -> Iterator[list[PdfLine]]:
    """Lines that are drawn one below the other, without a jump up or a large gap."""
    part: list[PdfLine] = []
    for line in lines:
        if part and (_is_jump(part[-1], line) or line.top - part[-1].bottom > _APART * line.size):
            yield part
            part = []
        part.append(line)
    yield from ([part] if part else [])


class _Box(NamedTuple):
    """The room of some lines, and the size of the letters of the first."""

    left: float
    top: float
    right: float
    bottom: float
    size: float

    @classmethod
    def around(cls, part: Sequence[PdfLine]) -> _Box:
        return cls(
            min(line.left for line in part),
            min(line.top for line in part),
            max(line.right for line in part),
            max(line.bottom for line in part),
            part[0].size,
        )

    def is_above(self, other: _Box) -> bool:
        """Whether the whole of it stands above the whole of the other; side by side is not above."""
        if self.bottom > other.top + self.size / 2:
            return False
        shared = min(self.right, other.right) - max(self.left, other.left)
        return shared > 0.2 * min(self.right - self.left, other.right - other.left)


def _bands(lines: Sequence[PdfLine]) -> Iterator[list[PdfLine]]:
    """The page from top to bottom, cut at lines that cross its columns."""
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    band: list[PdfLine] = []
    for line in sorted(lines, key=lambda one: one.top):
        if line.right - line.left > _WIDE * (right - left):
            yield from ([band] if band else [])
            yield [line]
            band = []
        else:
            band.append(line)
    yield from ([band] if band else [])


def _columns(lines: Sequence[PdfLine]) -> Iterator[list[PdfLine]]:
    """Lines whose widths overlap stand in one column; columns from left to right."""
    columns: list[tuple[float, float, list[PdfLine]]] = []
    for line in sorted(lines, key=lambda one: one.left):
        if columns and line.left < columns[-1][1] - line.size:
            left, right, members = columns[-1]
            members.append(line)
            columns[-1] = (left, max(right, line.right), members)
        else:
            columns.append((line.left, line.right, [line]))
    return (members for _, _, members in columns)
