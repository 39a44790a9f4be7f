"""Cutting what no chunk can hold: at line ends, and a line that is itself too long between characters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kebab.domain.tokens import estimate_tokens
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.parse.lines import Lines


@dataclass(frozen=True, slots=True)
class Piece:
    """Text of the lines ``start`` to ``end``, or a part of one line that had to be cut."""

    start: int
    end: int
    text: str


def split_lines(lines: Lines, start: int, end: int, policy: ChunkPolicy) -> Iterator[Piece]:
    """Cover the lines by pieces of at most ``target_tokens``; a longer line is whole up to ``max_tokens``.

    A few words before such a line, most often a heading, stay with it. Blank lines at the edge of a piece
    are left out. No piece is blank.
    """
    first = last = 0
    for line in range(start, end + 1):
        if lines.is_blank(line):
            continue
        if first and _may_grow(lines, first, last, line, policy):
            last = line
            continue
        if first:
            yield Piece(first, last, lines.slice(first, last))
        first = last = line
        text = lines.slice(line, line)
        if estimate_tokens(text) > policy.max_tokens:
            yield from (Piece(line, line, part) for part in split_text(text, policy.target_tokens))
            first = 0
    if first:
        yield Piece(first, last, lines.slice(first, last))


def _may_grow(lines: Lines, first: int, last: int, line: int, policy: ChunkPolicy) -> bool:
    grown = estimate_tokens(lines.slice(first, line))
    if grown <= policy.target_tokens:
        return True
    few = estimate_tokens(lines.slice(first, last)) <= policy.overlap_tokens
    return few and grown <= policy.max_tokens


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
