"""From a ranked chunk to the hit a person sees: text, snippet, citation, staleness."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice

from kebab.domain.chunks import StoredChunk, searchable_text
from kebab.domain.citations import cite
from kebab.domain.hits import Leg, LegEvidence, RetrievalDetail, ScoreKind, SearchHit
from kebab.domain.ids import ChunkId
from kebab.domain.queries import SearchQuery
from kebab.ports import Analyzer, DocumentStore, SourceFiles
from kebab.search.snippet import make_snippet


@dataclass(frozen=True, slots=True)
class Placed:
    """A chunk with its place in the result, before its text is looked up."""

    chunk_id: ChunkId
    score: float
    detail: RetrievalDetail
    evidence: tuple[LegEvidence, ...]


@dataclass(frozen=True, slots=True)
class Presenter:
    """Looks chunks up and turns them into hits. All legs use this one, so citations agree."""

    store: DocumentStore
    analyzer: Analyzer
    files: SourceFiles
    snippet_chars: int = 220
    stale_after: timedelta | None = timedelta(days=30)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def hits(
        self,
        placed: Iterable[Placed],
        query: SearchQuery,
        *,
        score_kind: ScoreKind,
        index_version: str,
        embedding_model: str | None,
    ) -> tuple[SearchHit, ...]:
        """At most ``query.k`` hits, ranked from 1.

        A chunk that the store no longer has is left out and the next one moves up: an index that is behind
        never shows removed text.
        """
        found: list[tuple[Placed, StoredChunk]] = []
        rest = iter(placed)
        while len(found) < query.k and (page := list(islice(rest, query.k - len(found)))):
            stored = self.store.hydrate([item.chunk_id for item in page])
            found += [(item, stored[item.chunk_id]) for item in page if item.chunk_id in stored]
        terms = frozenset(self.analyzer.query_terms(query.text))
        if query.explain:
            found = [(self._with_terms(item, stored, terms), stored) for item, stored in found]
        return tuple(
            self._hit(rank, item, stored, terms, score_kind, index_version, embedding_model)
            for rank, (item, stored) in enumerate(found, start=1)
        )

    def _with_terms(self, placed: Placed, stored: StoredChunk, terms: frozenset[str]) -> Placed:
        held = terms.intersection(self.analyzer.terms(searchable_text(stored)))
        matched = tuple(sorted(held))
        evidence = tuple(
            replace(e, matched_terms=matched) if e.leg is Leg.LEXICAL else e for e in placed.evidence
        )
        return replace(placed, evidence=evidence)

    def _hit(
        self,
        rank: int,
        placed: Placed,
        stored: StoredChunk,
        terms: frozenset[str],
        score_kind: ScoreKind,
        index_version: str,
        embedding_model: str | None,
    ) -> SearchHit:
        chunk = stored.chunk
        changed = self.files.changed(stored.source_id, stored.path)
        return SearchHit(
            rank=rank,
            score=placed.score,
            score_kind=score_kind,
            chunk_id=chunk.chunk_id,
            doc_id=chunk.doc_id,
            doc_path=stored.path,
            title=stored.title,
            heading_path=chunk.heading_path,
            section_label=chunk.section_label,
            snippet=make_snippet(chunk.text, analyzer=self.analyzer, terms=terms, length=self.snippet_chars),
            citation=cite(stored.path, chunk.spans, stale=changed),
            retrieval=placed.detail,
            index_version=index_version,
            embedding_model=embedding_model,
            chunker_version=chunk.chunker_version,
            indexed_at=stored.indexed_at,
            stale=self._old(stored.indexed_at),
            source_id=stored.source_id,
            trust_level=stored.trust_level,
            repo=stored.repo,
            code_lang=stored.code_lang,
            evidence=placed.evidence,
        )

    def _old(self, indexed_at: str) -> bool:
        if self.stale_after is None:
            return False
        return self.now() - datetime.fromisoformat(indexed_at) > self.stale_after
