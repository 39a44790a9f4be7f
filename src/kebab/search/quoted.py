"""Which chunks hold what a query quotes, and which hold what it excludes? The words index knows at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kebab.domain.ids import ChunkId, DocId
from kebab.domain.names import latin_words
from kebab.domain.values import dataclass
from kebab.ports import Analyzer, LexicalIndex, LexicalQuery

MOST = 20_000
"""Chunks that hold a phrase, of which no more are listed where those of the best score will do."""


@dataclass(frozen=True, slots=True)
class QuoteReader:
    """Asks the words index for phrases, in the way in which a search by words is bound by them."""

    index: LexicalIndex
    analyzer: Analyzer
    most: int = MOST

    def holding(self, text: str, docs: frozenset[DocId] | None) -> frozenset[ChunkId]:
        """The chunks that hold a text as a phrase, its Latin words as typed; of very many those of the best
        score. Raises EngineError."""
        asked = self._asked(text, as_typed=True)
        return self._found(asked, docs, self.most) if asked else frozenset()

    def holding_all(self, phrases: Iterable[str], docs: frozenset[DocId] | None) -> frozenset[ChunkId] | None:
        """The chunks that hold every phrase; None where nothing is quoted, or more hold it than are listed.

        Quotes around mere punctuation ask for nothing.
        """
        found = [self.holding(phrase, docs) for phrase in self._saying(phrases)]
        whole = [chunks for chunks in found if len(chunks) < self.most]
        return frozenset.intersection(*whole) if whole and len(whole) == len(found) else None

    def left_of(
        self,
        chunks: frozenset[ChunkId],
        docs: frozenset[DocId],
        *,
        phrases: Iterable[str],
        excluded: Iterable[str],
    ) -> frozenset[ChunkId]:
        """Those of some chunks, of these documents, that hold every phrase and nothing that is excluded."""
        for phrase in self._saying(phrases):
            chunks &= self._every(phrase, docs)
        for word in excluded:
            chunks -= self._every(word, docs, as_typed=False)
        return chunks

    def _every(
        self, text: str, docs: frozenset[DocId] | None, *, as_typed: bool = True
    ) -> frozenset[ChunkId]:
        """All chunks that hold a text as a phrase, however many."""
        asked, limit = self._asked(text, as_typed=as_typed), self.most
        if asked is None:
            return frozenset()
        while len(found := self._found(asked, docs, limit)) == limit:
            limit *= 8
        return found

    def _asked(self, text: str, *, as_typed: bool) -> LexicalQuery | None:
        terms = tuple(self.analyzer.phrase_terms(text))
        typed = tuple(latin_words(text)) if as_typed else ()
        return LexicalQuery(terms, phrases=(terms,), required=typed) if terms else None

    def _found(self, asked: LexicalQuery, docs: frozenset[DocId] | None, limit: int) -> frozenset[ChunkId]:
        return frozenset(ChunkId(item.id) for item in self.index.search(asked, limit=limit, docs=docs))

    def _saying(self, phrases: Iterable[str]) -> Sequence[str]:
        return [phrase for phrase in phrases if self.analyzer.phrase_terms(phrase)]
