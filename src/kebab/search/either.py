"""Alternatives with a phrase among them, ``"new york" OR boston``: which chunks hold one of each group?

Words without quotes need none of this: a hit holds some of them anyway.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kebab.domain.ids import ChunkId, DocId
from kebab.domain.names import folded, latin_words, letters, written
from kebab.domain.values import dataclass
from kebab.ports import Analyzer, LexicalIndex, LexicalQuery

MOST = 20_000
"""Chunks of one alternative; those of the best score where there are more."""


MOST_WORDS = 50
"""Words that a beginning stands for."""


@dataclass(frozen=True, slots=True)
class EitherReader:
    index: LexicalIndex
    analyzer: Analyzer

    def holding(self, groups: Sequence[Sequence[str]], docs: frozenset[DocId] | None) -> frozenset[ChunkId]:
        """The chunks that hold an alternative of every group, each as a phrase. Raises EngineError."""
        found = [self._one_of(group, docs) for group in groups]
        return frozenset.intersection(*found) if found else frozenset()

    def beginning(self, prefixes: Sequence[str], docs: frozenset[DocId] | None) -> frozenset[ChunkId]:
        """The chunks that hold a word which begins so; of very many words the most frequent ones."""
        known = Counter[str]()
        for prefix in prefixes:
            known.update(self.index.words_from(letters(folded(prefix))))
        words = (written(word) for word, _ in known.most_common(MOST_WORDS))
        return frozenset(chunk for word in words for chunk in self._with(word, docs))

    def _one_of(self, group: Sequence[str], docs: frozenset[DocId] | None) -> frozenset[ChunkId]:
        return frozenset(chunk for text in group for chunk in self._with(text, docs))

    def _with(self, text: str, docs: frozenset[DocId] | None) -> list[ChunkId]:
        terms = tuple(self.analyzer.phrase_terms(text))
        asked = LexicalQuery(terms, phrases=(terms,), required=tuple(latin_words(text)))
        return [ChunkId(item.id) for item in self.index.search(asked, limit=MOST, docs=docs)] if terms else []
