"""The brief room joined to search, to answers and to the memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kebab.assembly.answer import build_ranking
from kebab.brief.briefer import Briefer
from kebab.brief.lines import LineFinder
from kebab.brief.runs import RunFinder

if TYPE_CHECKING:
    from kebab.assembly.engines import Engines
    from kebab.memory.room import ExecutionMemory
    from kebab.search.searcher import Searcher


def build_briefer(engines: Engines, searcher: Searcher, memory: Callable[[], ExecutionMemory]) -> Briefer:
    """The briefer over the searcher's knowledge base; the memory is opened when a brief needs it."""
    gate, ranker = build_ranking(engines, searcher)
    store = engines.reading.documents
    return Briefer(
        lines=LineFinder(searcher.retriever, store, gate, ranker),
        store=store,
        analyzer=engines.analyzer,
        runs=lambda: RunFinder(memory(), engines.analyzer, gate, ranker.space),
        mode=searcher.default_mode,
    )
