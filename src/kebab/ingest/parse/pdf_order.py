"""The order in which the lines of a page are read: that of the file where it can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

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
    placed: list[list[PdfLine]] = []
    for part in parts(lines):
        at = next((at for at, other in enumerate(placed) if _is_above(part, other)), len(placed))
        placed.insert(at, part)
    return [line for part in placed for line in part]


def parts(lines: Sequence[PdfLine]) -> Iterator[list[PdfLine]]:
    """Lines that are drawn one below the other, without a jump up or a large gap."""
    part: list[PdfLine] = []
    for line in lines:
        if part and (_is_jump(part[-1], line) or line.top - part[-1].bottom > _APART * line.size):
            yield part
            part = []
        part.append(line)
    yield from ([part] if part else [])


def _is_above(part: Sequence[PdfLine], other: Sequence[PdfLine]) -> bool:
    """Whether the whole of it stands above the whole of the other; side by side is not above."""
    if max(line.bottom for line in part) > min(line.top for line in other) + part[0].size / 2:
        return False
    left, right = min(line.left for line in part), max(line.right for line in part)
    start, end = min(line.left for line in other), max(line.right for line in other)
    return min(right, end) - max(left, start) > 0.2 * min(right - left, end - start)


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
            columns[-1] = (left, max(right, line.right), [*members, line])
        else:
            columns.append((line.left, line.right, [line]))
    return (members for _, _, members in columns)
