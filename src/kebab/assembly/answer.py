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
from kebab.search.vector import VectorRetriever

if TYPE_CHECKING:
    from kebab.assembly.engines import Engines
    from kebab.search.searcher import Searcher


def build_asker(engines: Engines, searcher: Searcher) -> Asker:
    """The asker over the searcher's knowledge base; it keeps its answers unless kebab runs read-only."""
    gate = _gate(engines, searcher)
    model = engines.build_language_model(engines.settings.models.llm)
    writer: Writer = ExtractiveWriter(gate, engines.analyzer, engines.embedder_or_none)
    if model is not None:
        writer = ModelWriter(model, load_template())
    return Asker(
        searcher=searcher,
        store=engines.reading.documents,
        analyzer=engines.analyzer,
        gate=gate,
        writer=writer,
        answers=engines.answers,
        max_context_tokens=engines.settings.rag.max_context_tokens,
        keeps=not engines.readonly,
    )


def _gate(engines: Engines, searcher: Searcher) -> Gate:
    fitted, leg = engines.settings.rag.gate, searcher.retriever.vector
    return Gate(
        analyzer=engines.analyzer,
        lexical=engines.lexical_index,
        weights=GateWeights(**{item.name: getattr(fitted, item.name) for item in fields(GateWeights)}),
        threshold=fitted.threshold,
        background=Background(leg.embedder, leg.index) if isinstance(leg, VectorRetriever) else None,
    )
