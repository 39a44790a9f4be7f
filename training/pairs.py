"""Turns records into pairs of token bags: what a person might ask, and the text that should be found.

Four ways to make a pair: a heading finds its section; a sentence finds the text it was taken out of (Lee,
Chang & Toutanova 2019); either finds the text in the other language; aligned sentences find each other.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kebab.adapters.embedders.subwords import Subwords
from training.records import SEPARATOR, Record, is_dev, read, sources
from training.vocabulary import cutter

TYPES = (
    "title-en",
    "cloze-en",
    "title-ko",
    "cloze-ko",
    "en-ko",
    "ko-en",
    "short-en-ko",
    "short-ko-en",
    "word",
)
DICTIONARIES = ("wordnet", "cldr", "kedict", "enwikt", "wnko")
_BILINGUAL = ("kedict", "cldr", "enwikt", "wnko")
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
_CHUNK, _WHOLE, _MOST_CHUNKS, _LONGEST_TOPIC = 180, 450, 4, 16
_QUESTIONS = {
    "en": ("what is {}?", "how to {}", "what are {}?", "how does {} work?", "{} explained", "why {}?"),
    "ko": ("{}란 무엇인가요?", "{}에 대해 알려줘", "{} 방법은 무엇입니까?", "{}는 어떻게 하나요?", "{}이란?"),
}

Tokens = list[int]


class Pair(NamedTuple):
    """A query and the document it should find; `type` is an index into TYPES."""

    type: int
    query: Tokens
    document: Tokens


@dataclass(frozen=True, slots=True)
class Side:
    """One language of a record, cut into tokens."""

    language: str
    title: str
    title_tokens: Tokens
    texts: list[str]
    sentences: list[Tokens]
    chunks: list[list[Tokens]]

    @property
    def whole(self) -> Tokens:
        """The first part of the text, without its title."""
        return [token for sentence in self.sentences for token in sentence][:_WHOLE]


def chunked(sentences: Sequence[Tokens]) -> list[list[Tokens]]:
    """Group sentences into chunks of about `_CHUNK` tokens; no sentence is cut."""
    chunks: list[list[Tokens]] = []
    size = _CHUNK
    for sentence in sentences:
        if size >= _CHUNK:
            chunks.append([])
            size = 0
        chunks[-1].append(sentence)
        size += len(sentence)
    return chunks


def side(subwords: Subwords, language: str, title: str, body: str) -> Side | None:
    """Return one language of a record, or None where it has no text."""
    title = title.replace(SEPARATOR, " ").strip()
    cut = [
        (text, tokens[:_WHOLE]) for text in _SENTENCE_END.split(body) if (tokens := subwords.numbers(text))
    ]
    if not cut:
        return None
    sentences = [tokens for _, tokens in cut]
    texts = [text for text, _ in cut]
    return Side(language, title, subwords.numbers(title), texts, sentences, chunked(sentences))


def flat(sentences: Sequence[Tokens]) -> Tokens:
    return [token for sentence in sentences for token in sentence][:_WHOLE]


@dataclass(slots=True)
class PairMaker:
    """Makes the pairs of records; the same seed gives the same pairs."""

    subwords: Subwords
    translations: dict[str, list[str]] = field(default_factory=dict)
    seed: int = 1
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def pairs(self, record: Record, *, dictionary: bool) -> Iterator[Pair]:
        """Yield all pairs of a record; `dictionary` marks sources of words and definitions."""
        english = side(self.subwords, "en", record.title_en, record.body_en)
        korean = side(self.subwords, "ko", record.title_ko, record.body_ko)
        for first, one in ((0, english), (2, korean)):
            if one is not None:
                yield from self._within(one, title=8 if dictionary else first, cloze=first + 1)
        if english:
            yield from self._mixed(english, dictionary=dictionary)
        if english and korean:
            yield from self._across(english, korean, long=4, short=6)
            yield from self._across(korean, english, long=5, short=7)

    def _ask(self, side: Side) -> Tokens:
        # A long title is a sentence; wrapped into a question it would be none.
        if self._random.random() < 0.2 and len(side.title_tokens) <= _LONGEST_TOPIC:
            return self.subwords.numbers(self._random.choice(_QUESTIONS[side.language]).format(side.title))
        return side.title_tokens

    def _within(self, side: Side, *, title: int, cloze: int) -> Iterator[Pair]:
        for chunk in self._some(side.chunks):
            if side.title_tokens:
                yield Pair(title, self._ask(side), flat(chunk))
            yield from self._cloze(side, chunk, type=cloze)
        if len(side.chunks) > 1 and side.title_tokens:
            yield Pair(title, self._ask(side), side.whole)

    def _cloze(self, side: Side, chunk: list[Tokens], *, type: int) -> Iterator[Pair]:
        places = [place for place, sentence in enumerate(chunk) if 6 <= len(sentence) <= 80]
        if len(chunk) < 3 or not places:
            return
        taken = self._random.choice(places)
        rest = chunk if self._random.random() < 0.1 else [*chunk[:taken], *chunk[taken + 1 :]]
        title = side.title_tokens if self._random.random() < 0.5 else []
        yield Pair(type, chunk[taken], flat([title, *rest]))

    def _across(self, query: Side, target: Side, *, long: int, short: int) -> Iterator[Pair]:
        document = [*target.title_tokens, *target.whole]
        if query.title_tokens:
            yield Pair(long, self._ask(query), document if self._random.random() < 0.5 else target.whole)
            if target.title_tokens:
                yield Pair(short, query.title_tokens, target.title_tokens)
        if len(query.sentences) > 1:
            yield Pair(long, self._random.choice(query.sentences), document)
        yield Pair(long, query.whole, target.whole)
        if len(query.sentences) == len(target.sentences) > 1:
            place = self._random.randrange(len(query.sentences))
            yield Pair(short, query.sentences[place], target.sentences[place])

    def _mixed(self, side: Side, *, dictionary: bool) -> Iterator[Pair]:
        """Say words of an English query in Korean, for sources without translation (Qin et al. 2020)."""
        asked = (
            side.title if self._random.random() < 0.3 and not dictionary else self._random.choice(side.texts)
        )
        if dictionary or self._random.random() < 0.4:
            mixed = self._translated(asked)
            if mixed:
                yield Pair(7 if dictionary else 5, self.subwords.numbers(mixed), side.whole)

    def _translated(self, text: str) -> str | None:
        words = text.lower().split()
        known = [self.translations.get(word.strip(".,;:?!()\"'")) for word in words]
        if sum(found is not None for found in known) * 4 < len(words):
            return None
        pairs = zip(words, known, strict=True)
        return " ".join(
            self._random.choice(found) if found and self._random.random() < 0.8 else word
            for word, found in pairs
        )

    def _some(self, chunks: list[list[Tokens]]) -> list[list[Tokens]]:
        return chunks if len(chunks) <= _MOST_CHUNKS else self._random.sample(chunks, _MOST_CHUNKS)


@dataclass(frozen=True, slots=True)
class Bags:
    """Token bags in one flat array; bag i is `tokens[offsets[i]:offsets[i + 1]]` with its counts."""

    tokens: np.ndarray
    counts: np.ndarray
    offsets: np.ndarray


@dataclass(frozen=True, slots=True)
class PairSet:
    """Pairs of one source and split: row i joins query bag i and document bag i."""

    source: str
    types: np.ndarray
    records: np.ndarray
    queries: Bags
    documents: Bags


def bags(texts: Sequence[Tokens]) -> Bags:
    """Return the bags of token lists: distinct tokens ascending, with how often each stands there."""
    parts = [np.unique(np.asarray(text, dtype=np.int32), return_counts=True) for text in texts]
    offsets = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(tokens) for tokens, _ in parts], out=offsets[1:])
    empty = [np.empty(0, dtype=np.int32)]
    tokens = np.concatenate([tokens for tokens, _ in parts] or empty)
    counts = np.concatenate([counts for _, counts in parts] or empty)
    return Bags(tokens, np.minimum(counts, 255).astype(np.uint8), offsets)


def translations(folder: Path) -> dict[str, list[str]]:
    """Return the Korean words for single English words, from the bilingual dictionaries of a folder."""
    found: dict[str, list[str]] = {}
    for name in _BILINGUAL:
        path = folder / f"{name}.jsonl.xz"
        for record in read(path) if path.is_file() else ():
            korean = record.title_ko or record.body_ko
            for gloss in re.split(r"[,;]", (record.title_en or record.body_en).lower()):
                word = re.sub(r"^(to|a|an|the) ", "", gloss.strip())
                if word.isalpha() and len(word) > 3 and " " not in korean:
                    found.setdefault(word, []).append(korean)
    return found


Job = tuple[Path, Path, int, int, int]


def _make(job: Job) -> tuple[PairSet, PairSet]:
    path, vocabulary, part, parts, seed = job
    maker = PairMaker(cutter(vocabulary), translations(path.parent), seed=seed + part)
    name = path.name.split(".")[0]
    found: dict[bool, list[tuple[int, Pair]]] = {False: [], True: []}
    for number, record in enumerate(read(path)):
        if number % parts == part:
            made = maker.pairs(record, dictionary=name in DICTIONARIES)
            found[is_dev(record)] += [(number, pair) for pair in made if pair.query and pair.document]
    return _pair_set(name, found[False]), _pair_set(name, found[True])


def _pair_set(source: str, found: list[tuple[int, Pair]]) -> PairSet:
    return PairSet(
        source,
        np.array([pair.type for _, pair in found], dtype=np.int64),
        np.array([number for number, _ in found], dtype=np.int64),
        bags([pair.query for _, pair in found]),
        bags([pair.document for _, pair in found]),
    )


def make_pairs(
    folder: Path, vocabulary: Path, *, workers: int, seed: int = 1, limit: int | None = None
) -> tuple[list[PairSet], list[PairSet]]:
    """Return the training and the held-out pairs of every source in a folder, in a fixed order."""
    jobs: list[Job] = []
    for path in sources(folder):
        parts = max(1, round(path.stat().st_size / 800_000))
        jobs += [(path, vocabulary, part, parts, seed) for part in range(parts if limit is None else limit)]
    with Pool(workers) as pool:
        made = pool.map(_make, jobs, chunksize=1)
    return [train for train, _ in made], [dev for _, dev in made]
