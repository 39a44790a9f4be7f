"""Chooses the pieces of the model's vocabulary: one unigram language model for Hangul, one for the rest.

The counts are damped (to the power 0.75): a rare whole word is worth more to a bag of words than to a
language model. Needs the package `tokenizers`, for training only.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from multiprocessing import Pool
from pathlib import Path

from kebab.adapters.embedders.subwords import Subwords, runs, words
from training.records import read, sources

CONTINUES = "_"
"""Marks a Latin piece that does not begin its word; never part of a run itself."""

_START = "\u2581"
_DAMPING = 0.75
_LEAST = 3
# A piece "noun + particle" would hide the noun: where the noun is a piece itself, the longer one is dropped.
PARTICLES = (
    "을",
    "를",
    "은",
    "는",
    "이",
    "가",
    "의",
    "에",
    "에서",
    "에게",
    "으로",
    "와",
    "과",
    "입니다",
    "합니다",
    "됩니다",
)


def count_words(path: Path) -> Counter[str]:
    """Return how often each word stands in a file of records."""
    counts: Counter[str] = Counter()
    for record in read(path):
        for text in record:
            counts.update(words(text))
    return counts


def count_runs(folder: Path, *, workers: int) -> Counter[str]:
    """Return how often each single-script run stands in the training text."""
    counts: Counter[str] = Counter()
    with ExitStack() as working:
        every = working.enter_context(Pool(workers)).imap if workers > 1 else map
        for found in every(count_words, sources(folder)):
            for word, count in found.items():
                for run in runs(word):
                    counts[run] += count
    return counts


def _lines(counts: Iterable[tuple[str, int]], *, mark: str) -> Iterator[str]:
    for run, count in sorted(counts):
        if count >= _LEAST:
            yield " ".join([mark + run] * max(1, round(count**_DAMPING)))


def unigram(counts: Iterable[tuple[str, int]], *, size: int, mark: str) -> list[tuple[str, float]]:
    """Return the pieces of a unigram model of `size` pieces, best first, with log-probabilities."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.UnigramTrainer(
        vocab_size=size, max_piece_length=20, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(_lines(counts, mark=mark), trainer)
    pieces = json.loads(tokenizer.to_str())["model"]["vocab"]
    return [(piece, score) for piece, score in pieces if piece not in ("<unk>", mark)]


def without_particles(pieces: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Drop the pieces that are another piece of two or more syllables with a particle or ending after it."""
    known = {piece for piece, _ in pieces if len(piece) >= 2}
    return [
        (piece, score)
        for piece, score in pieces
        if not any(piece.endswith(end) and piece[: -len(end)] in known for end in PARTICLES)
    ]


def build(folder: Path, *, size: int, hangul: int, workers: int) -> list[tuple[str, float]]:
    """Return `size` pieces with scores, `hangul` of them Korean."""
    counts = count_runs(folder, workers=workers)
    korean = [(run, count) for run, count in counts.items() if "가" <= run[0] <= "힣"]
    others = [(run, count) for run, count in counts.items() if not "가" <= run[0] <= "힣"]
    pieces = without_particles(unigram(korean, size=hangul * 3 // 2, mark=""))[:hangul]
    marked = unigram(others, size=size - len(pieces) + 2, mark=_START)
    pieces += [
        (piece[1:] if piece.startswith(_START) else CONTINUES + piece, score) for piece, score in marked
    ]
    unique = dict(reversed(pieces))
    return sorted(unique.items(), key=lambda item: (-item[1], item[0]))[:size]


def ordered(pieces: list[tuple[str, float]]) -> tuple[list[tuple[str, float]], int]:
    """Return the pieces without marks, those that continue a word last, and how many begin one."""
    first = [(piece, score) for piece, score in pieces if not piece.startswith(CONTINUES)]
    inside = [(piece[1:], score) for piece, score in pieces if piece.startswith(CONTINUES)]
    return first + inside, len(first)


def cutter(path: Path) -> Subwords:
    """Return what cuts text into the pieces of a vocabulary file."""
    pieces, continuing = ordered(load(path))
    return Subwords([piece for piece, _ in pieces], [score for _, score in pieces], continuing=continuing)


def write(path: Path, pieces: list[tuple[str, float]]) -> None:
    """Write one piece and its score a line, tab between."""
    path.write_text("".join(f"{piece}\t{score:.4f}\n" for piece, score in pieces), "utf-8")


def load(path: Path) -> list[tuple[str, float]]:
    """Return what `write` wrote."""
    rows = (line.split("\t") for line in path.read_text("utf-8").splitlines())
    return [(piece, float(score)) for piece, score in rows]
