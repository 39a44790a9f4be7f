"""Evidence for a query: how much of what it says do the best lexical hits really hold?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import log

from kebab.domain.chunks import StoredChunk, known_text
from kebab.domain.fusion import Ranked
from kebab.domain.ids import ChunkId
from kebab.domain.language import UNDETERMINED, asked_in
from kebab.domain.names import glued_word, name_key, plain_words, single_word, stands_in
from kebab.domain.queries import SearchQuery
from kebab.domain.values import dataclass
from kebab.ports import Analyzer, DocumentStore, LexicalIndex, Vocabulary
from kebab.search.fusion import QueryEvidence
from kebab.search.looks import look

BEST_HITS = 3
_NOT_LATIN = frozenset({"ko", "ja", "zh"})
_LATIN = re.compile("[A-Za-z]")
_WORD = re.compile(r"[가-힣]+|[^\W_가-힣]+")
_KOREAN = re.compile("[가-힣]")


@dataclass(frozen=True, slots=True)
class CoverageReader:
    """Measures coverage on the texts of the best hits, weighted by how rare each word is."""

    index: LexicalIndex
    store: DocumentStore
    analyzer: Analyzer
    vocabulary: Vocabulary | None = None
    """Tells words from what is none; without one every query is of words."""

    def held(self, query: SearchQuery, by_words: Sequence[Ranked], *, looks: int = 0) -> QueryEvidence:
        """What the best found by words hold of the query; says nothing of foreign chunks.

        So many of them are looked at closer.
        """
        weights = self.analyzer.query_weights(query.text)
        best = [ChunkId(item.id) for item in by_words[: max(BEST_HITS, looks)]]
        named = self._named(query, by_words)
        if not weights or not best:
            return QueryEvidence(0.0, len(weights), named=named, known=self._knows(query.text))
        idf = self.idf(list(weights))
        stored = self.store.hydrate(best)
        mass = {term: weight * idf[term] for term, weight in weights.items()}
        word = glued_word(query.text)
        read = {
            key: look(stored[key], mass, analyzer=self.analyzer, word=word)
            for key in (best if looks else best[:BEST_HITS])
            if key in stored
        }
        first = [key for key in best[:BEST_HITS] if key in read]
        covered = max((sum(idf[term] for term in read[key][1]) for key in first), default=0.0)
        return QueryEvidence(
            coverage=covered / sum(idf.values()),
            terms=len(weights),
            languages_meet=max((_meeting(query.text, stored[key]) for key in first), default=1.0),
            written=_is_written(query, (known_text(stored[key]) for key in first)),
            named=named,
            looks={key: seen for key, (seen, _) in read.items()} if looks else {},
        )

    def _knows(self, text: str) -> bool:
        """Whether some word of a text is known, a Korean one also by what it begins with.

        One that stands only in texts which the search may not see is known too.
        """
        if self.vocabulary is None or any(
            self.index.document_frequencies(self.analyzer.query_terms(text)).values()
        ):
            return True
        return any(self.vocabulary.has(form) for word in _WORD.findall(text) for form in _begun(word))

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


def _is_written(query: SearchQuery, texts: Iterable[str]) -> bool:
    """Whether a query of one word, or what it quotes, stands in one of the texts as it was typed."""
    if query.phrases:
        return any(True for _ in texts)  # every hit holds them
    word = single_word(query.text)
    return word is not None and not query.corrected and any(stands_in(word, text) for text in texts)


def _begun(word: str) -> list[str]:
    """A word, and what of a Korean one is left without endings, compounds and particles."""
    return [word[:size] for size in range(2 if _KOREAN.match(word) else len(word), len(word) + 1)]


def _meeting(text: str, stored: StoredChunk) -> float:
    """How far a query meets a text; see ``QueryEvidence.languages_meet``."""
    asked = asked_in(text)
    if asked == UNDETERMINED and stored.lang in _NOT_LATIN and _LATIN.search(text):
        # A word that stands there as it was typed is a word of that text, whatever its script.
        return 1.0 if set(plain_words(text)) <= set(plain_words(known_text(stored))) else 0.5
    return float(_meet(asked, stored.lang))


def _meet(asked: str, lang: str) -> bool:
    return UNDETERMINED in (asked, lang) or asked == lang
