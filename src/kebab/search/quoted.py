"""Which chunks hold what a query quotes, and which hold what it excludes? The words index knows at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kebab.domain.ids import ChunkId, DocId
from kebab.domain.names import latin_words
from kebab.domain.values import dataclass
from kebab.ports import Analyzer, LexicalIndex, LexicalQuery

MOST = 20_000
"""Chunks that one phrase is looked up in; those of the best score where more hold it."""


@dataclass(frozen=True, slots=True)
class QuoteReader:
    """Asks the words index for phrases, in the way in which a search by words is bound by them."""

    index: LexicalIndex
    analyzer: Analyzer

    def holding(
        self, text: str, docs: frozenset[DocId] | None, *, as_typed: bool = True
    ) -> frozenset[ChunkId]:
        """The chunks that hold a text as a phrase, its Latin words ``as_typed`` too. Raises EngineError."""
        terms = tuple(self.analyzer.phrase_terms(text))
        if not terms:
            return frozenset()
        typed = tuple(latin_words(text)) if as_typed else ()
        asked = LexicalQuery(terms, phrases=(terms,), required=typed)
        return frozenset(ChunkId(item.id) for item in self.index.search(asked, limit=MOST, docs=docs))

    def holding_all(self, phrases: Iterable[str], docs: frozenset[DocId] | None) -> frozenset[ChunkId] | None:
        """The chunks that hold every phrase; None where nothing is quoted, or more hold it than are listed.

        Quotes around mere punctuation ask for nothing.
        """
        found = [self.holding(phrase, docs) for phrase in self._saying(phrases)]
        whole = [chunks for chunks in found if len(chunks) < MOST]
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
            chunks &= self.holding(phrase, docs)
        for word in excluded:
            chunks -= self.holding(word, docs, as_typed=False)
        return chunks

    def _saying(self, phrases: Iterable[str]) -> Sequence[str]:
        return [phrase for phrase in phrases if self.analyzer.phrase_terms(phrase)]
