"""Cutting what no chunk can hold: at line ends, and a line that is itself too long between characters."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from kebab.domain.tokens import estimate_tokens
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.parse.lines import Lines


class Piece(NamedTuple):
    """Text of the lines ``start`` to ``end``, or a part of one line that had to be cut."""

    start: int
    end: int
    text: str
    tokens: int


def split_lines(lines: Lines, start: int, end: int, policy: ChunkPolicy) -> Iterator[Piece]:
    """Cover the lines by pieces of at most ``target_tokens``; a longer line is whole up to ``max_tokens``.

    A few words before such a line, most often a heading, stay with it. Blank lines at the edge of a piece
    are left out. No piece is blank.
    """
    line = start
    while line <= end:
        if lines.is_blank(line):
            line += 1
            continue
        if lines.tokens(line, line) > policy.max_tokens:
            parts = split_text(lines.slice(line, line), policy.target_tokens)
            yield from (Piece(line, line, part, estimate_tokens(part)) for part in parts)
            line += 1
            continue
        last = _furthest(lines, line, end, policy)
        yield Piece(line, last, lines.slice(line, last), lines.tokens(line, last))
        line = last + 1


def _furthest(lines: Lines, first: int, end: int, policy: ChunkPolicy) -> int:
    """The last line, not blank, of the piece that begins with ``first``."""
    fits = _last_within(lines, first, end, policy.target_tokens)
    last = _not_blank(lines, first, fits)
    following = next((n for n in range(fits + 1, end + 1) if not lines.is_blank(n)), None)
    if following is None or lines.tokens(first, last) > policy.overlap_tokens:
        return last
    return following if lines.tokens(first, following) <= policy.max_tokens else last


def _last_within(lines: Lines, first: int, end: int, limit: int) -> int:
    """The last line up to which the text from ``first`` on has at most ``limit`` tokens; at least ``first``.

    Doubles and then halves, so that a piece costs a few estimates and not one a line.
    """
    step = 1
    while first + step <= end and lines.tokens(first, first + step) <= limit:
        step *= 2
    candidates = range(first + step // 2, min(first + step, end + 1))
    within = bisect_right(candidates, limit, key=lambda n: lines.tokens(first, n))
    return max(first, candidates.start + within - 1)


def _not_blank(lines: Lines, first: int, last: int) -> int:
    while last > first and lines.is_blank(last):
        last -= 1
    return last


def split_text(text: str, limit: int) -> Iterator[str]:
    """Parts of at most ``limit`` tokens, cut after white space where there is some; none is blank.

    Joined they are the text, except for parts that would hold only white space.
    """
    start = 0
    while start < len(text):
        end = _fitting(text, start, limit)
        if end < len(text):
            end = _after_space(text, start, end)
        if text[start:end].strip():
            yield text[start:end]
        start = end


def _fitting(text: str, start: int, limit: int) -> int:
    """The furthest end, found by shrinking a window, so that a line of any length costs its length once."""
    size = limit * 5
    while size > 1 and (tokens := estimate_tokens(text[start : start + size])) > limit:
        size = max(1, min(size - 1, size * limit // tokens))
    return min(start + size, len(text))


def _after_space(text: str, start: int, end: int) -> int:
    """The end of the last white space in the second half of the window, or ``end``."""
    middle = start + (end - start) // 2
    space = max(text.rfind(" ", middle, end), text.rfind("\t", middle, end))
    return space + 1 if space >= 0 else end
