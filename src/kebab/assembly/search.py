"""The search room joined to the engines: queries with the settings' defaults, retrievers, pages of hits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from kebab.domain.hits import Leg, SearchResponse
from kebab.domain.queries import SearchFilters, SearchMode, SearchQuery
from kebab.errors import EngineError, InvalidInput
from kebab.ports import ModelKey
from kebab.search import page
from kebab.search.evidence import CoverageReader
from kebab.search.fusion import Adaptive, FusionPolicy, policies
from kebab.search.hybrid import HybridRetriever
from kebab.search.legs import LegRetriever, UnavailableLeg
from kebab.search.lexical import LexicalRetriever
from kebab.search.parse import parse_query
from kebab.search.present import Presenter
from kebab.search.vector import VectorRetriever

if TYPE_CHECKING:
    from kebab.assembly.engines import Engines
    from kebab.config import Settings
    from kebab.domain.why import WhyReport
    from kebab.search.rerank import Stage


@dataclass(frozen=True, slots=True)
class Searcher:
    """Searches one knowledge base; holds nothing open of its own."""

    settings: Settings
    engines: Engines

    def query(
        self,
        text: str,
        *,
        mode: SearchMode | None,
        k: int | None,
        filters: SearchFilters | None,
        explain: bool = False,
    ) -> SearchQuery:
        """What was typed, read; the settings stand in for what is None. Raises InvalidInput."""
        wanted = self.settings.search.default_k if k is None else k
        if not 1 <= wanted <= 1000:
            raise InvalidInput(f"k is {wanted}; it must lie between 1 and 1000")
        chosen = mode or self.settings.search.default_mode
        return replace(parse_query(text, mode=chosen, k=wanted, filters=filters), explain=explain)

    def page(
        self,
        text: str,
        query: SearchQuery,
        *,
        fusion: str | None,
        trace: bool,
        cursor: str | None,
        max_tokens: int | None,
        snippet_chars: int | None,
    ) -> SearchResponse:
        """The hits from the cursor on, best first; ``text`` is what was typed for ``query``."""
        revision = self.engines.reading.documents.revision()
        retriever = self.retriever(fusion=fusion, snippet_chars=snippet_chars)
        policy = retriever.fusion.kind.value
        offset = page.read_cursor(cursor, revision=revision, query=query, fusion=policy) if cursor else 0
        # One more than is shown tells whether there is a next page.
        found = retriever.search(replace(query, k=offset + query.k + 1))
        hits, truncated = page.within_budget(found.hits[offset : offset + query.k], max_tokens)
        end = offset + len(hits)
        more = len(found.hits) > end
        following = page.make_cursor(end, revision=revision, query=query, fusion=policy) if more else None
        return SearchResponse(
            query=text,
            mode=query.mode,
            hits=hits,
            next_cursor=following,
            truncated=truncated,
            degraded=found.degraded,
            index_version=retriever.version_in(query.mode),
            fusion=found.fusion,
            trace=found.trace if trace else None,
        )

    def why(self, reference: str, query: SearchQuery, *, fusion: str | None) -> WhyReport:
        """Explains the chunk or document of that name; raises DocNotFound where there is neither."""
        from kebab.assembly.read import build_reader
        from kebab.search.why import WhyReader

        engines = self.engines
        explainer = WhyReader(self.retriever(fusion=fusion), engines.reading.documents, engines.analyzer)
        reader = build_reader(engines)
        # Documents first: the beginning of a path must not be taken for that of a chunk's id.
        if not engines.reading.documents.find_documents(reference):
            chunk = reader.find_chunk(reference)
            if chunk is not None:
                return explainer.explain(chunk.chunk.doc_id, query, only=chunk.chunk.chunk_id)
        return explainer.explain(reader.document(reference).doc_id, query)

    def retriever(self, *, fusion: str | None = None, snippet_chars: int | None = None) -> HybridRetriever:
        """Both legs, joined by the named policy or the configured one. Raises InvalidInput, NotIndexed."""
        policy = self._policy(fusion or self.settings.search.hybrid_fusion)
        store, index = self.engines.reading.documents, self.engines.lexical_index
        presenter = self._presenter(snippet_chars)
        return HybridRetriever(
            lexical=LexicalRetriever(index, store, self.engines.analyzer, presenter),
            vector=self._vector_leg(presenter),
            store=store,
            fusion=policy,
            evidence=CoverageReader(index, store, self.engines.analyzer),
            presenter=presenter,
            candidates=self.settings.search.candidates,
            stages=self._stages(),
        )

    def _policy(self, name: str) -> FusionPolicy:
        search = self.settings.search
        learned = search.adaptive
        named = policies(
            k=search.rrf_k,
            lexical=search.weights.lexical,
            vector=search.weights.vector,
            adaptive=Adaptive(learned.held, learned.unheld, learned.enough, learned.bridge),
        )
        if name not in named:
            raise InvalidInput(f"there is no fusion policy {name!r}", hint=f"one of {', '.join(named)}")
        return named[name]

    def _stages(self) -> tuple[Stage, ...]:
        reranker = self.engines.reranker
        if reranker is None:
            return ()
        from kebab.search.rerank import RerankStage

        top = self.settings.models.reranker.top
        return (RerankStage(reranker, self.engines.reading.documents, top),)

    def _vector_leg(self, presenter: Presenter) -> LegRetriever | None:
        stores = self.engines.reading
        try:
            embedder = self.engines.embedder
            if embedder is None:
                return None
            index = self.engines.vector_index(ModelKey.of(embedder))
        except EngineError as error:
            return UnavailableLeg(Leg.VECTOR, error)
        return VectorRetriever(
            index, embedder, stores.documents, stores.embeddings, self.engines.analyzer, presenter
        )

    def _presenter(self, snippet_chars: int | None) -> Presenter:
        search = self.settings.search
        return Presenter(
            store=self.engines.reading.documents,
            analyzer=self.engines.analyzer,
            files=self.engines.files,
            snippet_chars=snippet_chars or search.snippet_chars,
            stale_after=timedelta(days=search.stale_threshold_days) if search.stale_threshold_days else None,
        )
