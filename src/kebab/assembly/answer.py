"""The answer room joined to search and to the engines."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from kebab.answer.background import Background
from kebab.answer.extract import ExtractiveWriter
from kebab.answer.gate import Gate, GateWeights
from kebab.answer.generate import ModelWriter, Writer
from kebab.answer.pipeline import Asker
from kebab.answer.prompt import load_template
from kebab.assembly.search import Searcher
from kebab.domain.answers import AskRequest
from kebab.domain.ids import encodable
from kebab.domain.queries import SearchFilters, SearchMode, SearchQuery
from kebab.search.vector import VectorRetriever

if TYPE_CHECKING:
    from kebab.search.hybrid import HybridRetriever


def ask_request(
    searcher: Searcher,
    question: str,
    *,
    mode: SearchMode | None,
    k: int | None,
    filters: SearchFilters | None,
) -> AskRequest:
    """The question with the settings in place of what is None. Raises InvalidInput."""
    question = encodable(question)
    query = searcher.query(question, mode=mode, k=k, filters=filters)
    return AskRequest(question, query.mode, query.k, filters or SearchFilters())


def build_asker(searcher: Searcher) -> Asker:
    """The asker over ``searcher``'s knowledge base; it keeps its answers unless kebab runs read-only."""
    settings, engines, retriever = searcher.settings, searcher.engines, searcher.retriever()
    gate = _gate(searcher, retriever)
    model = engines.build_language_model(settings.models.llm)
    writer: Writer = ExtractiveWriter(gate, engines.analyzer, engines.embedder_or_none)
    if model is not None:
        writer = ModelWriter(model, load_template())

    def read_query(asked: AskRequest) -> SearchQuery:
        return searcher.query(asked.question, mode=asked.mode, k=asked.k, filters=asked.filters)

    return Asker(
        retriever=retriever,
        store=engines.reading.documents,
        analyzer=engines.analyzer,
        gate=gate,
        writer=writer,
        answers=engines.answers,
        max_context_tokens=settings.rag.max_context_tokens,
        read_query=read_query,
        keeps=not engines.readonly,
    )


def _gate(searcher: Searcher, retriever: HybridRetriever) -> Gate:
    fitted, leg = searcher.settings.rag.gate, retriever.vector
    return Gate(
        analyzer=searcher.engines.analyzer,
        lexical=searcher.engines.lexical_index,
        weights=GateWeights(**{item.name: getattr(fitted, item.name) for item in fields(GateWeights)}),
        threshold=fitted.threshold,
        background=Background(leg.embedder, leg.index) if isinstance(leg, VectorRetriever) else None,
    )
