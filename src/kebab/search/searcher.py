"""Search as people ask for it: defaults filled in, one page at a time, or why a document is not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

from kebab.domain.hits import SearchResponse
from kebab.domain.ids import encodable
from kebab.domain.queries import SearchFilters, SearchMode, SearchQuery, SortOrder
from kebab.domain.values import dataclass
from kebab.errors import InvalidInput
from kebab.search import page
from kebab.search.folders import found_anywhere
from kebab.search.fusion import FusionPolicy
from kebab.search.hybrid import HybridRetriever
from kebab.search.legs import UnavailableLeg
from kebab.search.likelihood import is_weak
from kebab.search.parse import parse_query
from kebab.search.read import Reader

if TYPE_CHECKING:
    from kebab.domain.why import WhyReport


class _Limits(TypedDict):
    """What bounds a page beside the number of its hits."""

    max_tokens: int | None
    min_score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Searcher:
    """Searches one knowledge base. Holds no state of its own: threads may share it."""

    retriever: HybridRetriever
    reader: Reader
    policies: Mapping[str, FusionPolicy]
    """By the names that ``fusion`` takes; the retriever holds the configured one."""
    default_mode: SearchMode = SearchMode.HYBRID
    default_k: int = 10

    @property
    def is_whole(self) -> bool:
        """Whether every leg that is configured could be built."""
        return not isinstance(self.retriever.vector, UnavailableLeg)

    def query(
        self,
        text: str,
        *,
        mode: SearchMode | None = None,
        k: int | None = None,
        filters: SearchFilters | None = None,
        explain: bool = False,
        snippet_chars: int | None = None,
        exact: bool = False,
        sort: SortOrder = SortOrder.SCORE,
        by_document: bool = False,
        patterns: bool = True,
    ) -> SearchQuery:
        """What was typed, read, with the defaults in place of what is None.

        Without ``patterns``, what stands between slashes is text.
        """
        wanted = self.default_k if k is None else k
        query = parse_query(
            encodable(text), mode=mode or self.default_mode, k=wanted, filters=filters, patterns=patterns
        )
        found = found_anywhere(query.filters, filters or SearchFilters(), self.retriever.store)
        query = replace(query, filters=found)
        shown = {"explain": explain, "snippet_chars": snippet_chars, "by_document": by_document}
        return replace(query, exact=exact, sort=sort, **shown)  # type: ignore[arg-type]

    def search(
        self,
        text: str,
        *,
        mode: SearchMode | None = None,
        k: int | None = None,
        filters: SearchFilters | None = None,
        explain: bool = False,
        snippet_chars: int | None = None,
        fusion: str | None = None,
        trace: bool = False,
        cursor: str | None = None,
        max_tokens: int | None = None,
        exact: bool = False,
        sort: SortOrder = SortOrder.SCORE,
        by_document: bool = False,
        groups: bool = False,
        min_score: float | None = None,
    ) -> SearchResponse:
        """One page for what was typed; with ``groups`` also the first documents, each by its best hit."""
        query = self.query(
            text,
            mode=mode,
            k=k,
            filters=filters,
            explain=explain,
            snippet_chars=snippet_chars,
            exact=exact,
            sort=sort,
            by_document=by_document,
        )
        # Groups belong to the search and not to one of its pages: they come with the first.
        limits: _Limits = {"max_tokens": max_tokens, "min_score": min_score}
        if by_document or cursor or not groups:
            return self.page(text, query, fusion=fusion, trace=trace, cursor=cursor, **limits)
        twice = replace(self, retriever=self.fused_by(fusion).remembering())
        found = twice.page(text, query, trace=trace, **limits)
        first = twice.page(text, replace(query, by_document=True), **limits)
        return replace(found, groups=first.hits)

    def page(
        self,
        text: str,
        query: SearchQuery,
        *,
        fusion: str | None = None,
        trace: bool = False,
        cursor: str | None = None,
        max_tokens: int | None = None,
        min_score: float | None = None,
    ) -> SearchResponse:
        """The hits from the cursor on, best first; ``text`` is what was typed for ``query``.

        Those below ``min_score`` are counted and left out.
        """
        retriever = self.fused_by(fusion)
        revision, policy = retriever.store.revision(), retriever.fusion.kind.value
        offset = page.read_cursor(cursor, revision=revision, query=query, fusion=policy) if cursor else 0
        # One more than is shown tells whether there is a next page.
        end = offset + query.k
        found = retriever.search(replace(query, k=end + 1, read=(offset, end)))
        shown = found.hits[offset : offset + query.k]
        good = tuple(hit for hit in shown if min_score is None or hit.score >= min_score)
        hits, truncated = page.within_budget(good, max_tokens)
        withheld = len(shown) - len(good)
        end = offset + (len(shown) if len(hits) == len(good) else shown.index(good[len(hits)]))
        # Sorted by score, what follows a hit that is left out would be left out too.
        done = withheld > 0 and query.sort is SortOrder.SCORE
        more = len(found.hits) > end and end <= page.DEEPEST_HIT and not done
        following = page.make_cursor(end, revision=revision, query=query, fusion=policy) if more else None
        return SearchResponse(
            query=encodable(text),
            mode=query.mode,
            hits=hits,
            next_cursor=following,
            truncated=truncated,
            degraded=found.degraded,
            index_version=retriever.version_in(query.mode),
            fusion=found.fusion,
            trace=found.trace if trace else None,
            corrections=found.corrections,
            withheld=withheld,
            weak=is_weak(found.hits),
        )

    def why(
        self,
        reference: str,
        text: str,
        *,
        mode: SearchMode | None = None,
        k: int | None = None,
        filters: SearchFilters | None = None,
        fusion: str | None = None,
    ) -> WhyReport:
        """Explains the chunk or document of that name; raises DocNotFound where there is neither."""
        from kebab.search.why import WhyReader

        retriever = self.fused_by(fusion)
        query = retriever.narrowed(self.query(text, mode=mode, k=k, filters=filters))[0]
        explainer = WhyReader(retriever, retriever.store, retriever.presenter.analyzer)
        # Documents first: the beginning of a path must not be taken for that of a chunk's id.
        if not retriever.store.find_documents(reference):
            chunk = self.reader.find_chunk(reference)
            if chunk is not None:
                return explainer.explain(chunk.chunk.doc_id, query, only=chunk.chunk.chunk_id)
        return explainer.explain(self.reader.document(reference).doc_id, query)

    def fused_by(self, name: str | None) -> HybridRetriever:
        """The retriever under the named policy, or as configured. Raises InvalidInput."""
        if name is None:
            return self.retriever
        if name not in self.policies:
            raise InvalidInput(
                f"there is no fusion policy {name!r}", hint=f"one of {', '.join(self.policies)}"
            )
        return replace(self.retriever, fusion=self.policies[name])
