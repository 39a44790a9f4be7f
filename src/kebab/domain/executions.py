"""What agents did: the records of the execution memory and what is concluded from them."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from math import isfinite

from kebab.domain.hits import Degradation
from kebab.domain.ids import digest, nfc
from kebab.errors import InvalidInput

UNKNOWN_PROVIDER = "unknown"

_EXECUTION_TEXTS = (
    "id", "agent_id", "agent_role", "task_id", "task_type", "task_description", "error", "provider", "parent",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One recorded run of an agent's task.

    Texts are NFC, times are UTC, an embedding is held in single precision: what is read back equals what was
    recorded. Raises InvalidInput naming the field that is wrong.
    """

    id: str
    agent_id: str
    agent_role: str | None = None
    task_id: str
    task_type: str
    task_description: str
    success: bool
    error: str | None = None
    quality_score: float
    """In [0, 1]."""
    latency_ms: int
    cost_cents: int = 0
    provider: str = UNKNOWN_PROVIDER
    started_at: datetime
    finished_at: datetime
    documents_used: tuple[str, ...] = ()
    parent: str | None = None
    """The execution that led to this one."""
    embedding: tuple[float, ...] | None = None
    embedding_model: str | None = None
    """Names the model and its version; set exactly when ``embedding`` is."""

    def __post_init__(self) -> None:
        for name in _EXECUTION_TEXTS:
            value = getattr(self, name)
            _set(self, name, value if value is None else clean(value))
        for name in ("id", "agent_id", "task_id", "task_type", "provider"):
            _require(bool(getattr(self, name).strip()), name, "must not be empty")
        _require(0 <= self.quality_score <= 1, "quality_score", "does not lie in [0, 1]")
        for name in ("latency_ms", "cost_cents"):
            _require(0 <= getattr(self, name) < 2**63, name, "must not be negative")
        for name in ("started_at", "finished_at"):
            _set(self, name, utc(getattr(self, name), field_name=name))
        _require(self.finished_at >= self.started_at, "finished_at", "is before started_at")
        _require(self.parent is None or bool(self.parent.strip()), "parent", "must not be empty")
        _require(self.parent != self.id, "parent", "is the execution itself")
        _require(all(map(str.strip, self.documents_used)), "documents_used", "must not hold an empty name")
        _set(self, "quality_score", float(self.quality_score))
        _set(self, "documents_used", tuple(dict.fromkeys(clean(ref) for ref in self.documents_used)))
        _set(self, "embedding", checked_embedding(self.embedding, self.embedding_model))


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """A free-form record of a task: a description, whatever else was noted, an embedding if there is one."""

    id: str
    description: str
    recorded_at: datetime
    details: Mapping[str, object] = field(default_factory=dict)
    """JSON values."""
    embedding: tuple[float, ...] | None = None
    embedding_model: str | None = None

    def __post_init__(self) -> None:
        _require(bool(self.id.strip()), "id", "must not be empty")
        _set(self, "description", clean(self.description))
        _set(self, "recorded_at", utc(self.recorded_at, field_name="recorded_at"))
        _set(self, "embedding", checked_embedding(self.embedding, self.embedding_model))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionFilters:
    """AND across the fields, OR inside one; an empty field does not filter."""

    agent: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    task_type: tuple[str, ...] = ()
    provider: tuple[str, ...] = ()
    success: bool | None = None
    after: datetime | None = None
    """Finished at this time or later."""
    before: datetime | None = None
    """Finished earlier than this."""
    max_cost_cents: int | None = None

    def __post_init__(self) -> None:
        for name in ("after", "before"):
            if (moment := getattr(self, name)) is not None:
                _set(self, name, utc(moment, field_name=name))

    def __bool__(self) -> bool:
        return self != ExecutionFilters()


class Prefer(StrEnum):
    """Whether the outcome of a run weighs on its place."""

    NOTHING = "nothing"
    SUCCESS = "success"


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridSearchResult:
    """An execution and how it came to its place; the side that did not find it is None.

    ``semantic_score`` is the cosine (0 where it is negative), ``lexical_score`` is bm25/(1+bm25),
    ``hybrid_score`` is the fused score after the outcome's weight: all in [0, 1].
    """

    execution: Execution
    hybrid_score: float
    semantic_score: float | None = None
    lexical_score: float | None = None
    semantic_rank: int | None = None
    lexical_rank: int | None = None
    outcome_weight: float = 1.0
    """What the fused score was multiplied by for the sake of ``Prefer``."""
    reason: str = ""
    """One sentence that says where the score comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskHit:
    """A task record found again; scores as in HybridSearchResult."""

    task: TaskRecord
    hybrid_score: float
    semantic_score: float | None = None
    lexical_score: float | None = None
    semantic_rank: int | None = None
    lexical_rank: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a search of the memory found, best first, and which part of it could not take part."""

    hits: tuple[HybridSearchResult, ...]
    degraded: tuple[Degradation, ...] = ()


