"""What an evaluation asks, and what it found: values that reports, comparisons and tuning share.

A *target* is what a query should find, named by one string: a document (``path``), a section
(``path#Heading``), a chunk id, or a collection's own document id. A *unit* is what a result counts as: the
target it meets, or else the document or section it stands in. Several chunks of one unit count once, at the
place of the best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kebab.domain.intervals import wilson_interval
from kebab.domain.queries import SearchMode

METRICS = ("nDCG@10", "R@100", "MRR@10", "hit@1", "hit@3", "hit@5", "hit@10", "P@10")
"""Every metric of a report, in the order in which reports show them."""


@dataclass(frozen=True, slots=True)
class EvalQuery:
    """One judged query. ``targets`` maps each target to its gain; it is empty exactly when ``refuse``."""

    query_id: str
    text: str
    targets: Mapping[str, int] = field(default_factory=dict)
    must_contain: tuple[str, ...] = ()
    """Each of these texts must stand in one of the first ten chunks."""
    forbidden: tuple[str, ...] = ()
    """Targets of which none may be among the first ten units."""
    group: str = ""
    lang: str = ""
    refuse: bool = False
    """The knowledge base holds no answer: asking must be refused, and search is not scored."""


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Judged queries with the name under which reports show them."""

    name: str
    queries: tuple[EvalQuery, ...]

    @property
    def judged(self) -> tuple[EvalQuery, ...]:
        """The queries that search is scored on."""
        return tuple(query for query in self.queries if not query.refuse)


@dataclass(frozen=True, slots=True)
class QueryScore:
    """How one query fared. ``first_rank`` is the place of the first target, from 1; None: not found."""

    query_id: str
    text: str
    metrics: Mapping[str, float]
    first_rank: int | None
    found: tuple[str, ...]
    """The first ten units."""
    latency_ms: float
    group: str = ""
    lang: str = ""
    faults: tuple[str, ...] = ()
    """Texts that were missing and targets that were forbidden, as sentences."""


@dataclass(frozen=True, slots=True)
class RefusalScore:
    """How well refusals meet the queries that ask for one; a ratio of nothing is None."""

    refused: int
    should_refuse: int
    rightly_refused: int
    wrong: tuple[str, ...]
    """Ids of queries that were answered and should not have been, or the other way round."""

    @property
    def precision(self) -> float | None:
        return self.rightly_refused / self.refused if self.refused else None

    @property
    def recall(self) -> float | None:
        return self.rightly_refused / self.should_refuse if self.should_refuse else None


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many, with its 95 % interval."""

    count: int
    of: int

    @property
    def value(self) -> float | None:
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        return wilson_interval(self.count, self.of)


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """How one question was answered."""

    question: str
    folder: str
    type: str
    lang: str
    answerable: bool
    refused: bool
    fact: bool
    """The answer holds the fact."""
    first: bool
    """Its first line does."""
    cited: bool | None
    """An expected path is cited; None where none is named."""
    lines: int
    confidence: float
    text: str


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """Some questions together: all of them, a folder, a type, a language."""

    name: str
    questions: int
    fact: Share
    first: Share
    precision: Share
    recall: Share
    lines: float
    """Lines of an answer, on average."""

    @property
    def f1(self) -> float | None:
        """Of refusals; None where nothing should be refused."""
        if not self.recall.of:
            return None
        p, r = self.precision.value or 0.0, self.recall.value or 0.0
        return 2 * p * r / (p + r) if p + r else 0.0


@dataclass(frozen=True, slots=True)
class AnswersReport:
    rows: tuple[AnswerRow, ...]
    verdicts: tuple[AnswerVerdict, ...]


@dataclass(frozen=True, slots=True)
class EvalReport:
    """One run over one query set. ``metrics``: means over the judged queries, ``p50_ms``, ``p95_ms``."""

    run_id: str
    created_at: str
    name: str
    mode: SearchMode
    fusion: str | None
    """The fusion policy's name; None where nothing was fused."""
    index_version: str
    embedding_model: str | None
    documents: int
    metrics: Mapping[str, float]
    scores: tuple[QueryScore, ...]
    groups: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Means for each group and language of the golden file, as ``group:typo`` or ``lang:ko``."""
    refusal: RefusalScore | None = None
    degraded: tuple[str, ...] = ()
    """What could not take part in some search; a report with any is not a fair measurement."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Wall time by step: ingest, search."""


@dataclass(frozen=True, slots=True)
class QueryChange:
    query_id: str
    text: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """Mean of ``after − before`` over the shared queries, with its 95 % paired bootstrap interval."""

    metric: str
    before: float
    after: float
    difference: float
    low: float
    high: float

    @property
    def beyond_noise(self) -> bool:
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class EvalComparison:
    """Two runs over the same queries. Better and worse are by one metric, the largest change first."""

    before: EvalReport
    after: EvalReport
    metric: str
    differences: tuple[MetricDifference, ...]
    better: tuple[QueryChange, ...]
    worse: tuple[QueryChange, ...]
    unchanged: int


@dataclass(frozen=True, slots=True)
class TunedPolicy:
    """A fusion policy with its mean score on both splits."""

    policy: str
    train: float
    test: float


@dataclass(frozen=True, slots=True)
class TuneReport:
    """What tuning learned on the train split and what it is worth on the rest."""

    metric: str
    names: tuple[str, ...]
    train_queries: int
    test_queries: int
    best: TunedPolicy
    legs: tuple[TunedPolicy, ...]
    """Each leg alone."""
    current: TunedPolicy
    """The policy that the settings name today."""
    gain: MetricDifference
    """The best policy against the current one, on the test split."""
    tried: tuple[TunedPolicy, ...]
    """Every policy, best on the train split first."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """What to write into the configuration to use the best policy, by dotted key.

    Empty where it is no better than the current one on the test split: the configuration then stays.
    """


@dataclass(frozen=True, slots=True)
class NameQuery:
    """One query of ``eval names``. ``place`` is the note's among the documents shown, from 1, or None."""

    kind: str
    text: str
    place: int | None
    distinct: int
    """How many different documents the first page shows."""
    hits: int
    found: tuple[str, ...]
    """Their paths, in order."""


@dataclass(frozen=True, slots=True)
class NameRow:
    """How often the note that a kind of query names comes first, among the first three, the first ten."""

    kind: str
    queries: int
    hit_1: float
    hit_3: float
    hit_10: float
    distinct: float
    """Different documents on the first page, on average."""


@dataclass(frozen=True, slots=True)
class NamesReport:
    """What ``eval names`` found of one folder."""

    name: str
    documents: int
    rows: tuple[NameRow, ...]
    queries: tuple[NameQuery, ...]
