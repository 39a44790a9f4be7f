"""Cuts text into the pieces of a fixed vocabulary, without a tokenizer engine.

A text is a bag of words; a word is a run of one script; a run is cut into the likeliest pieces of a unigram
language model (Kudo 2018). Words repeat, so each is cut once and remembered. A Latin piece that continues a
word is another piece than one that begins it; in Hangul they are the same, so that a compound and its parts
meet.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import inf

from kebab.domain.ids import nfc

# Words that are remembered before the memory starts afresh: some 25 MB, the vocabulary of a large vault.
_MEMORY = 131_072
# So many cuts are worth the 30 ms that tables of beginnings take.
_MANY_CUTS = 2000
_LONGEST_RUN = 48
_UNKNOWN = -30.0

_WORD = re.compile(r"\w+")
# A boundary inside an identifier: HybridRetriever, but not siRNA or mRNA.
_CAMEL = re.compile(r"(?<=[a-z]{3})(?=[A-Z])")
_RUN = re.compile(r"[가-힣]+|[^\W_가-힣]+")
_ONE_RUN = re.compile(rf"(?:[a-z0-9]{{1,{_LONGEST_RUN}}}|[가-힣]{{1,{_LONGEST_RUN}}})")
# Bytes to bytes: what is no part of a word in ASCII becomes a space, everything beyond ASCII stays.
_PARTED = bytes(code if code > 127 or chr(code).isalnum() or code == ord("_") else 32 for code in range(256))


def runs(word: str) -> list[str]:
    """Return the lower-case single-script runs of a word as it stands in a text, long ones in parts."""
    lowered = word.lower()
    found = _RUN.findall(lowered if lowered == word else " ".join(_CAMEL.split(word)).lower())
    return [run[i : i + _LONGEST_RUN] for run in found for i in range(0, len(run), _LONGEST_RUN)]


def words(text: str) -> list[str]:
    """Return the words of a text in order, as written; punctuation is dropped."""
    return _WORD.findall(nfc(text))


class Subwords(dict[str, bytes]):
    """Maps a word to the numbers of its pieces, as packed integers; remembers the words it has met."""

    def __init__(
        self, pieces: Sequence[str], scores: Sequence[float], *, continuing: int, memory: int = _MEMORY
    ) -> None:
        """Take the vocabulary in the order of its numbers, with the log-probability of each piece.

        The pieces from number `continuing` on stand only inside Latin words. After `memory` words all are
        forgotten.
        """
        super().__init__()
        self._first = dict(zip(pieces[:continuing], range(continuing), strict=True))
        self._inside = dict(zip(pieces[continuing:], range(continuing, len(pieces)), strict=True))
        self._scores = scores
        self._memory = memory
        self._cuts = 0

    def __missing__(self, word: str) -> bytes:
        if len(self) >= self._memory:
            self.clear()
        found = self[word] = self._numbers(word)
        return found

    def packed(self, text: str) -> bytes:
        """Return the numbers of the text's pieces, in order, as an array of C integers."""
        # Three times as fast as looking for words; what lies beyond ASCII and is no letter is told apart
        # when such a word is met for the first time.
        parted = text.encode("utf-8", "surrogatepass").translate(_PARTED).decode("utf-8", "surrogatepass")
        return b"".join(map(self.__getitem__, parted.split()))

    def numbers(self, text: str) -> list[int]:
        """Return the numbers of the text's pieces in order; empty when it has none of the vocabulary."""
        return list(array("i", self.packed(text)))

    def _numbers(self, word: str) -> bytes:
        if _ONE_RUN.fullmatch(word):  # as most words are
            return self._run(word)
        if not word.isascii() and (inside := words(word)) != [word]:
            return b"".join([self[part] for part in inside])
        # A run is remembered like a word: Rust and RUST are rust, and links share their runs.
        return b"".join([self._run(run) if run == word else self[run] for run in runs(word)])

    def _run(self, run: str) -> bytes:
        is_hangul = "가" <= run[0] <= "힣"
        whole = None if is_hangul else self._first.get(run)
        if whole is not None:
            return array("i", [whole]).tobytes()
        self._cuts += 1
        closed = self._cuts > _MANY_CUTS
        first, inside = self._closed if closed else (self._first, self._inside)
        cut = best_cut(run, first, first if is_hangul else inside, self._scores, closed=closed)
        return array("i", cut).tobytes()

    @cached_property
    def _closed(self) -> tuple[dict[str, int], dict[str, int]]:
        return with_beginnings(self._first), with_beginnings(self._inside)


def with_beginnings(table: Mapping[str, int]) -> dict[str, int]:
    """Return the table with all beginnings of its pieces, as number -1 where they are none themselves."""
    beginnings = {piece[:end]: -1 for piece in table for end in range(1, len(piece))}
    return {**beginnings, **table}


def best_cut(
    run: str,
    first: Mapping[str, int],
    inside: Mapping[str, int],
    scores: Sequence[float],
    *,
    closed: bool = False,
) -> list[int]:
    """Return the numbers of the pieces with the highest summed score (Viterbi), without unknown characters.

    `first` holds the pieces that may begin the run, `inside` those that may follow; `closed` says that they
    hold their beginnings too, see `with_beginnings`: the same in two thirds of the time.
    """
    size = len(run)
    best = [0.0, *[-inf] * size]
    # For each end: where the last piece before it begins, and its number; -1 for an unknown character.
    begins, numbers = [0] * (size + 1), [-1] * (size + 1)
    get = first.get
    for start in range(size):
        base = best[start]
        if base + _UNKNOWN > best[start + 1]:
            best[start + 1], begins[start + 1], numbers[start + 1] = base + _UNKNOWN, start, -1
        for end in range(start + 1, size + 1):
            number = get(run[start:end])
            if number is None:
                if closed:
                    break
            elif number >= 0 and (score := base + scores[number]) > best[end]:
                best[end], begins[end], numbers[end] = score, start, number
        get = inside.get
    return _followed(begins, numbers)


def _followed(begins: Sequence[int], numbers: Sequence[int]) -> list[int]:
    found: list[int] = []
    end = len(begins) - 1
    while end:
        if numbers[end] >= 0:
            found.append(numbers[end])
        end = begins[end]
    return found[::-1]
