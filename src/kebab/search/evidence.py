"""Evidence for a query: how much of what it says do the best lexical hits really hold?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from kebab.domain.chunks import searchable_text
from kebab.domain.fusion import Ranked
from kebab.domain.ids import ChunkId
from kebab.domain.language import UNDETERMINED, asked_in
from kebab.domain.queries import SearchQuery
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
        if not terms or not best:
            return QueryEvidence(0.0, len(terms))
        idf = self.idf(terms)
        texts = list(self.store.hydrate(best).values())
        held = [self.analyzer.held(searchable_text(stored), idf.keys()) for stored in texts]
        total = sum(idf.values())
        covered = max((sum(idf[term] for term in found) for found in held), default=0.0)
        meet = max((_meeting(query.text, stored.lang) for stored in texts), default=1.0)
        return QueryEvidence(covered / total if total else 0.0, len(terms), meet)

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


def _meeting(text: str, lang: str) -> float:
    """How far a query meets texts in a language; see ``QueryEvidence.languages_meet``."""
    asked = asked_in(text)
    if asked == UNDETERMINED and lang in _NOT_LATIN and _LATIN.search(text):
        return 0.5
    return float(_meet(asked, lang))


def _meet(asked: str, lang: str) -> bool:
    return UNDETERMINED in (asked, lang) or asked == lang
