"""Briefing, as a recipe: search → recall runs → find lines, also by what runs learned → compose."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from kebab.answer.question import Question, read_question
from kebab.brief.compose import compose
from kebab.brief.lines import Lead, LineFinder, Look
from kebab.brief.runs import STRONG, RunFinder
from kebab.domain.briefs import Brief, BriefRun
from kebab.domain.executions import ExecutionFilters
from kebab.domain.hits import Degradation
from kebab.domain.ids import DocId, encodable
from kebab.domain.queries import SearchFilters, SearchMode
from kebab.errors import EngineError, OutsideWalls
from kebab.ports import Analyzer, DocumentStore

LEADS = 2
"""Tasks whose runs lead to further documents."""
LEADING = 0.4
"""How near a run must be to lead to documents."""
LONGEST = 4000
"""Characters of a task that are searched for."""
_WORD = re.compile(r"[^\W\d_]{2}|[\uac00-\ud7a3]")


@dataclass(frozen=True, slots=True)
class Briefer:
    """Tells what is known about a task. The same task on the same knowledge base gives the same brief."""

    lines: LineFinder
    store: DocumentStore
    analyzer: Analyzer
    runs: Callable[[], RunFinder]
    """Opens the memory. Raises EngineError where that cannot be done: documents answer alone then."""
    mode: SearchMode = SearchMode.HYBRID

    def brief(
        self,
        task: str,
        *,
        max_tokens: int,
        filters: SearchFilters | None = None,
        runs: ExecutionFilters | None = None,
    ) -> Brief:
        """Lines of documents and past runs for a task, within the budget; maybe none."""
        task = encodable(task).strip()
        question = _asked(task[:LONGEST], self.analyzer)
        look = self.lines.look(question, mode=self.mode, filters=filters or SearchFilters())
        told, degraded = self._recalled(question, look, runs or ExecutionFilters())
        pieces = self.lines.find(question, look, list(self._leads(told)))
        missing = (*look.found.degraded, *degraded)
        return compose(task, pieces, told, max_tokens=max_tokens, degraded=missing)

    def _recalled(
        self, question: Question, look: Look, filters: ExecutionFilters
    ) -> tuple[list[BriefRun], tuple[Degradation, ...]]:
        try:
            return self.runs().find(question, look.echoes, filters=filters)
        except (EngineError, OutsideWalls) as error:
            return [], (Degradation("memory", error.code, error.message, error.hint),)

    def _leads(self, runs: Sequence[BriefRun]) -> Iterator[Lead]:
        """What runs of the nearest tasks tried and learned says, in other words, what documents matter."""
        tasks: dict[str, list[BriefRun]] = {}
        for run in (run for run in runs if run.match >= LEADING):
            tasks.setdefault(run.task, []).append(run)
        for task, group in list(tasks.items())[:LEADS]:
            learned = " ".join(filter(None, (part for run in group for part in (run.lesson, run.approach))))
            weight = min(1.0, max(run.match for run in group) / STRONG)
            if learned:
                yield Lead(f"{task} {learned}", tuple(run.id for run in group), weight)
            used = tuple(self._used(group))
            if used:
                yield Lead(task, tuple(run.id for run in group if run.success), weight, used)

    def _used(self, runs: Sequence[BriefRun]) -> Iterator[DocId]:
        """The stored documents that successful runs used."""
        for name in sorted({name for run in runs if run.success for name in run.documents}):
            found = self.store.find_documents(name)
            if len(found) == 1:
                yield found[0].doc_id


def _asked(task: str, analyzer: Analyzer) -> Question:
    """The task without bare numbers and abbreviations like "e.g.": nearly every run meets one of them."""
    question = read_question(task, analyzer)
    return replace(question, keywords=tuple(one for one in question.keywords if _WORD.search(one.text)))
