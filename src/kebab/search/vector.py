"""Finding by meaning: cosine between the query's vector and the chunks'."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from kebab.domain.chunks import searchable_text
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
from kebab.domain.names import latin_words, plain_words
from kebab.domain.plurals import count_of
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.domain.values import dataclass
from kebab.errors import EngineError
from kebab.ports import Analyzer, DocumentStore, Embedder, EmbeddingKind, EmbeddingStore, VectorIndex
from kebab.search.group import Placed
from kebab.search.legs import MANY, candidates, lagging
from kebab.search.present import Presenter
from kebab.search.quoted import QuoteReader
from kebab.search.symbols import narrow, sifted
from kebab.search.trace import Stopwatch

if TYPE_CHECKING:
    from kebab.ports import Vectors


_FEW = 1000
"""Of so few chunks only their documents are searched; of more, the nearest soon hold some."""


def vector_score(cosine: float) -> float:
    """Cosine moved from [-1, 1] into [0, 1]."""
    return min(1.0, max(0.0, (1 + cosine) / 2))


@dataclass(frozen=True, slots=True)
class _Nearest:
    """What was found, and after how many texts the search for a phrase stopped, where it did."""

    ranked: list[Ranked]
    read_only: int | None = None

    def cut_short(self, k: int) -> tuple[Degradation, ...]:
        """Says that words were looked for in some chunks only, where that may have cost hits."""
        if self.read_only is None or len(self.ranked) >= k:
            return ()
        message = f"quoted and excluded words were looked for in the nearest {self.read_only} chunks only"
        return (Degradation("vector", "partly_searched", message, "search with --mode hybrid or lexical"),)


@dataclass(frozen=True, slots=True)
class VectorRetriever:
    """Ranks chunks by how near their vector is to the query's."""

    index: VectorIndex
    embedder: Embedder
    store: DocumentStore
    embeddings: EmbeddingStore
    analyzer: Analyzer
    presenter: Presenter
    quotes: QuoteReader
    texts_read: int = 1000
    """How many of the nearest chunks are read for a phrase or an exclusion, where no words index helps."""
    deepest: int = 10_000
    """How many are looked at where one does: nearly all may hold what is excluded, and each takes time."""

    leg: ClassVar[Leg] = Leg.VECTOR
    score_kind: ClassVar[ScoreKind] = ScoreKind.COSINE

    @property
    def index_version(self) -> str:
        return self.index.version

    @property
    def embedding_model(self) -> str | None:
        return self.embedder.model_id

    def search(self, query: SearchQuery) -> Retrieval:
        watch = Stopwatch()
        found = self._looking(query, depth=candidates(query), docs=self.store.matching(query.filters))()
        watch.lap(self.leg.value)
        placed = [self._placed(rank, item) for rank, item in enumerate(found.ranked, start=1)]
        hits = self.presenter.hits(
            placed,
            query,
            score_kind=self.score_kind,
            index_version=self.index_version,
            embedding_model=self.embedder.model_id,
        )
        watch.lap("present")
        degraded = (*self.degraded(), *found.cut_short(query.k))
        return Retrieval(hits, degraded, SearchTrace({self.leg.value: found.ranked}, watch.timings_ms))

    def rank(self, query: SearchQuery, *, depth: int, docs: frozenset[DocId] | None) -> list[Ranked]:
        """Chunk ids by cosine, best first, at most ``depth``; empty for a query that says nothing."""
        return self.prepared(query, depth=depth, docs=docs)()

    def prepared(
        self, query: SearchQuery, *, depth: int, docs: frozenset[DocId] | None
    ) -> Callable[[], list[Ranked]]:
        """Embeds the query, which may ask a server; what is left is to look for the nearest."""
        looking = self._looking(query, depth=depth, docs=docs)
        return lambda: looking().ranked

    def _looking(
        self, query: SearchQuery, *, depth: int, docs: frozenset[DocId] | None
    ) -> Callable[[], _Nearest]:
        if not _says_something(query.text):
            return lambda: _Nearest([])
        vector = self.embedder.embed([query.text], EmbeddingKind.QUERY)[0]
        return partial(self._nearest, query, vector, depth=depth, docs=docs)

    def _nearest(
        self, query: SearchQuery, vector: Vectors, *, depth: int, docs: frozenset[DocId] | None
    ) -> _Nearest:
        units = narrow(query, self.store)
        if not (query.phrases or query.excluded):
            return self._within(vector, depth, docs, units)
        # Quotes and exclusions bind this leg too, and vectors know no words.
        try:
            return self._bound(query, vector, depth, docs, units)
        except EngineError:
            # The words leg says what is wrong with its index; meanwhile the texts are read.
            return self._read(query, vector, depth, docs, units)

    def _bound(
        self,
        query: SearchQuery,
        vector: Vectors,
        depth: int,
        docs: frozenset[DocId] | None,
        units: frozenset[ChunkId] | None,
    ) -> _Nearest:
        """The nearest that hold what is quoted and nothing that is excluded, by the words index."""
        held, phrases = self.quotes.holding_all(query.phrases, docs), query.phrases
        if held is not None:
            phrases, units = (), held if units is None else units & held
        left = partial(self._left_of, phrases=phrases, excluded=query.excluded)
        return self._within(vector, depth, docs, units, left if phrases or query.excluded else None)

    def _left_of(
        self, chunks: frozenset[ChunkId], *, phrases: tuple[str, ...], excluded: tuple[str, ...]
    ) -> frozenset[ChunkId]:
        docs = self._documents(chunks)
        return self.quotes.left_of(chunks, docs, phrases=phrases, excluded=excluded)

    def _documents(self, chunks: Collection[ChunkId]) -> frozenset[DocId]:
        return frozenset(owner.doc_id for owner in self.store.owners(sorted(chunks)).values())

    def _read(
        self,
        query: SearchQuery,
        vector: Vectors,
        depth: int,
        docs: frozenset[DocId] | None,
        units: frozenset[ChunkId] | None,
    ) -> _Nearest:
        """The same by reading: enough texts that a rare phrase is found, few enough to answer at once."""
        limit = max(self.texts_read, depth * 5)
        wide = self._within(vector, limit, docs, units).ranked
        return _Nearest(self._holding(wide, query)[:depth], read_only=limit if len(wide) >= limit else None)

    def _within(
        self,
        vector: Vectors,
        depth: int,
        docs: frozenset[DocId] | None,
        units: frozenset[ChunkId] | None,
        left_of: Callable[[frozenset[ChunkId]], frozenset[ChunkId]] | None = None,
    ) -> _Nearest:
        """The nearest in the documents, among the units, of what ``left_of`` leaves of some chunks."""
        if units is not None and len(units) <= _FEW:
            own = self._documents(units)
            docs = own if docs is None else docs & own

        def nearest(limit: int) -> list[Ranked]:
            return self.index.search(vector, limit=limit, docs=docs)

        looked_at = 0

        def kept(ranked: list[Ranked]) -> list[Ranked]:
            nonlocal looked_at
            looked_at = len(ranked)
            chunks = frozenset(ChunkId(item.id) for item in ranked)
            chunks = chunks if units is None else chunks & units
            chunks = chunks if left_of is None else left_of(chunks)
            return [item for item in ranked if item.id in chunks]

        if units is None and left_of is None:
            return _Nearest(nearest(depth))
        deepest = None if left_of is None else max(self.deepest, 2 * depth)
        found = sifted(nearest, depth=depth, first=2 * depth, keep=kept, deepest=deepest)
        return _Nearest(found, read_only=looked_at if looked_at == deepest else None)

    def position(self) -> int:
        return self.index.checkpoint()

    def degraded(self) -> tuple[Degradation, ...]:
        """Says which chunks cannot be found by meaning yet; empty when all can."""
        missing = self.embeddings.count_missing(self.index.model)
        if missing:
            lacking = count_of(missing, "chunk has", "chunks have")
            message = f"{lacking} no vector of {self.index.model.model_id} yet"
            return (Degradation("vector", "not_embedded", message, "run `kebab index --embeddings`"),)
        behind = self.store.behind(self.index.checkpoint(), model=self.index.model, at_most=MANY)
        return lagging(self.leg, "vector index", behind)

    def _holding(self, ranked: list[Ranked], query: SearchQuery) -> list[Ranked]:
        phrases = (self.analyzer.phrase_terms(phrase) for phrase in query.phrases)
        # Quotes around mere punctuation ask for nothing, as in the other leg.
        required = [terms for terms in phrases if terms]
        excluded = [self.analyzer.phrase_terms(word) for word in query.excluded]
        words = {word for phrase in query.phrases for word in latin_words(phrase)}
        stored = self.store.hydrate([ChunkId(item.id) for item in ranked])
        kept = []
        for item in ranked:
            chunk = stored.get(ChunkId(item.id))
            if chunk is None:
                continue
            text = searchable_text(chunk)
            terms = self.analyzer.terms(text)
            held = all(contains(terms, p) for p in required) and words <= set(plain_words(text))
            if held and not any(contains(terms, e) for e in excluded):
                kept.append(item)
        return kept

    def _placed(self, rank: int, item: Ranked) -> Placed:
        score = vector_score(item.score)
        return Placed(
            ChunkId(item.id),
            score,
            RetrievalDetail(SearchMode.VECTOR, score, vector_score=score, vector_rank=rank),
            (LegEvidence(self.leg, rank, item.score),),
        )


def _says_something(text: str) -> bool:
    """Whether there is a letter, a digit or a picture: models have a vector for "?!" too, near to chance."""
    return any(char.isalnum() or unicodedata.category(char) == "So" for char in text)


def contains(terms: list[str], sequence: list[str]) -> bool:
    """Whether the sequence stands somewhere among the terms, unbroken; an empty one never does."""
    if not sequence:
        return False
    last = len(terms) - len(sequence) + 1
    return any(terms[i : i + len(sequence)] == sequence for i in range(last) if terms[i] == sequence[0])
