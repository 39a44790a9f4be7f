"""Cuts text into the pieces of a fixed vocabulary, without a tokenizer engine.

A text is a bag of words; a word is a run of one script; a run is cut into the likeliest pieces of a unigram
language model (Kudo 2018). Words repeat, so each is cut once and remembered. Latin pieces that continue a
word carry a leading mark; Hangul ones do not, so that a compound and its parts share their pieces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import chain

CONTINUES = "_"
"""Marks a Latin piece that does not begin its word; never part of a run itself."""

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
    word = unicodedata.normalize("NFC", word)
    parts = _CAMEL.split(word) if not word.islower() else [word]
    found = chain.from_iterable(_RUN.findall(part.lower()) for part in parts)
    return [run[i : i + _LONGEST_RUN] for run in found for i in range(0, len(run), _LONGEST_RUN)]


def words(text: str) -> list[str]:
    """Return the words of a text in order, as written; punctuation is dropped."""
    return _WORD.findall(text if text.isascii() else unicodedata.normalize("NFC", text))


def best_cut(run: str, scores: Mapping[str, float]) -> list[str]:
    """Return the pieces of a run with the highest summed score; characters without any piece are left out."""
    whole = not "가" <= run[0] <= "힣"
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(run) + 1):
        options = [(best[end - 1][0] + _UNKNOWN, end - 1)]
        for start in range(max(0, end - _LONGEST_PIECE), end):
            piece = run[start:end] if start == 0 or not whole else CONTINUES + run[start:end]
            score = scores.get(piece)
            if score is not None:
                options.append((best[start][0] + score, start))
        best.append(max(options))
    pieces: list[str] = []
    end = len(run)
    while end:
        start = best[end][1]
        piece = run[start:end] if start == 0 or not whole else CONTINUES + run[start:end]
        pieces.append(piece)
        end = start
    return [piece for piece in reversed(pieces) if piece in scores]


class Subwords(dict[str, tuple[int, ...]]):
    """Maps a word to the numbers of its pieces; remembers the words it has met."""

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]) -> None:
        """Take the vocabulary in the order of its numbers, and the log-probability of each piece."""
        super().__init__()
        self._numbers = dict(zip(pieces, range(len(pieces)), strict=True))
        self._scores = dict(zip(pieces, scores, strict=True))

    def __missing__(self, word: str) -> tuple[int, ...]:
        found = tuple(chain.from_iterable(map(self._run, runs(word))))
        if len(self) < _MEMORY:
            self[word] = found
        return found

    def numbers(self, text: str) -> list[int]:
        """Return the numbers of the text's pieces in order; empty when it has none of the vocabulary."""
        return list(chain.from_iterable(map(self.__getitem__, words(text))))

    def _run(self, run: str) -> list[int]:
        whole = self._numbers.get(run)
        if whole is not None and not "가" <= run[0] <= "힣":
            return [whole]
        return [self._numbers[piece] for piece in best_cut(run, self._scores)]
