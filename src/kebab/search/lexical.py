"""Finding by words: BM25 over analysed text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import ClassVar

from kebab.domain.chunks import StoredChunk
from kebab.domain.fusion import Ranked
from kebab.domain.hits import (
    Degradation,
    Leg,
    LegEvidence,
    Retrieval,
    RetrievalDetail,
    ScoreKind,
    SearchTrace,
)
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.names import (
    folded,
    glued_word,
    latin_words,
    letters,
    name_key,
    plain_words,
    written,
)
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.domain.values import dataclass
from kebab.ports import Analyzer, DocumentStore, FieldWeights, LexicalIndex, LexicalQuery
from kebab.search.group import Placed
from kebab.search.legs import MANY, candidates, lagging
from kebab.search.present import Presenter
from kebab.search.symbols import narrow, within
from kebab.search.trace import Stopwatch

MOST_BEGUN = 50
"""How many words a beginning stands for, at most."""
MOST_COMPARED = 50
"""Of notes of one name, how many are looked at to tell which of them is meant."""


def _fit(stored: StoredChunk, text: str) -> int:
    """How well a note's name fits what was typed: 0 as it is written, 1 its title, 2 another name."""
    path = PurePosixPath(stored.path)
    if text in (stored.title, path.stem, path.name, stored.path, *stored.aliases):
        return 0
    return 1 if name_key(stored.title) == name_key(text) else 2


ONE_WORD = FieldWeights(exact=3.0)
STEMMED = FieldWeights(exact=0.6)
"""Of words that are stemmed. Korean is not: there the form as typed carries particles and says less."""
_HANGUL = re.compile("[\uac00-\ud7a3]")
"""Who types one word means that word: a form of it that only shares its stem comes after."""


def _names_first(named: Sequence[ChunkId], found: list[Ranked]) -> list[Ranked]:
    """The notes of that name, then the others: who types the name of a note wants that note.

    They keep their order, each with a score above all others'.
    """
    if not named:
        return found
    best = found[0].score if found else 1.0
    first = [Ranked(key, best * (2 + 1 / place)) for place, key in enumerate(named, start=1)]
    names = set(named)
    return [*first, *(item for item in found if item.id not in names)]


def _rows_first(holding: list[Ranked], found: list[Ranked]) -> list[Ranked]:
    """Those that hold the word as it was typed, then the others, in their order; scores fall as places do."""
    best = max((item.score for item in (*holding, *found)), default=0.0)
    first = {item.id for item in holding}
    raised = [Ranked(item.id, item.score + best) for item in holding]
    return [*raised, *(item for item in found if item.id not in first)]


def lexical_score(bm25: float) -> float:
    """BM25 folded into [0, 1)."""
    return bm25 / (1 + bm25) if bm25 > 0 else 0.0


@dataclass(frozen=True, slots=True)
class LexicalRetriever:
    """Ranks the chunks that hold at least one word of the query."""

    index: LexicalIndex
    store: DocumentStore
    analyzer: Analyzer
    presenter: Presenter

    leg: ClassVar[Leg] = Leg.LEXICAL
    score_kind: ClassVar[ScoreKind] = ScoreKind.BM25
    embedding_model: ClassVar[str | None] = None

    @property
    def index_version(self) -> str:
        return self.index.version

    def search(self, query: SearchQuery) -> Retrieval:
        watch = Stopwatch()
        ranked = self.rank(query, depth=candidates(query), docs=self.store.matching(query.filters))
        watch.lap(self.leg.value)
        placed = [self._placed(rank, item) for rank, item in enumerate(ranked, start=1)]
        hits = self.presenter.hits(
            placed,
            query,
            score_kind=self.score_kind,
            index_version=self.index_version,
            embedding_model=None,
        )
        watch.lap("present")
        return Retrieval(hits, self.degraded(), SearchTrace({self.leg.value: ranked}, watch.timings_ms))

    def rank(self, query: SearchQuery, *, depth: int, docs: frozenset[DocId] | None) -> list[Ranked]:
        """Chunk ids by BM25, best first, at most ``depth``; empty when no word of the query is known."""
        weights = self.analyzer.query_weights(query.text) | self._begun(query.prefixes)
        named = self.named(query, docs=docs)
        if not weights and not named:
            return []
        words = tuple(plain_words(query.text))
        lexical = LexicalQuery(
            tuple(weights),
            weights=weights,
            phrases=self._sequences(query.phrases),
            excluded=self._sequences(query.excluded),
            words=words,
            fields=_fields(query.text, words),
            required=tuple(word for phrase in query.phrases for word in latin_words(phrase)),
        )

        row = self._sequences((query.text,)) if not lexical.phrases and glued_word(query.text) else ()

        def ranked(limit: int) -> list[Ranked]:
            found = self.index.search(lexical, limit=limit, docs=docs)
            if row:
                # `react와` is asked for as react, since a particle says nothing: pages about react would
                # come before the one that holds what was typed.
                holding = self.index.search(replace(lexical, phrases=row), limit=limit, docs=docs)
                found = _rows_first(holding, found)[:limit]
            return _names_first(named, found)

        return within(ranked, depth=depth, chunks=narrow(query, self.store))[:depth]

    def _begun(self, prefixes: tuple[str, ...]) -> dict[str, float]:
        """The terms of the words that begin so, the most frequent ones; each counts like a word."""
        weights: dict[str, float] = {}
        for prefix in prefixes:
            known = self.index.words_from(letters(folded(prefix)))
            for word in sorted(known, key=lambda word: (-known[word], word))[:MOST_BEGUN]:
                weights |= self.analyzer.query_weights(written(word))
        return weights

    def named(self, query: SearchQuery, *, docs: frozenset[DocId] | None) -> list[ChunkId]:
        """The chunks that open the notes which are called what was asked."""
        if query.phrases or query.excluded or query.either:
            return []
        found = self.index.named(name_key(query.text), docs=docs)
        return self._likeliest(found, query.text) if len(found) > 1 else found

    def _likeliest(self, named: list[ChunkId], text: str) -> list[ChunkId]:
        """Notes of one name, those first that write it as it was typed, then those that have it as title."""
        stored = self.store.hydrate(named[:MOST_COMPARED])
        fit = {key: _fit(chunk, text) for key, chunk in stored.items()}
        return sorted(named, key=lambda key: (fit.get(key, 3), key))

    def prepared(
        self, query: SearchQuery, *, depth: int, docs: frozenset[DocId] | None
    ) -> Callable[[], list[Ranked]]:
        return partial(self.rank, query, depth=depth, docs=docs)

    def position(self) -> int:
        return self.index.checkpoint()

    def degraded(self) -> tuple[Degradation, ...]:
        """Says how far the index is behind the store; empty when it is not."""
        behind = self.store.behind(self.index.checkpoint(), at_most=MANY)
        return lagging(self.leg, "words index", behind)

    def _sequences(self, texts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        sequences = (tuple(self.analyzer.phrase_terms(text)) for text in texts)
        return tuple(sequence for sequence in sequences if sequence)

    def _placed(self, rank: int, item: Ranked) -> Placed:
        score = lexical_score(item.score)
        return Placed(
            ChunkId(item.id),
            score,
            RetrievalDetail(SearchMode.LEXICAL, score, lexical_score=score, lexical_rank=rank),
            (LegEvidence(self.leg, rank, item.score),),
        )


def _fields(text: str, words: Sequence[str]) -> FieldWeights:
    if len(words) == 1:
        return ONE_WORD
    return FieldWeights() if _HANGUL.search(text) else STEMMED
