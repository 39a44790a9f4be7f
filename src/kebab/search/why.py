"""Answering "why is this document (not) here?": its place in every leg and what removed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from kebab.domain.chunks import StoredChunk, searchable_text
from kebab.domain.citations import cite
from kebab.domain.fusion import Ranked
from kebab.domain.hits import Leg, Retrieval
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.queries import SearchFilters, SearchMode, SearchQuery
from kebab.domain.why import ChunkPlace, LegPlace, WhyReport
from kebab.errors import EngineError
from kebab.ports import Analyzer, DocumentStore
from kebab.search.hybrid import HybridRetriever, LegRetriever

FAR = 10_000
"""How deep each leg is asked: beyond this a chunk counts as not found."""


@dataclass(frozen=True, slots=True)
class WhyReader:
    """Runs the query without its filters, far deeper than a search, and reports on one document."""

    retriever: HybridRetriever
    store: DocumentStore
    analyzer: Analyzer

    def explain(self, doc_id: DocId, query: SearchQuery, *, only: ChunkId | None = None) -> WhyReport:
        """Report on every chunk of the document, or on one of them."""
        stored = [c for c in self.store.chunks_of(doc_id) if only is None or c.chunk.chunk_id == only]
        removed_by = self._removing(doc_id, query.filters)
        result = self.retriever.search(query)
        deep = self.retriever.search(replace(query, filters=SearchFilters(), k=1000))
        rankings = self._rankings(replace(query, filters=SearchFilters()))
        places = [self._place(chunk, query, result, deep, rankings, removed_by) for chunk in stored]
        places.sort(key=lambda place: (place.rank is None, place.rank or 0))
        path = stored[0].path if stored else ""
        return WhyReport(
            query.text, query.mode, query.k, path, removed_by, tuple(places), result.fusion, _summary(places)
        )

    def _removing(self, doc_id: DocId, filters: SearchFilters) -> tuple[str, ...]:
        removing = []
        for field in fields(filters):
            value = getattr(filters, field.name)
            if value:
                alone = self.store.matching(replace(SearchFilters(), **{field.name: value}))
                if alone is not None and doc_id not in alone:
                    removing.append(f"{field.name}={_shown(value)}")
        return tuple(removing)

    def _rankings(self, query: SearchQuery) -> dict[Leg, list[Ranked] | str]:
        found: dict[Leg, list[Ranked] | str] = {}
        for leg in self._legs(query.mode):
            try:
                found[leg.leg] = leg.rank(query, depth=FAR, docs=None)
            except EngineError as error:
                found[leg.leg] = error.message
        return found

    def _legs(self, mode: SearchMode) -> tuple[LegRetriever, ...]:
        both = (self.retriever.lexical, self.retriever.vector)
        return tuple(leg for leg in both if leg is not None and mode in (SearchMode.HYBRID, leg.leg.value))

    def _place(
        self,
        stored: StoredChunk,
        query: SearchQuery,
        result: Retrieval,
        deep: Retrieval,
        rankings: Mapping[Leg, list[Ranked] | str],
        removed_by: tuple[str, ...],
    ) -> ChunkPlace:
        chunk = stored.chunk
        hit = next((h for h in deep.hits if h.chunk_id == chunk.chunk_id), None)
        shown = any(h.chunk_id == chunk.chunk_id for h in result.hits)
        contributions = {e.leg: e.contribution for e in hit.evidence} if hit else {}
        legs = tuple(
            self._leg_place(stored, query, leg, ranking, contributions.get(leg))
            for leg, ranking in rankings.items()
        )
        return ChunkPlace(
            chunk_id=chunk.chunk_id,
            citation=cite(stored.path, chunk.spans).uri,
            heading_path=chunk.heading_path,
            rank=hit.rank if hit else None,
            score=hit.score if hit else None,
            shown=shown,
            legs=legs,
            verdict=_verdict(shown, hit.rank if hit else None, query.k, legs, removed_by),
        )

    def _leg_place(
        self,
        stored: StoredChunk,
        query: SearchQuery,
        leg: Leg,
        ranking: list[Ranked] | str,
        contribution: float | None,
    ) -> LegPlace:
        matched, missing = self._terms(stored, query) if leg is Leg.LEXICAL else ((), ())
        if isinstance(ranking, str):
            return LegPlace(leg, None, None, None, matched, missing, f"this leg could not run: {ranking}")
        rank, score = _find(ranking, stored.chunk.chunk_id)
        note = _leg_note(leg, rank, matched, len(ranking))
        return LegPlace(leg, rank, score, contribution, matched, missing, note)

    def _terms(self, stored: StoredChunk, query: SearchQuery) -> tuple[tuple[str, ...], tuple[str, ...]]:
        terms = self.analyzer.query_terms(query.text)
        held = self.analyzer.held(searchable_text(stored), terms)
        return tuple(t for t in terms if t in held), tuple(t for t in terms if t not in held)


def _find(ranking: Sequence[Ranked], chunk: ChunkId) -> tuple[int | None, float | None]:
    for rank, item in enumerate(ranking, start=1):
        if item.id == chunk:
            return rank, item.score
    return None, None


def _leg_note(leg: Leg, rank: int | None, matched: tuple[str, ...], found: int) -> str:
    if rank is not None:
        return f"place {rank} of {found}"
    if leg is Leg.LEXICAL and not matched:
        return "holds no word of the query"
    if leg is Leg.LEXICAL:
        return "a phrase is missing or an excluded word stands in it"
    return f"not among the nearest {found}, has no vector yet, or was left out by a phrase or exclusion"


def _verdict(
    shown: bool, rank: int | None, k: int, legs: tuple[LegPlace, ...], removed_by: tuple[str, ...]
) -> str:
    if shown:
        return "shown"
    if removed_by:
        return f"removed by the filter {' and '.join(removed_by)}"
    if rank is not None:
        return f"place {rank}, below the cut at k = {k}"
    if all(leg.rank is None for leg in legs):
        return "found by no leg"
    return "found, but too deep in every leg to be a candidate"


def _summary(places: list[ChunkPlace]) -> str:
    if not places:
        return "the document has no text to search"
    shown = sum(place.shown for place in places)
    if shown:
        return f"{shown} of {len(places)} chunks shown, the best at place {places[0].rank}"
    return f"not shown: its best chunk is {places[0].verdict}"


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
