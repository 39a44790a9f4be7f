"""A text by its lines: 1-based numbers in, verbatim slices out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from kebab.domain.tokens import estimate_from_lengths


class Lines:
    """The lines of a text that ends them with ``\\n``; a final newline opens no further line."""

    __slots__ = ("_bytes", "_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = _starts(text.split("\n"))
        self._bytes = self._starts if text.isascii() else _starts(_encoded(text).split(b"\n"))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def slice(self, start: int, end: int) -> str:
        """Lines ``start`` to ``end``, both included, joined by newlines, without the last newline."""
        return self.text[self._starts[start - 1] : self._starts[end] - 1]

    def tokens(self, start: int, end: int) -> int:
        """The estimate of tokens of the same slice, without making it: a chunker asks for many."""
        chars = self._starts[end] - self._starts[start - 1] - 1
        return estimate_from_lengths(chars, self._bytes[end] - self._bytes[start - 1] - 1 - chars)

    def after(self, line: int) -> str:
        """The text behind a line; line 0 stands before the first."""
        return self.text[self._starts[line] :] if line < len(self._starts) else ""

    def at_byte(self, offset: int, *, after: int = 0) -> int:
        """The line that holds a byte of the UTF-8 of the text, or of what stands behind a line."""
        return bisect_right(self._bytes, self._bytes[after] + offset)

    def is_blank(self, line: int) -> bool:
        return not self.text[self._starts[line - 1] : self._starts[line]].strip()

    def last_with_text(self, start: int, end: int) -> int:
        """The last line from ``start`` to ``end`` that is not blank; ``start`` less one when all are."""
        while end >= start and self.is_blank(end):
            end -= 1
        return end

    def runs(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The lines from ``start`` to ``end`` between blank ones: first and last of each run."""
        first = start
        for line in range(start, end + 1):
            if self.is_blank(line):
                if first < line:
                    yield first, line - 1
                first = line + 1
        if first <= end:
            yield first, end


def _starts(pieces: list[str] | list[bytes]) -> list[int]:
    if not pieces[-1]:
        pieces.pop()
    return [0, *accumulate(map((1).__add__, map(len, pieces)))]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
