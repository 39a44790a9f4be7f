"""From a ranked chunk to the hit a person sees: text, snippet, citation, age."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice

from kebab.domain.chunks import StoredChunk, known_text
from kebab.domain.citations import SourceState, cite
from kebab.domain.hits import Leg, ScoreKind, SearchHit, Snippet
from kebab.domain.queries import SearchQuery
from kebab.domain.values import dataclass
from kebab.ports import Analyzer, DocumentStore, PatternMatcher, SourceFiles
from kebab.search.group import Placed, by_document
from kebab.search.legs import CANDIDATES
from kebab.search.snippet import Ranges, cut, readable_cut
from kebab.search.spread import WINDOW, any_repeats, spread

_UNREAD: tuple[Snippet, Snippet | None] = (Snippet(""), None)
"""What stands in a hit that only tells that it exists."""


@dataclass(frozen=True, slots=True)
class Presenter:
    """Looks chunks up and turns them into hits. All legs use this one, so citations agree."""

    store: DocumentStore
    analyzer: Analyzer
    files: SourceFiles
    snippet_chars: int = 220
    old_after: timedelta | None = timedelta(days=30)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    counted: int = CANDIDATES
    """Of so many candidates, whatever k, the further chunks and copies of a document are counted."""
    matcher: PatternMatcher | None = None
    """Marks what the patterns of a query match."""

    def hits(
        self,
        placed: Iterable[Placed],
        query: SearchQuery,
        *,
        score_kind: ScoreKind,
        index_version: str,
        embedding_model: str | None,
        spread_out: bool = False,
    ) -> tuple[SearchHit, ...]:
        """At most ``query.k`` hits, ranked from 1; see ``select`` for which."""
        if query.by_document:
            found = self._take(iter(self._grouped(placed, query.k)), query.k)
        else:
            found = self.select(placed, query.k, spread_out=spread_out)
        terms = frozenset(self.analyzer.query_terms(query.text))
        if query.explain:
            found = [(self._with_terms(item, stored, terms), stored) for item, stored in found]
        length = query.snippet_chars or self.snippet_chars
        states = self.files.states({(stored.source_id, stored.path) for _, stored in found})
        first, end = query.read or (0, len(found))
        return tuple(
            self._hit(
                rank,
                item,
                stored,
                terms,
                query.patterns,
                length if first < rank <= end else None,
                score_kind,
                index_version,
                embedding_model,
                states[stored.source_id, stored.path],
            )
            for rank, (item, stored) in enumerate(found, start=1)
        )

    def select(
        self, placed: Iterable[Placed], k: int, *, spread_out: bool
    ) -> list[tuple[Placed, StoredChunk]]:
        """The first ``k`` that are shown, with their texts.

        A chunk that the store no longer has is left out and the next one moves up: an index that is behind
        never shows removed text. With ``spread_out``, what repeats a better hit goes to the window's end.
        """
        rest = iter(placed)
        found = self._take(rest, k)
        if not spread_out or not any_repeats([stored.chunk for _, stored in found[:WINDOW]]):
            return found
        # Only now is the whole window needed: without a repetition its first k are the k found.
        found += self._take(rest, WINDOW - len(found))
        return [*_spread_out(found[:WINDOW]), *found[WINDOW:]][:k]

    def _grouped(self, placed: Iterable[Placed], k: int) -> list[Placed]:
        """The first ``k`` documents; what follows the counted chunks is looked up where these are fewer."""
        rest = iter(placed)
        every = list(islice(rest, self.counted))
        owners = self.store.owners([item.chunk_id for item in every])
        found = by_document(every, owners, counted=self.counted, k=k)
        if len(found) >= k or not (others := list(rest)):
            return found
        owners |= self.store.owners([item.chunk_id for item in others])
        return by_document([*every, *others], owners, counted=self.counted, k=k)

    def _take(self, placed: Iterator[Placed], count: int) -> list[tuple[Placed, StoredChunk]]:
        """The next ``count`` that the store has, or fewer at the end."""
        found: list[tuple[Placed, StoredChunk]] = []
        while len(found) < count and (page := list(islice(placed, count - len(found)))):
            stored = self.store.hydrate([item.chunk_id for item in page])
            found += [(item, stored[item.chunk_id]) for item in page if item.chunk_id in stored]
        return found

    def _with_terms(self, placed: Placed, stored: StoredChunk, terms: frozenset[str]) -> Placed:
        matched = tuple(sorted(self.analyzer.held(known_text(stored), terms)))
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
        patterns: tuple[str, ...],
        snippet_chars: int | None,
        score_kind: ScoreKind,
        index_version: str,
        embedding_model: str | None,
        state: SourceState | None,
    ) -> SearchHit:
        chunk = stored.chunk
        snippet, readable = _UNREAD
        if snippet_chars is not None:
            ranges = self._ranges(chunk.text, terms, patterns)
            snippet = cut(chunk.text, ranges, snippet_chars)
            readable = self._readable(stored, ranges, snippet, snippet_chars)
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
            snippet=snippet,
            citation=cite(stored.path, chunk.spans, place=chunk.place, state=state),
            retrieval=placed.detail,
            index_version=index_version,
            embedding_model=embedding_model,
            chunker_version=chunk.chunker_version,
            indexed_at=stored.indexed_at,
            old=self._old(stored.indexed_at),
            source_id=stored.source_id,
            trust_level=stored.trust_level,
            repo=stored.repo,
            code_lang=stored.code_lang,
            evidence=placed.evidence,
            repeats=placed.repeats,
            others=placed.others,
            copies=placed.copies,
            readable=readable,
        )

    def _ranges(self, text: str, terms: frozenset[str], patterns: tuple[str, ...]) -> Ranges:
        """Where words of the query and what its patterns match stand in a text."""
        words = self.analyzer.matches(text, terms) if terms else []
        if not patterns or self.matcher is None:
            return words
        found = sorted(span for pattern in patterns for span in self.matcher.spans(pattern, text))
        return sorted([*found, *(word for word in words if not _touches(word, found))])

    @staticmethod
    def _readable(stored: StoredChunk, ranges: Ranges, snippet: Snippet, length: int) -> Snippet | None:
        if stored.code_lang is not None:
            return None
        chunk = stored.chunk
        found = readable_cut(chunk.text, ranges, length, heading=[stored.title, *chunk.heading_path][-1])
        return found if found != snippet else None

    def _old(self, indexed_at: str) -> bool:
        if self.old_after is None:
            return False
        return self.now() - datetime.fromisoformat(indexed_at) > self.old_after


def _touches(span: tuple[int, int], others: Ranges) -> bool:
    return any(start < span[1] and span[0] < end for start, end in others)


def _spread_out(found: list[tuple[Placed, StoredChunk]]) -> list[tuple[Placed, StoredChunk]]:
    shown: list[tuple[Placed, StoredChunk]] = []
    lowest = 1.0
    for (item, stored), repeats in spread(found, [stored.chunk for _, stored in found]):
        # What moved down gets no better a score than the one above it: the order stays the scores' order.
        lowest = min(lowest, item.score)
        shown.append((replace(item, score=lowest, repeats=repeats), stored))
    return shown
