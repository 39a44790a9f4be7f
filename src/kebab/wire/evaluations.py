"""Shapes of evaluation: one run, two runs side by side, and what tuning learned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kebab.domain import evaluations as domain
from kebab.wire.shape import Shape, of

if TYPE_CHECKING:
    from kebab.evaluate.own_weights import OwnWeights


class QueryScore(Shape, frozen=True):
    """How one query fared; ``first_rank`` is null when no target was found."""

    query_id: str
    text: str
    metrics: dict[str, float]
    first_rank: int | None
    found: tuple[str, ...]
    latency_ms: float
    group: str
    lang: str
    faults: tuple[str, ...]


class Refusal(Shape, frozen=True):
    refused: int
    should_refuse: int
    rightly_refused: int
    precision: float | None
    recall: float | None
    wrong: tuple[str, ...]


class EvalReport(Shape, frozen=True, tag_field="schema_version", tag="eval_report.v1"):
    """``metrics``: nDCG@10, R@100, MRR@10, hit@1, hit@3, hit@5, hit@10, P@10, p50_ms and p95_ms."""

    run_id: str
    created_at: str
    name: str
    mode: str
    fusion: str | None
    index_version: str
    embedding_model: str | None
    documents: int
    queries: int
    metrics: dict[str, float]
    groups: dict[str, dict[str, float]]
    refusal: Refusal | None
    degraded: tuple[str, ...]
    seconds: dict[str, float]
    scores: tuple[QueryScore, ...]


class AnswerShare(Shape, frozen=True):
    """So many of so many; ``interval`` is the 95 % interval."""

    count: int
    of: int
    value: float | None
    interval: tuple[float, float]


class AnswerRow(Shape, frozen=True):
    name: str
    questions: int
    fact: AnswerShare
    first: AnswerShare
    precision: AnswerShare
    recall: AnswerShare
    f1: float | None
    lines: float


class AnswerVerdict(Shape, frozen=True):
    question: str
    folder: str
    type: str
    lang: str
    answerable: bool
    refused: bool
    fact: bool
    first: bool
    cited: bool | None
    lines: int
    confidence: float
    text: str


class EvalAnswers(Shape, frozen=True, tag_field="schema_version", tag="eval_answers.v1"):
    """How questions were answered: rows for all, by folder, type and language; then each question."""

    rows: tuple[AnswerRow, ...]
    verdicts: tuple[AnswerVerdict, ...]


class EvalList(Shape, frozen=True, tag_field="schema_version", tag="eval_list.v1"):
    """The kept runs, newest first."""

    runs: tuple[EvalReport, ...]


class Difference(Shape, frozen=True):
    """Mean of ``after - before`` with its 95 % paired bootstrap interval."""

    metric: str
    before: float
    after: float
    difference: float
    low: float
    high: float
    beyond_noise: bool


class Change(Shape, frozen=True):
    query_id: str
    text: str
    before: float
    after: float


class EvalComparison(Shape, frozen=True, tag_field="schema_version", tag="eval_comparison.v1"):
    """Two runs over the same queries; ``better`` and ``worse`` are by ``metric``, largest change first."""

    before: str
    after: str
    metric: str
    differences: tuple[Difference, ...]
    better: tuple[Change, ...]
    worse: tuple[Change, ...]
    unchanged: int


class Policy(Shape, frozen=True):
    policy: str
    train: float
    test: float


class EvalTuning(Shape, frozen=True, tag_field="schema_version", tag="eval_tuning.v1"):
    """The best policy on the train split and what it is worth on the rest.

    ``settings`` select it; they are empty where it is no better on the rest than the current one.
    """

    metric: str
    names: tuple[str, ...]
    train_queries: int
    test_queries: int
    best: Policy
    current: Policy
    legs: tuple[Policy, ...]
    gain: Difference
    settings: dict[str, Any]
    tried: tuple[Policy, ...]


class JudgedWeights(Shape, frozen=True):
    """Shares of questions: sorted into answers and refusals as they should be; fact in the first passage."""

    sorted: float
    first: float


class EvalAnswerTuning(Shape, frozen=True, tag_field="schema_version", tag="eval_answer_tuning.v1"):
    """Weights of one's own beside those that ship, on questions that a fit did not see."""

    before: JudgedWeights
    after: JudgedWeights
    better: bool
    written: str | None
    """The file with the weights; null where they are not better."""


class NameRow(Shape, frozen=True):
    """How often the note comes first, among the first three, the first ten documents of the page."""

    kind: str
    queries: int
    hit_1: float
    hit_3: float
    hit_10: float
    distinct: float


class NameQuery(Shape, frozen=True):
    """``place`` is null where the note is not on the first page; ``found`` are the paths shown."""

    kind: str
    text: str
    place: int | None
    distinct: int
    hits: int
    found: tuple[str, ...]


class EvalNames(Shape, frozen=True, tag_field="schema_version", tag="eval_names.v1"):
    """Queries made of what the notes of one folder are called, by kind."""

    name: str
    documents: int
    rows: tuple[NameRow, ...]
    queries: tuple[NameQuery, ...]


class EvalImport(Shape, frozen=True, tag_field="schema_version", tag="eval_import.v1"):
    """A collection turned into a folder of notes and a golden file."""

    name: str
    documents: int
    queries: int
    folder: str
    golden: str


def eval_report(report: domain.EvalReport) -> EvalReport:
    refusal = of(report.refusal, Refusal) if report.refusal else None
    return of(report, EvalReport, queries=len(report.scores), refusal=refusal)


def eval_answers(report: domain.AnswersReport) -> EvalAnswers:
    return of(report, EvalAnswers)


def eval_list(reports: Sequence[domain.EvalReport]) -> EvalList:
    return EvalList(runs=tuple(eval_report(report) for report in reports))


def eval_comparison(comparison: domain.EvalComparison) -> EvalComparison:
    return of(comparison, EvalComparison, before=comparison.before.run_id, after=comparison.after.run_id)


def eval_tuning(report: domain.TuneReport) -> EvalTuning:
    return of(report, EvalTuning)


def eval_names(report: domain.NamesReport) -> EvalNames:
    return of(report, EvalNames)


def eval_answer_tuning(found: OwnWeights, target: Path) -> EvalAnswerTuning:
    return of(found, EvalAnswerTuning, written=str(target) if found.better else None)
