"""Which past runs matter for a task, and how each is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from kebab.answer.gate import Gate
from kebab.answer.meeting import WordSpace, meter, words_of
from kebab.answer.question import Question, read_question
from kebab.domain.briefs import BriefRun
from kebab.domain.executions import Execution, ExecutionFilters
from kebab.domain.hits import Degradation
from kebab.domain.recalls import HybridSearchResult, Recalled
from kebab.memory.relevance import DEFAULT_MIN_SCORE
from kebab.memory.room import ExecutionMemory
from kebab.ports import Analyzer, EmbeddingKind

if TYPE_CHECKING:
    from kebab.ports import Vectors

CANDIDATES = 60
LEAST = 0.33
"""What words and meaning together must say for a run. The memory's own threshold is for "was this done?"; a
brief would rather tell of a run too many, and an agent words its task in its own way.
"""
STRONG, CLOSE = 0.5, 0.6
"""From this match on a task stands out, and others are told that have this share of it."""
NEAREST, FAR = 4, 0.15
"""Where none stands out, so many are told from this match on: a task may be worded far from its runs."""
ECHO = 0.6
"""What the match with the best chunks counts, on average, beside that with the task itself."""
MOST_RUNS = 6
_CLIP = 220


@dataclass(frozen=True, slots=True)
class _Read:
    """Runs taken apart once, to be compared with several texts."""

    ids: Sequence[str]
    terms: Sequence[frozenset[str]]
    words: Sequence[frozenset[str]]
    vectors: Vectors | None
    """Of what each run says, then of what each task was called."""


@dataclass(frozen=True, slots=True)
class RunFinder:
    """Finds runs whose tasks are like this one."""

    memory: ExecutionMemory
    analyzer: Analyzer
    gate: Gate
    space: WordSpace

    def find(
        self, question: Question, echoes: Sequence[str], *, filters: ExecutionFilters
    ) -> tuple[list[BriefRun], tuple[Degradation, ...]]:
        """The best first, at most MOST_RUNS; and what could not take part. Raises EngineError.

        ``echoes`` are texts that documents answered the task with: they may name things as the runs do where
        the task has other words, or another language.
        """
        found = self._recalled(question.text, filters)
        hits = {hit.execution.id: hit for hit in found.hits}
        for echo in echoes:
            for hit in self._recalled(echo, filters).hits:
                hits.setdefault(hit.execution.id, replace(hit, relevance=None))
        matches = self._heard(question, echoes, [hit.execution for hit in hits.values()])
        sure = {key for key, hit in hits.items() if matches[key] >= LEAST or _is_certain(hit)}
        like = _like(list(hits.values()), matches)
        # All runs of a task that is told: a failure says little without the success that followed.
        kept = [hit.execution for hit in hits.values() if hit.execution.task_id in like]
        kept.sort(key=lambda run: (-matches[run.id], -run.finished_at.timestamp(), run.id))
        told = [_told(run, matches[run.id], surely=run.id in sure) for run in kept[:MOST_RUNS]]
        return told, tuple(found.degraded)

    def _heard(
        self, question: Question, echoes: Sequence[str], runs: Sequence[Execution]
    ) -> dict[str, float]:
        """The match of each run with the task and, on average, with the echoes."""
        read = self._read(runs)
        matches = self._matches(question, read)
        for echo in echoes:
            heard = self._matches(read_question(echo, self.analyzer), read)
            matches = {key: match + ECHO * heard[key] / len(echoes) for key, match in matches.items()}
        return matches

    def _read(self, runs: Sequence[Execution]) -> _Read:
        texts = [run.searched_text for run in runs]
        named = [run.task_description for run in runs]
        embedder = self.space.embedder
        vectors = embedder.embed([*texts, *named], EmbeddingKind.DOCUMENT) if embedder and runs else None
        return _Read(
            [run.id for run in runs],
            [frozenset(self.analyzer.terms(text)) for text in texts],
            [words_of(text) for text in texts],
            vectors,
        )

    def _recalled(self, text: str, filters: ExecutionFilters) -> Recalled:
        return self.memory.hybrid_search(text, limit=CANDIDATES, filters=filters, min_score=0.0)

    def _matches(self, question: Question, read: _Read) -> dict[str, float]:
        """Share of the task's words that a run meets, and its cosine above what the runs have on average."""
        measure = meter(self.gate.weigh(question), read.words, self.space)
        shares = [
            measure.share(measure.met(terms, words))
            for terms, words in zip(read.terms, read.words, strict=True)
        ]
        near = self._cosines(question, read)
        return {key: share + cosine for key, share, cosine in zip(read.ids, shares, near, strict=True)}

    def _cosines(self, question: Question, read: _Read) -> list[float]:
        """By the nearer of what a run says and what its task was called."""
        embedder = self.space.embedder
        if embedder is None or read.vectors is None:
            return [0.0] * len(read.ids)
        asked = embedder.embed([question.text], EmbeddingKind.QUERY)[0]
        told, named = (read.vectors @ asked).reshape(2, -1)
        near = [max(float(one), float(other)) for one, other in zip(told, named, strict=True)]
        # Models differ in where their cosines begin: what stands out of the others counts.
        ground = max(0.0, median(near)) if len(near) > 4 else 0.0
        return [max(0.0, value - ground) for value in near]


def _like(hits: Sequence[HybridSearchResult], matches: Mapping[str, float]) -> set[str]:
    """The tasks to tell of: where one stands out, those that come near to it; else the few nearest."""
    ordered = sorted(hits, key=lambda hit: (-matches[hit.execution.id], hit.execution.id))
    best = max(matches.values(), default=0.0)
    least = max(LEAST, CLOSE * best) if best >= STRONG else FAR
    near = dict.fromkeys(hit.execution.task_id for hit in ordered if matches[hit.execution.id] >= least)
    certain = {hit.execution.task_id for hit in hits if _is_certain(hit)}
    return certain | set(near if best >= STRONG else list(near)[:NEAREST])


def _is_certain(hit: HybridSearchResult) -> bool:
    return hit.relevance is not None and hit.relevance >= DEFAULT_MIN_SCORE


def _told(run: Execution, match: float, *, surely: bool) -> BriefRun:
    outcome = run.result if run.success else run.error or run.result
    return BriefRun(
        id=run.id,
        task=short(run.task_description),
        success=run.success,
        finished_at=run.finished_at,
        approach=short(run.approach),
        outcome=short(outcome),
        lesson=short(run.lesson),
        documents=run.documents_used,
        match=round(match, 4),
        surely=surely,
    )


def short(text: str | None) -> str:
    """One line, cut where it is long; empty for nothing."""
    line = " ".join((text or "").split())
    return line if len(line) <= _CLIP else f"{line[: _CLIP - 1]}…"
