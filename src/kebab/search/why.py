"""Answering "why is this document (not) here?": its place in every leg and what removed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from kebab.domain.chunks import StoredChunk, called, known_text, searchable_text
from kebab.domain.citations import cite
from kebab.domain.fusion import Ranked
from kebab.domain.hits import Leg, Retrieval, SearchHit
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.names import latin_words, name_key, plain_words
from kebab.domain.plurals import count_of
from kebab.domain.queries import SearchFilters, SearchQuery
from kebab.domain.why import ChunkPlace, LegPlace, WhyReport
from kebab.errors import EngineError
from kebab.ports import Analyzer, DocumentStore
from kebab.search.hybrid import HybridRetriever
from kebab.search.vector import contains

FAR = 10_000
"""How deep each leg is asked: beyond this a chunk counts as not found."""
PAGES = 100
"""How many documents are looked through for the document's own place among them."""
DEEP = 1000
"""How many hits are looked through for the document's chunks; no search shows more."""


@dataclass(frozen=True, slots=True)
class WhyReader:
    """Runs the query far deeper than a search and reports on one document.

    A document that a filter removes is placed as if there were no filters, so that one sees what it cost.
    """

    retriever: HybridRetriever
    store: DocumentStore
    analyzer: Analyzer

    def explain(self, doc_id: DocId, query: SearchQuery, *, only: ChunkId | None = None) -> WhyReport:
        """Report on every chunk of the document, or on one of them."""
        stored = [c for c in self.store.chunks_of(doc_id) if only is None or c.chunk.chunk_id == only]
        removed_by = self._removing(doc_id, query.filters)
        asked = replace(query, filters=SearchFilters()) if removed_by else query
        asked = replace(self.retriever.spelled(asked)[0], exact=True)
        # The first hits are the same for every k, so this one search also says what was shown.
        deep = self.retriever.search(replace(asked, k=DEEP))
        rankings = self._rankings(asked)
        places = [self._place(chunk, asked, deep, rankings, removed_by) for chunk in stored]
        places.sort(key=lambda place: (place.rank is None, place.rank or 0))
        path = stored[0].path if stored else ""
        page, copied = self._on_page(doc_id, path, asked) if only is None else (None, "")
        summary = _summary(places, query.k, page=None if removed_by else page, copied=copied)
        return WhyReport(
            query.text, query.mode, query.k, path, removed_by, tuple(places), deep.fusion, summary, page
        )

    def _on_page(self, doc_id: DocId, path: str, query: SearchQuery) -> tuple[int | None, str]:
        """The document's place where each is shown once, and the better one that shows it as a copy."""
        once = replace(query, k=max(PAGES, query.k), by_document=True, read=(0, 0))
        for hit in self.retriever.search(once).hits:
            if hit.doc_id == doc_id:
                return hit.rank, ""
            if path in hit.copies:
                return hit.rank, hit.doc_path
        return None, ""

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
        docs = self.store.matching(query.filters)
        for leg in self.retriever.legs_in(query.mode):
            try:
                found[leg.leg] = leg.rank(query, depth=FAR, docs=docs)
            except EngineError as error:
                found[leg.leg] = error.message
        return found

    def _place(
        self,
        stored: StoredChunk,
        query: SearchQuery,
        deep: Retrieval,
        rankings: Mapping[Leg, list[Ranked] | str],
        removed_by: tuple[str, ...],
    ) -> ChunkPlace:
        chunk = stored.chunk
        hit = next((h for h in deep.hits if h.chunk_id == chunk.chunk_id), None)
        contributions = {e.leg: e.contribution for e in hit.evidence} if hit else {}
        legs = tuple(
            self._leg_place(stored, query, leg, ranking, contributions.get(leg))
            for leg, ranking in rankings.items()
        )
        return ChunkPlace(
            chunk_id=chunk.chunk_id,
            citation=cite(stored.path, chunk.spans, place=chunk.place).uri,
            heading_path=chunk.heading_path,
            rank=hit.rank if hit else None,
            score=hit.score if hit else None,
            shown=hit is not None and hit.rank <= query.k and not removed_by,
            legs=legs,
            verdict=_verdict(hit, query.k, legs, removed_by) + _moved(hit, deep),
            repeats=hit.repeats if hit else None,
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
        if rank is not None:
            named = leg is Leg.LEXICAL and name_key(query.text) in called(stored)
            note = f"place {rank} of {len(ranking)}" + ("; the note is called so" if named else "")
        elif leg is Leg.LEXICAL and not matched:
            note = "holds no word of the query"
        else:
            note = self._barred(stored, query) or _not_reached(leg, len(ranking))
        return LegPlace(leg, rank, score, contribution, matched, missing, note)

    def _terms(self, stored: StoredChunk, query: SearchQuery) -> tuple[tuple[str, ...], tuple[str, ...]]:
        terms = self.analyzer.query_terms(query.text)
        held = self.analyzer.held(known_text(stored), terms)
        return tuple(t for t in terms if t in held), tuple(t for t in terms if t not in held)

    def _barred(self, stored: StoredChunk, query: SearchQuery) -> str | None:
        """Which quotes or exclusion of the query keep the chunk out of every leg; None when none does."""
        text = searchable_text(stored)
        terms, words = self.analyzer.terms(text), set(plain_words(text))
        for phrase in query.phrases:
            sequence = self.analyzer.phrase_terms(phrase)
            if sequence and not (contains(terms, sequence) and words.issuperset(latin_words(phrase))):
                return f'the phrase "{phrase}" does not stand in it'
        for word in query.excluded:
            if contains(terms, self.analyzer.phrase_terms(word)):
                return f"the excluded {word} stands in it"
        return None


def _find(ranking: Sequence[Ranked], chunk: ChunkId) -> tuple[int | None, float | None]:
    for rank, item in enumerate(ranking, start=1):
        if item.id == chunk:
            return rank, item.score
    return None, None


def _not_reached(leg: Leg, found: int) -> str:
    """Why a leg lacks a chunk that nothing in the query bars."""
    if not found:
        return "this leg found nothing at all"
    if found >= FAR:
        return f"not among the first {FAR}"
    return f"not in the {'words' if leg is Leg.LEXICAL else 'vector'} index yet: kebab index"


def _verdict(hit: SearchHit | None, k: int, legs: tuple[LegPlace, ...], removed_by: tuple[str, ...]) -> str:
    if removed_by:
        without = f"; without filters at place {hit.rank}" if hit else ""
        return f"removed by the filter {' and '.join(removed_by)}{without}"
    if hit is not None:
        return "shown" if hit.rank <= k else f"at place {hit.rank}, below the cut at k = {k}"
    if all(leg.rank is None for leg in legs):
        return "found by no leg"
    return "found, but too deep in every leg to be a candidate"


def _moved(hit: SearchHit | None, deep: Retrieval) -> str:
    """What follows the verdict of a hit that stands low because it repeats one above it."""
    above = next((h for h in deep.hits if hit is not None and h.chunk_id == hit.repeats), None)
    return f"; moved down: {above.citation.uri} above holds most of it" if above else ""


def _summary(places: list[ChunkPlace], k: int, *, page: int | None, copied: str) -> str:
    if not places:
        return "the document has no text to search"
    on_page = page is not None and page <= k
    where = f"place {page} of the documents; " if on_page else ""
    where = f"at place {page} as a near-copy of {copied}; " if on_page and copied else where
    shown = sum(place.shown for place in places)
    if shown:
        return f"{where}{shown} of {count_of(len(places), 'chunk')} shown, the best at place {places[0].rank}"
    if on_page:
        return f"{where}its best chunk is at place {places[0].rank} of all chunks"
    return f"not shown: its best chunk is {places[0].verdict}"


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
