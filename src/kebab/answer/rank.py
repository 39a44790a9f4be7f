"""Which passage answers a question: a small learned ranking over all passages that were found.

Every feature lies between 0 and 1, and more of it never speaks against a passage: the weights are fitted with
that constraint (training/answers). ``weights.json`` beside this module holds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kebab.answer.admitted import may_answer, points_away, says_something
from kebab.answer.kinds import Kind, kind_of
from kebab.answer.measured import FEATURES, READ, Measurer, Read
from kebab.answer.meeting import WordSpace, words_of
from kebab.answer.passages import passages
from kebab.answer.question import Keyword, Question
from kebab.answer.shapes import Passage, Shape
from kebab.answer.shown import show
from kebab.domain.chunks import StoredChunk
from kebab.domain.hits import Retrieval
from kebab.ports import Analyzer

_OWN = FEATURES.index("own")
_ROW, _MEETS = 1.0, 0.25
"""What such a row loses, and how much of the keywords one meets that is no such row."""
_TEXTS = 1024
"""Chunks whose passages are remembered: the pages that are asked about recur."""
_POINTER = 1.5
"""What a link to another site loses beside what the notes say themselves."""
_NO_WORDS = 5.0
"""The same where a definition is asked for: a title defines nothing."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A passage with the chunk it stands in, what was measured of it, and what it is worth."""

    passage: Passage
    chunk: StoredChunk
    place: int
    """The place of the chunk among those found, from 0."""
    features: tuple[float, ...]
    worth: float
    terms: frozenset[str]


def _aside(one: Read, values: Sequence[float], kind: Kind) -> float:
    """What a passage loses by its form: a row of a table that keywords find by its headings alone (of many
    rows, why this one?), and a bookmark.
    """
    row = kind is Kind.OTHER and one.passage.shape is Shape.ROW and values[_OWN] < _MEETS
    if kind is Kind.WHERE or not points_away(one.passage.text):
        return _ROW * row
    return _ROW * row + (_NO_WORDS if kind is Kind.DEFINITION else _POINTER)


@dataclass(frozen=True)
class Ranker:
    """Ranks the passages of what a search found. The same input gives the same order."""

    analyzer: Analyzer
    space: WordSpace
    weights: Mapping[str, float]

    def rank(
        self,
        question: Question,
        weighed: Mapping[Keyword, float],
        found: Retrieval,
        chunks: Sequence[StoredChunk],
        more: Sequence[tuple[int, StoredChunk]] = (),
    ) -> list[Scored]:
        """Every passage worth reading, best first.

        ``chunks`` are those of the hits, in their order; ``more`` are others of the same documents, each with
        the place of the hit that led to it.
        """
        kind = kind_of(question.text)
        read = [
            one
            for place, chunk in [*enumerate(chunks[:READ]), *more]
            for one in self._read(chunk, place, kind)
        ]
        if not read:
            return []
        measured = Measurer(self.analyzer, self.space).measured(question, weighed, found, chunks, read)
        scored = [
            Scored(
                one.passage,
                one.chunk,
                one.place,
                values,
                self._worth(values) - _aside(one, values, kind),
                one.terms,
            )
            for one, values in zip(read, measured, strict=True)
        ]
        return sorted(scored, key=lambda one: (-one.worth, one.place, one.passage.place))

    def _worth(self, values: Sequence[float]) -> float:
        return sum(self.weights[name] * value for name, value in zip(FEATURES, values, strict=True))

    def _read(self, chunk: StoredChunk, place: int, kind: Kind) -> list[Read]:
        found = [(p, shown) for p, shown in _quotable(chunk.chunk.text) if may_answer(p, kind)]
        return [
            Read(p, chunk, place, shown, frozenset(self.analyzer.terms(shown)), words_of(shown))
            for p, shown in found
        ]


@lru_cache(maxsize=_TEXTS)
def _quotable(text: str) -> tuple[tuple[Passage, str], ...]:
    """The passages of a text that say something, each with what is shown of it."""
    return tuple((p, shown) for p in passages(text) if says_something(shown := show(p)))
