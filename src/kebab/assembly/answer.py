"""The answer room joined to search and to the engines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.answer.background import Background
from kebab.answer.converse import Conversation
from kebab.answer.extract import ExtractiveWriter
from kebab.answer.gate import Gate
from kebab.answer.generate import ModelWriter, Writer
from kebab.answer.meeting import WordSpace
from kebab.answer.pipeline import Asker
from kebab.answer.prompt import load_template
from kebab.answer.rank import Ranker
from kebab.answer.weights import Fitted, load_weights
from kebab.config.sections import Rag
from kebab.domain.answers import Budget
from kebab.ports import LanguageModel
from kebab.search.learned import Learned
from kebab.search.vector import VectorRetriever

if TYPE_CHECKING:
    from kebab.assembly.engines import Engines
    from kebab.search.searcher import Searcher


def build_asker(engines: Engines, searcher: Searcher) -> Asker:
    """The asker over the searcher's knowledge base; it keeps its answers unless kebab runs read-only."""
    settings = engines.settings.rag
    if isinstance(searcher.retriever.fusion, Learned):
        # The weights of this room were fitted on what adaptive fusion finds, and on its scores.
        searcher = replace(searcher, retriever=searcher.fused_by("adaptive"))
    gate, ranker = build_ranking(engines, searcher)
    model = engines.build_language_model(engines.settings.models.llm)
    writer: Writer = ExtractiveWriter()
    if model is not None:
        template = load_template(structured=engines.settings.models.llm.structured)
        writer = ModelWriter(model, template, settings.max_answer_tokens)
    return Asker(
        searcher=searcher,
        store=engines.reading.documents,
        analyzer=engines.analyzer,
        gate=gate,
        ranker=ranker,
        writer=writer,
        answers=engines.answers,
        conversation=Conversation(engines.analyzer, model, structured=engines.settings.models.llm.structured),
        budget=_budget(settings, model),
        keeps=not engines.readonly,
    )


def _budget(settings: Rag, model: LanguageModel | None) -> Budget:
    if model is None:
        return Budget(settings.max_context_tokens)
    return Budget(settings.max_context_tokens, settings.max_answer_tokens, settings.max_seconds)


def build_ranking(engines: Engines, searcher: Searcher) -> tuple[Gate, Ranker]:
    """What judges evidence and what orders passages, over one space of words."""
    settings = engines.settings.rag
    fitted = load_weights(Path(settings.weights) if settings.weights else None)
    space = WordSpace(engines.embedder_or_none)
    return _gate(engines, searcher, fitted, space), Ranker(engines.analyzer, space, fitted.selection)


def _gate(engines: Engines, searcher: Searcher, fitted: Fitted, space: WordSpace) -> Gate:
    settings, leg = engines.settings.rag.gate, searcher.retriever.vector
    return Gate(
        analyzer=engines.analyzer,
        lexical=engines.words_read(engines.lexical_index),
        weights=fitted.gate_weights,
        threshold=settings.threshold,
        background=Background(leg.embedder, leg.index) if isinstance(leg, VectorRetriever) else None,
        space=space,
        keyword_threshold=settings.keyword_threshold,
    )
