"""Chooses everyday words that become pieces beside those of version 2.

    python -m training.new_words --start FOLDER --data FOLDER ... --out FOLDER [--size N]

Reads version 2 (START) and folders of records, and writes OUT/vocabulary.tsv, the pieces as `write`
does, and OUT/new.tsv: the new words with the weights that they begin with. Needs the package `wordfreq`
(3.1.1, data under CC BY-SA 4.0), for training only: how often a word is said tells everyday words from the
rest, and gives a new piece its score and weights, by the line on which those of the old pieces lie. Where the
vocabulary would have more than N pieces, those that the training text uses least make room.
"""

from __future__ import annotations

import argparse
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import cpu_count
from pathlib import Path

import numpy as np

from kebab.adapters.embedders.subwords import Subwords, words
from training import vocabulary
from training.export import Table, read_table
from training.records import Record, read, sources
from training.word_forms import bare, base, closed, english_forms, is_compound

SIZE = 50_000
"""The most pieces: more than version 2 and all words that may be tried have together."""
MOST_KOREAN, MOST_ENGLISH = 5800, 3200
"""How many words may be tried; those that no text is cut into are dropped again."""

_DICTIONARIES = ("enwikt", "wnko", "kedict", "cldr", "osm", "shopify")
_LEAST_KOREAN, _LEAST_ENGLISH, _PLAIN_KOREAN = 9e-7, 8e-7, 3e-6
_COMMON_ENGLISH = 1e-6
_LEAST_USE = 2
_COMMON_BONUS = 60
"""What a piece that is a common word counts more than its uses in the training text."""
_FEWEST, _FEWEST_ENGLISH = 2, 4
"""How often a word must stand in the records."""
_KOREAN, _ENGLISH = re.compile(r"[가-힣]{2,5}"), re.compile(r"[a-z]{3,16}")

Frequencies = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Word:
    """A word to become a piece: its score and the weights (query, document) that it begins with."""

    text: str
    score: float
    weights: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """What scores and weights of one language's pieces are, by the logarithm of a word's frequency."""

    score: tuple[float, float]
    weights: tuple[tuple[float, float], tuple[float, float]]
    frequencies: Frequencies

    def word(self, text: str) -> Word:
        place = math.log(self.frequencies.get(text, 1e-6))
        query, document = (float(np.clip(a * place + b, 0.8, 6.0)) for a, b in self.weights)
        return Word(text, self.score[0] * place + self.score[1], (query, document))


def line(table: Table, frequencies: Frequencies, *, hangul: bool) -> Line:
    """Return the lines on which the pieces of one language lie that are words."""
    rows = [
        row
        for row, piece in enumerate(table.pieces[: table.continuing])
        if len(piece) > 1 and piece in frequencies and is_hangul(piece) == hangul
    ]
    places = np.log([frequencies[table.pieces[row]] for row in rows])

    def fitted(values: Sequence[float] | np.ndarray) -> tuple[float, float]:
        slope, height = np.polyfit(places, values, 1)
        return float(slope), float(height)

    scores = fitted([table.scores[row] for row in rows])
    return Line(scores, (fitted(table.weights[0, rows]), fitted(table.weights[1, rows])), frequencies)


def is_hangul(text: str) -> bool:
    return "가" <= text[0] <= "힣"


def dictionary_words(files: Iterable[Path]) -> tuple[set[str], set[str]]:
    """Return the Korean and the English words of the dictionaries, the former without their endings."""
    korean: set[str] = set()
    english: set[str] = set()
    for path in files:
        name = path.name.split(".")[0]
        if name in _DICTIONARIES:
            for record in read(path):
                korean.update(_korean_words(record, whole=name != "shopify"))
        if name == "wordnet":
            for record in read(path):
                said = record.title_en.split(", ")
                english.update(form for word in said if word == word.lower() for form in english_forms(word))
    return {word for word in korean if _KOREAN.fullmatch(word)}, english


def _korean_words(record: Record, *, whole: bool) -> Iterator[str]:
    """Yield the words of a record that stand alone, or all where a name need not be one word as a `whole`."""
    for part in re.split(r"[,;>/]", f"{record.title_ko},{record.body_ko}"):
        found = words(part)
        if len(found) == 1 or not whole:
            yield from map(base, found)


def candidates(
    table: Table, counts: Mapping[str, int], known: set[str], frequencies: Frequencies, *, most: int
) -> list[str]:
    """Return the words that are cut up today and should not be, the most used first."""
    cutter, pieces = table.cutter(), set(table.pieces[: table.continuing])
    tried = known | {word for word, often in frequencies.items() if often >= _PLAIN_KOREAN}
    chosen = [
        word
        for word in tried
        if word not in pieces
        and _wanted(word, known=word in known, often=frequencies.get(word, 0.0), count=counts.get(word, 0))
        and is_cut(word, [table.pieces[number] for number in cutter.numbers(word)], pieces)
    ]
    rank = {word: math.log(frequencies[word]) + 0.6 * math.log(1 + counts.get(word, 0)) for word in chosen}
    return sorted(chosen, key=lambda word: (-rank[word], word))[:most]