@dataclass(frozen=True, slots=True)
class RecalledTasks:
    hits: tuple[TaskHit, ...]
    degraded: tuple[Degradation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The part of an execution that statistics need."""

    agent_id: str
    task_type: str
    success: bool
    quality_score: float
    latency_ms: int
    cost_cents: int
    finished_at: datetime


class Trend(StrEnum):
    IMPROVING = "improving"
    STABLE = "stable"
    DECLINING = "declining"
    UNKNOWN = "unknown"
    """Too few runs or days to tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyAggregation:
    """One day (UTC) of one agent's runs of one type; ``trend`` looks back over the two weeks up to it."""

    agent_id: str
    task_type: str
    day: date
    execution_count: int
    success_count: int
    success_rate: float
    avg_quality: float
    avg_latency_ms: float
    total_cost_cents: int
    trend: Trend


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningCurve:
    agent_id: str
    task_type: str | None
    """None where the runs of all types are taken together."""
    days: tuple[DailyAggregation, ...]
    trend: Trend
    slope_per_day: float | None
    """Change of the mean outcome (quality of a success, 0 for a failure) in a day; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRank:
    """An agent's standing at a type of task. Ranked by ``low``, what it achieves at the least."""

    agent_id: str
    executions: int
    effective_executions: float
    """Runs weighted by recency: one of today counts 1, one of a half-life ago counts 0.5."""
    success_rate: float
    low: float
    high: float
    avg_quality: float
    avg_latency_ms: float
    avg_cost_cents: float
    last_finished_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """An execution that came before another; ``distance`` counts the steps back."""

    execution: Execution
    distance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpfulDocument:
    """A document that runs of similar tasks used."""

    document: str
    score: float
    """Similarity and outcome of the runs that used it; higher is better, no fixed scale."""
    succeeded: int
    failed: int
    executions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStats:
    executions: int
    successes: int
    tasks: int
    agents: int
    task_types: int
    providers: int
    documents: int
    first_started_at: datetime | None
    last_finished_at: datetime | None
    total_cost_cents: int
    models: Mapping[str, int]
    """Embedding model → number of executions that carry its vector."""


@dataclass(frozen=True, slots=True)
class LineFailure:
    """A line of an import that was not recorded, and why."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    recorded: int
    failures: tuple[LineFailure, ...] = ()


def execution_id(*, agent_id: str, task_id: str, started_at: datetime) -> str:
    """The id of a run that came without one: the same run recorded twice is one record."""
    return digest("execution", agent_id, task_id, utc(started_at, field_name="started_at").isoformat())


def task_record_id(description: str, *, recorded_at: datetime) -> str:
    return digest("task", description, utc(recorded_at, field_name="recorded_at").isoformat())


def single_precision(vector: Sequence[float]) -> tuple[float, ...]:
    """The nearest values that four bytes each can hold."""
    return tuple(array("f", vector))


def utc(moment: datetime, *, field_name: str) -> datetime:
    _require(moment.tzinfo is not None, field_name, "lacks a time zone")
    return moment.astimezone(UTC)


def checked_embedding(embedding: Sequence[float] | None, model: str | None) -> tuple[float, ...] | None:
    _require((embedding is None) == (not model), "embedding", "and embedding_model go together")
    if embedding is None:
        return None
    values = single_precision(embedding)
    _require(bool(values) and all(map(isfinite, values)), "embedding", "holds no finite numbers")
    _require(any(values), "embedding", "is zero everywhere")
    return values


def clean(text: str) -> str:
    """NFC, and without NUL and lone surrogates, which no store and no JSON line carries."""
    text = nfc(text)
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _require(condition: bool, name: str, message: str) -> None:
    if not condition:
        raise InvalidInput(f"{name} {message}", details={"field": name})


def _set(instance: object, name: str, value: object) -> None:
    object.__setattr__(instance, name, value)
