"""Alternatives with a phrase among them, ``"new york" OR boston``: which chunks hold one of each group?

Words without quotes need none of this: a hit holds some of them anyway.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kebab.domain.ids import ChunkId, DocId
from kebab.domain.names import folded, letters, written
from kebab.domain.values import dataclass
from kebab.search.quoted import QuoteReader

MOST_WORDS = 50
"""Words that a beginning stands for."""


@dataclass(frozen=True, slots=True)
class EitherReader:
    """Finds the chunks of alternatives, each of which is a phrase."""

    quotes: QuoteReader

    def holding(self, groups: Sequence[Sequence[str]], docs: frozenset[DocId] | None) -> frozenset[ChunkId]:
        """The chunks that hold an alternative of every group, each as a phrase. Raises EngineError."""
        found = [self._one_of(group, docs) for group in groups]
        return frozenset.intersection(*found) if found else frozenset()

    def beginning(self, prefixes: Sequence[str], docs: frozenset[DocId] | None) -> frozenset[ChunkId]:
        """The chunks that hold a word which begins so; of very many words the most frequent ones."""
        known = Counter[str]()
        for prefix in prefixes:
            known.update(self.quotes.index.words_from(letters(folded(prefix))))
        words = (written(word) for word, _ in known.most_common(MOST_WORDS))
        return frozenset(chunk for word in words for chunk in self.quotes.holding(word, docs))

    def _one_of(self, group: Sequence[str], docs: frozenset[DocId] | None) -> frozenset[ChunkId]:
        return frozenset(chunk for text in group for chunk in self.quotes.holding(text, docs))
