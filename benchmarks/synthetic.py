"""Chunks in any number that look like real ones: real words by their real frequencies, and topics.

A chunk belongs to a topic. A third of its words come from the topic's own list, the rest from the whole
language; its vector lies around the topic's centre, and topics gather around fewer themes. Everything follows
from the seed, so that every engine is given the same chunks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 768
"""Those of the built-in model, under whose name the product stores these vectors."""
BLOCK = 10_000
CHUNKS_A_DOC = 10
"""Neighbouring chunks of one topic: a document is about something."""
WORDS_A_CHUNK = 120
TOPIC_SHARE = 1 / 3
TOPIC_WORDS = 60
VOCABULARY = 50_000
SEED = 7

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Block:
    """Neighbouring chunks; ``start`` is the number of the first."""

    start: int
    texts: list[str]
    vectors: Floats


@dataclass(frozen=True)
class Queries:
    texts: list[str]
    vectors: Floats


def real_text(data: Path, vault: Path) -> Iterator[str]:
    """Texts of both languages: the shared collections where they are, the sample vault otherwise."""
    files = [data / "scifact" / "corpus.jsonl", data / "autorag-ko" / "corpus.jsonl"]
    files = [file for file in files if file.is_file()] + sorted((data / "rust-book").glob("??/*.md"))
    for file in files or sorted(vault.rglob("*.md")):
        yield file.read_text(encoding="utf-8")


class Language:
    """Words with their frequencies, and topics made of them."""

    def __init__(self, texts: Iterator[str], *, topics: int) -> None:
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(re.findall(r"[^\W\d_]{2,}", text))
        common = counts.most_common(VOCABULARY)
        self.words = np.array([word for word, _ in common], dtype=object)
        frequencies = np.array([count for _, count in common], dtype=np.float64)
        self.cumulative = np.cumsum(frequencies / frequencies.sum())
        rng = np.random.default_rng(SEED)
        # The very common words belong to no topic.
        first = min(200, len(common) // 4)
        self.topic_words = rng.integers(first, len(common), size=(topics, TOPIC_WORDS))
        themes = _unit(rng.standard_normal((max(8, topics // 20), DIMENSIONS)))
        own = _unit(rng.standard_normal((topics, DIMENSIONS)))
        self.centres = _unit(themes[rng.integers(0, len(themes), topics)] + 0.9 * own)

    def blocks(self, size: int) -> Iterator[Block]:
        for start in range(0, size, BLOCK):
            rng = np.random.default_rng([SEED, start])
            count = min(BLOCK, size - start)
            topics = np.repeat(self._topics(rng, -(-count // CHUNKS_A_DOC)), CHUNKS_A_DOC)[:count]
            rows = self._words(rng, topics, WORDS_A_CHUNK)
            texts = [" ".join(self.words[row]) for row in rows]
            yield Block(start, texts, self._vectors(rng, topics))

    def queries(self, count: int, *, seed: int) -> Queries:
        """Two to six words each, half of them of the topic, as people name what they look for."""
        rng = np.random.default_rng([SEED, seed, 1])
        topics = self._topics(rng, count)
        rows = self._words(rng, topics, 6, topic_share=0.5)
        lengths = rng.integers(2, 7, count)
        texts = [" ".join(self.words[row[-length:]]) for row, length in zip(rows, lengths, strict=True)]
        return Queries(texts, self._vectors(rng, topics))

    def _topics(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        # Squared: some topics are written about far more often than others.
        return (rng.random(count) ** 2 * len(self.topic_words)).astype(np.int64)

    def _words(
        self,
        rng: np.random.Generator,
        topics: NDArray[np.int64],
        length: int,
        *,
        topic_share: float = TOPIC_SHARE,
    ) -> NDArray[np.int64]:
        own = round(length * topic_share)
        common = np.searchsorted(self.cumulative, rng.random((len(topics), length - own)))
        picked = self.topic_words[topics[:, None], rng.integers(0, TOPIC_WORDS, (len(topics), own))]
        return np.concatenate([np.minimum(common, len(self.words) - 1), picked], axis=1)

    def _vectors(self, rng: np.random.Generator, topics: NDArray[np.int64]) -> Floats:
        noise = rng.standard_normal((len(topics), DIMENSIONS)) * (0.9 / DIMENSIONS**0.5)
        return _unit(self.centres[topics] + noise)


def _unit(rows: NDArray[np.float64]) -> Floats:
    unit: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit
