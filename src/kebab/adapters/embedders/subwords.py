"""Cuts text into the pieces of a fixed vocabulary, without a tokenizer engine.

A text is a bag of words; a word is a run of one script; a run is cut into the likeliest pieces of a unigram
language model (Kudo 2018). Words repeat, so each is cut once and remembered. A Latin piece that continues a
word is another piece than one that begins it; in Hangul they are the same, so that a compound and its parts
meet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from math import inf

from kebab.domain.ids import nfc

_MEMORY = 200_000
_LONGEST_RUN = 48
_LONGEST_PIECE = 20
_UNKNOWN = -30.0

_WORD = re.compile(r"\w+")
# A boundary inside an identifier: HybridRetriever, but not siRNA or mRNA.
_CAMEL = re.compile(r"(?<=[a-z]{3})(?=[A-Z])")
_RUN = re.compile(r"[가-힣]+|[^\W_가-힣]+")


def runs(word: str) -> list[str]:
    """Return the lower-case single-script runs of a word as it stands in a text, long ones in parts."""
    lowered = word.lower()
    found = _RUN.findall(lowered if lowered == word else " ".join(_CAMEL.split(word)).lower())
    return [run[i : i + _LONGEST_RUN] for run in found for i in range(0, len(run), _LONGEST_RUN)]


def words(text: str) -> list[str]:
    """Return the words of a text in order, as written; punctuation is dropped."""
    return _WORD.findall(nfc(text))


class Subwords(dict[str, tuple[int, ...]]):
    """Maps a word to the numbers of its pieces; remembers the words it has met."""

    def __init__(self, pieces: Sequence[str], scores: Sequence[float], *, continuing: int) -> None:
        """Take the vocabulary in the order of its numbers, with the log-probability of each piece.

        The pieces from number `continuing` on stand only inside Latin words.
        """
        super().__init__()
        self._first = dict(zip(pieces[:continuing], range(continuing), strict=True))
        self._inside = dict(zip(pieces[continuing:], range(continuing, len(pieces)), strict=True))
        self._scores = scores

    def __missing__(self, word: str) -> tuple[int, ...]:
        # A run is remembered like a word: Rust and RUST are rust, and links share their runs.
        found = tuple(chain.from_iterable(self._run(run) if run == word else self[run] for run in runs(word)))
        if len(self) < _MEMORY:
            self[word] = found
        return found

    def numbers(self, text: str) -> list[int]:
        """Return the numbers of the text's pieces in order; empty when it has none of the vocabulary."""
        return list(chain.from_iterable(map(self.__getitem__, words(text))))

    def _run(self, run: str) -> list[int]:
        if "가" <= run[0] <= "힣":
            return best_cut(run, self._first, self._first, self._scores)
        whole = self._first.get(run)
        return [whole] if whole is not None else best_cut(run, self._first, self._inside, self._scores)


def best_cut(
    run: str, first: Mapping[str, int], inside: Mapping[str, int], scores: Sequence[float]
) -> list[int]:
    """Return the numbers of the pieces with the highest summed score (Viterbi), without unknown characters.

    `first` holds the pieces that may begin the run, `inside` those that may follow.
    """
    size = len(run)
    best = [0.0, *[-inf] * size]
    steps: list[tuple[int, int | None]] = [(0, None)] * (size + 1)
    for start in range(size):
        table, base = (inside if start else first), best[start]
        if base + _UNKNOWN > best[start + 1]:
            best[start + 1], steps[start + 1] = base + _UNKNOWN, (start, None)
        for end in range(start + 1, min(size, start + _LONGEST_PIECE) + 1):
            number = table.get(run[start:end])
            if number is not None and base + scores[number] > best[end]:
                best[end], steps[end] = base + scores[number], (start, number)
    return _followed(steps)


def _followed(steps: Sequence[tuple[int, int | None]]) -> list[int]:
    numbers: list[int] = []
    end = len(steps) - 1
    while end:
        end, number = steps[end]
        if number is not None:
            numbers.append(number)
    return numbers[::-1]