def _wanted(word: str, *, known: bool, often: float, count: int) -> bool:
    if _ENGLISH.fullmatch(word):
        return known and often >= _LEAST_ENGLISH and count >= _FEWEST_ENGLISH
    if not _KOREAN.fullmatch(word) or often < _LEAST_KOREAN or count < _FEWEST:
        return False
    return closed(word) if known else len(word) < 5 and bare(word)


def is_cut(word: str, parts: Sequence[str], pieces: set[str]) -> bool:
    """Say whether a word loses its meaning by being cut; one that falls into two words does not."""
    if len(parts) < 2:
        return False
    if not is_hangul(word):
        return not is_compound(parts)
    ends = (word[: -len(end)] for end in vocabulary.PARTICLES if word.endswith(end))
    return min(map(len, parts)) < 2 and not any(len(noun) >= 2 and noun in pieces for noun in ends)


def used(cutter: Subwords, size: int, counts: Mapping[str, int]) -> np.ndarray:
    """Return how often each piece stands in the training text."""
    found = np.zeros(size)
    for run, count in counts.items():
        for number in cutter.numbers(run):
            found[number] += count
    return found


def with_words(table: Table, new: Sequence[Word]) -> Subwords:
    """Return what cuts text when new words begin words too, after the pieces that do today."""
    at = table.continuing
    pieces = [*table.pieces[:at], *(word.text for word in new), *table.pieces[at:]]
    scores = [*table.scores[:at], *(word.score for word in new), *table.scores[at:]]
    return Subwords(pieces, scores, continuing=at + len(new))


def exchange(
    table: Table, new: Sequence[Word], counts: Mapping[str, int], common: set[str], *, size: int = SIZE
) -> tuple[list[tuple[str, float]], list[Word]]:
    """Return the new vocabulary and the words that are new in it; single letters always stay."""
    at = table.continuing
    use = used(with_words(table, new), len(table.pieces) + len(new), counts)
    taken = [word for word, often in zip(new, use[at : at + len(new)], strict=True) if often >= _LEAST_USE]
    worth = np.concatenate([use[:at], use[at + len(new) :]])
    worth += [_COMMON_BONUS * (piece in common) for piece in table.pieces]
    order = [row for row in np.argsort(worth, kind="stable") if len(table.pieces[row]) > 1]
    dropped = set(order[: max(0, len(table.pieces) + len(taken) - size)])
    old = [
        (piece, score)
        for row, (piece, score) in enumerate(zip(table.marked, table.scores, strict=True))
        if row not in dropped
    ]
    first = at - sum(row < at for row in dropped)
    return [*old[:first], *((word.text, word.score) for word in taken), *old[first:]], taken


def choose(
    table: Table,
    folders: Sequence[Path],
    korean: Frequencies,
    english: Frequencies,
    *,
    workers: int,
    size: int = SIZE,
) -> tuple[list[tuple[str, float]], list[Word]]:
    """Return the new vocabulary and its new words, from records and from how often words are said."""
    counts: Counter[str] = Counter()
    for folder in folders:
        counts.update(vocabulary.count_runs(folder, workers=workers))
    known = dictionary_words(path for folder in folders for path in sources(folder))
    new: list[Word] = []
    for names, often, most in zip(known, (korean, english), (MOST_KOREAN, MOST_ENGLISH), strict=True):
        lines = line(table, often, hangul=often is korean)
        new += [lines.word(word) for word in candidates(table, counts, names, often, most=most)]
    return exchange(table, new, counts, common(korean, english), size=size)


def common(korean: Frequencies, english: Frequencies) -> set[str]:
    """Return the words that a vocabulary should keep although the training text hardly has them."""
    return set(korean) | {
        word for word, often in english.items() if len(word) > 3 and often >= _COMMON_ENGLISH
    }


def write(path: Path, new: Iterable[Word]) -> None:
    """Write a word and the weights it begins with a line, tab between."""
    path.write_text("".join(f"{word.text}\t{word.weights[0]}\t{word.weights[1]}\n" for word in new), "utf-8")


def load(path: Path) -> dict[str, tuple[float, float]]:
    """Return the weights that `write` wrote, by word."""
    rows = (row.split("\t") for row in path.read_text("utf-8").splitlines())
    return {word: (float(query), float(document)) for word, query, document in rows}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--start", type=Path, required=True)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--size", type=int, default=SIZE)
    options = parser.parse_args(arguments)
    from wordfreq import get_frequency_dict

    korean, english = get_frequency_dict("ko", "small"), get_frequency_dict("en", "large")
    table = read_table(options.start)
    pieces, new = choose(table, options.data, korean, english, workers=cpu_count() or 1, size=options.size)
    options.out.mkdir(parents=True, exist_ok=True)
    vocabulary.write(options.out / "vocabulary.tsv", pieces)
    write(options.out / "new.tsv", new)
    hangul = sum(is_hangul(word.text) for word in new)
    print(f"{len(pieces)} pieces, {len(new)} of them new, {hangul} of those Korean")


if __name__ == "__main__":
    main()
