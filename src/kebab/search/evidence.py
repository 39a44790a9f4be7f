"""Evidence for a query: how much of what it says do the best lexical hits really hold?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log

from kebab.domain.chunks import StoredChunk, known_text
from kebab.domain.fusion import Ranked
from kebab.domain.ids import ChunkId
from kebab.domain.language import UNDETERMINED, asked_in
from kebab.domain.names import name_key, plain_words
from kebab.domain.queries import SearchQuery
from kebab.domain.values import dataclass
from kebab.ports import Analyzer, DocumentStore, LexicalIndex
from kebab.search.fusion import QueryEvidence

BEST_HITS = 3
_NOT_LATIN = frozenset({"ko", "ja", "zh"})
_LATIN = re.compile("[A-Za-z]")


@dataclass(frozen=True, slots=True)
class CoverageReader:
    """Measures coverage on the texts of the best hits, weighted by how rare each word is."""

    index: LexicalIndex
    store: DocumentStore
    analyzer: Analyzer

    def held(self, query: SearchQuery, by_words: Sequence[Ranked]) -> QueryEvidence:
        """What the best found by words hold of the query; says nothing of foreign chunks."""
        terms = self.analyzer.query_terms(query.text)
        best = [ChunkId(item.id) for item in by_words[:BEST_HITS]]
        named = self._named(query, by_words)
        if not terms or not best:
            return QueryEvidence(0.0, len(terms), named=named)
        idf = self.idf(terms)
        texts = list(self.store.hydrate(best).values())
        held = [self.analyzer.held(known_text(stored), idf.keys()) for stored in texts]
        total = sum(idf.values())
        covered = max((sum(idf[term] for term in found) for found in held), default=0.0)
        meet = max((_meeting(query.text, stored) for stored in texts), default=1.0)
        return QueryEvidence(covered / total if total else 0.0, len(terms), meet, named=named)

    def _named(self, query: SearchQuery, by_words: Sequence[Ranked]) -> frozenset[str]:
        """Those of the chunks found by words that open a note which is called what was asked."""
        if query.phrases or query.excluded or query.either or not by_words:
            return frozenset()
        called = set(self.index.named(name_key(query.text)))
        return frozenset(item.id for item in by_words if item.id in called) if called else frozenset()

    def foreign(self, query: SearchQuery, by_meaning: Sequence[Ranked]) -> frozenset[str]:
        """The chunks found by meaning that are in another language than the query."""
        asked = asked_in(query.text)
        if asked == UNDETERMINED:
            return frozenset()
        languages = self.store.languages([ChunkId(item.id) for item in by_meaning])
        return frozenset(chunk for chunk, lang in languages.items() if not _meet(asked, lang))

    def idf(self, terms: Sequence[str]) -> dict[str, float]:
        """Rarity of each term as BM25 counts it; an unknown term is the rarest."""
        count = self.index.count()
        frequencies = self.index.document_frequencies(terms)
        return {term: log(1 + (count - df + 0.5) / (df + 0.5)) for term, df in frequencies.items()}


def _meeting(text: str, stored: StoredChunk) -> float:
    """How far a query meets a text; see ``QueryEvidence.languages_meet``."""
    asked = asked_in(text)
    if asked == UNDETERMINED and stored.lang in _NOT_LATIN and _LATIN.search(text):
        # A word that stands there as it was typed is a word of that text, whatever its script.
        return 1.0 if set(plain_words(text)) <= set(plain_words(known_text(stored))) else 0.5
    return float(_meet(asked, stored.lang))


def _meet(asked: str, lang: str) -> bool:
    return UNDETERMINED in (asked, lang) or asked == lang
