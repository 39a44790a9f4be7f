"""A text by its lines: 1-based numbers in, verbatim slices out."""

from __future__ import annotations

from itertools import accumulate


class Lines:
    """The lines of a text that ends them with ``\\n``; a final newline opens no further line."""

    __slots__ = ("_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        pieces = text.split("\n")
        if pieces[-1] == "":
            pieces.pop()
        self._starts = [0, *accumulate(len(piece) + 1 for piece in pieces)]

    def __len__(self) -> int:
        return len(self._starts) - 1

    def slice(self, start: int, end: int) -> str:
        """Lines ``start`` to ``end``, both included, joined by newlines, without the last newline."""
        return self.text[self._starts[start - 1] : self._starts[end] - 1]

    def is_blank(self, line: int) -> bool:
        return not self.text[self._starts[line - 1] : self._starts[line]].strip()
