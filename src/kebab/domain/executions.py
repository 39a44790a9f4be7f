"""What agents did: the records of the execution memory and what can be asked of them."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from kebab.domain.ids import digest, nfc
from kebab.errors import InvalidInput

UNKNOWN_PROVIDER = "unknown"
SCOPES = ("project", "user", "session")
"""What a run can belong to."""

Scalar = str | int | float | bool
"""A value of flat metadata."""

EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2262, 1, 1, tzinfo=UTC)
"""Times of real runs; stores count nanoseconds in 64 bits."""

_TEXTS = (
    "id", "agent_id", "agent_role", "task_id", "task_type", "task_description", "approach", "result",
    "lesson", "error", "provider", "parent",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What was said of a run after it was recorded."""

    at: datetime
    by: str = ""
    success: bool | None = None
    """The outcome as it is known now; None leaves it as it was."""
    quality_score: float | None = None
    note: str = ""

    def __post_init__(self) -> None:
        _set(self, "at", utc(self.at, field_name="at"))
        for name in ("by", "note"):
            _set(self, name, clean(getattr(self, name)))
        _require(
            self.quality_score is None or 0 <= self.quality_score <= 1, "quality_score", "is not in [0, 1]"
        )


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
    approach: str | None = None
    """What was tried."""
    result: str | None = None
    """What came of it."""
    lesson: str | None = None
    """What to do the next time."""
    success: bool
    error: str | None = None
    quality_score: float
    """In [0, 1]."""
    latency_ms: int
    cost_cents: float = 0
    """May be a fraction; a whole number is an int."""
    tokens: Mapping[str, int] = field(default_factory=dict)
    """Counts by name, such as input and output."""
    provider: str = UNKNOWN_PROVIDER
    scope: Mapping[str, str] = field(default_factory=dict)
    """Which project, user and session it belongs to, as far as stated."""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Scalar] = field(default_factory=dict)
    """Flat; filters can ask for its values."""
    started_at: datetime
    finished_at: datetime
    expires_at: datetime | None = None
    """From then on it is not found any more, and the next prune removes it."""
    documents_used: tuple[str, ...] = ()
    parent: str | None = None
    """The execution that led to this one."""
    feedback: tuple[Feedback, ...] = ()
    """Oldest first."""
    embedding: tuple[float, ...] | None = None
    embedding_model: str | None = None
    """Names the model and its version; set exactly when ``embedding`` is."""

    def __post_init__(self) -> None:
        for name in _TEXTS:
            value = getattr(self, name)
            _set(self, name, value if value is None else clean(value))
        for name in ("id", "agent_id", "task_id", "task_type", "provider"):
            _require(bool(getattr(self, name).strip()), name, "must not be empty")
        self._check_numbers()
        self._check_times()
        _require(self.parent is None or bool(self.parent.strip()), "parent", "must not be empty")
        _require(self.parent != self.id, "parent", "is the execution itself")
        for name in ("documents_used", "tags"):
            values = tuple(dict.fromkeys(clean(value) for value in getattr(self, name)))
            _require(all(map(str.strip, values)), name, "must not hold an empty name")
            _set(self, name, values)
        _set(self, "scope", _checked_scope(self.scope))
        _set(self, "metadata", _checked_metadata(self.metadata))
        _set(self, "feedback", tuple(self.feedback))
        _set(self, "embedding", checked_embedding(self.embedding, self.embedding_model))

    @property
    def searched_text(self) -> str:
        """What words are looked for in: the description, what was tried, what failed, what was learned."""
        return "\n".join(filter(None, (self.task_description, self.approach, self.error, self.lesson)))

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """Tags, scope and metadata as pairs of name and text, the form in which filters compare them."""
        scope = ((f"scope.{name}", value) for name, value in self.scope.items())
        metadata = ((f"metadata.{name}", label_value(value)) for name, value in self.metadata.items())
        return (*(("tag", tag) for tag in self.tags), *scope, *metadata)

    def _check_numbers(self) -> None:
        _require(0 <= self.quality_score <= 1, "quality_score", "does not lie in [0, 1]")
        _set(self, "quality_score", float(self.quality_score))
        for name in ("latency_ms", "cost_cents"):
            _require(getattr(self, name) >= 0, name, "must not be negative")
            _require(getattr(self, name) < 2**63, name, "does not fit in 64 bits")
        if float(self.cost_cents).is_integer():
            _set(self, "cost_cents", int(self.cost_cents))
        for name, count in self.tokens.items():
            _require(bool(name.strip()), "tokens", "must not hold an empty name")
            _require(0 <= count < 2**63, "tokens", f"must lie between 0 and 2^63: {name} is {count!r:.40}")
        _set(self, "tokens", {clean(name): count for name, count in self.tokens.items()})

    def _check_times(self) -> None:
        for name in ("started_at", "finished_at", "expires_at"):
            if (moment := getattr(self, name)) is not None:
                _set(self, name, utc(moment, field_name=name))
        _require(self.finished_at >= self.started_at, "finished_at", "is before started_at")


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

    @property
    def searched_text(self) -> str:
        """What words are looked for in."""
        return self.description

    def __post_init__(self) -> None:
        _require(bool(self.id.strip()), "id", "must not be empty")
        for name in ("id", "description"):
            _set(self, name, clean(getattr(self, name)))
        _set(self, "details", {clean(str(name)): _plain_json(value) for name, value in self.details.items()})
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
    max_cost_cents: float | None = None
    tag: tuple[str, ...] = ()
    scope: Mapping[str, str] = field(default_factory=dict)
    """Each of these must be the run's own."""
    metadata: Mapping[str, Scalar] = field(default_factory=dict)
    """Each of these must be the run's own."""
    valid_at: datetime | None = None
    """Not expired at this time."""

    @property
    def labels(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What to ask of a run's labels: one of the values under each name."""
        tags = (("tag", self.tag),) if self.tag else ()
        scope = tuple((f"scope.{name}", (value,)) for name, value in self.scope.items())
        metadata = ((f"metadata.{name}", (label_value(value),)) for name, value in self.metadata.items())
        return (*tags, *scope, *metadata)

    def __post_init__(self) -> None:
        _set(self, "scope", _checked_scope(self.scope))
        for name in ("after", "before", "valid_at"):
            if (moment := getattr(self, name)) is not None:
                _set(self, name, utc(moment, field_name=name))

    def __bool__(self) -> bool:
        return self != ExecutionFilters()


def execution_id(*, agent_id: str, task_id: str, started_at: datetime) -> str:
    """The id of a run that came without one: the same run recorded twice is one record."""
    return digest("execution", agent_id, task_id, utc(started_at, field_name="started_at").isoformat())


def task_record_id(description: str, *, recorded_at: datetime) -> str:
    return digest("task", description, utc(recorded_at, field_name="recorded_at").isoformat())


def single_precision(vector: Sequence[float]) -> tuple[float, ...]:
    """The nearest values that four bytes each can hold. Raises InvalidInput for what is no number."""
    try:
        return tuple(array("f", vector))
    except (TypeError, OverflowError) as error:
        raise InvalidInput(f"the embedding holds what is no number: {error}") from error


def utc(moment: datetime, *, field_name: str) -> datetime:
    """The same time in UTC. Raises InvalidInput without a time zone, and for times that no run can have."""
    _require(moment.tzinfo is not None, field_name, "lacks a time zone")
    try:
        moment = moment.astimezone(UTC)
    except (OverflowError, ValueError):
        moment = datetime.max.replace(tzinfo=UTC)
    _require(EARLIEST <= moment < LATEST, field_name, f"is no time between {EARLIEST:%Y} and {LATEST:%Y}")
    return moment


def checked_embedding(embedding: Sequence[float] | None, model: str | None) -> tuple[float, ...] | None:
    """The embedding in single precision. Raises InvalidInput for one that has no direction."""
    _require((embedding is None) == (not model), "embedding", "and embedding_model go together")
    return None if embedding is None else direction(embedding)


def direction(embedding: Sequence[float]) -> tuple[float, ...]:
    """A vector that can be compared. Raises InvalidInput where it is empty, zero or holds NaN or infinity."""
    values = single_precision(embedding)
    _require(bool(values) and all(map(isfinite, values)), "embedding", "holds no finite numbers")
    _require(any(values), "embedding", "is zero everywhere")
    return values


def label_value(value: Scalar) -> str:
    """A metadata value as filters compare it: true and 1 differ, 1 and 1.0 do not."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def clean(text: str) -> str:
    """NFC, and without NUL and lone surrogates, which no store and no JSON line carries."""
    text = nfc(text)
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _checked_scope(scope: Mapping[str, str]) -> dict[str, str]:
    for name in scope:
        _require(name in SCOPES, "scope", f"knows {', '.join(SCOPES)}, not {name!r:.40}")
    return {name: clean(value) for name, value in scope.items()}


def _checked_metadata(metadata: Mapping[str, Scalar]) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    for name, value in metadata.items():
        _require(bool(name.strip()), "metadata", "must not hold an empty name")
        _require(isinstance(value, str | int | float), "metadata", f"is flat: {name} is {value!r:.40}")
        found[clean(name)] = _plain_json(value)
    return found


def _plain_json(value: Any) -> Any:
    """A JSON value that every store can hold: clean texts, numbers that fit in 64 bits."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(name)): _plain_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_json(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise InvalidInput("a number does not fit in 64 bits", details={"field": "details"})
    if isinstance(value, float) and not isfinite(value):
        raise InvalidInput(f"{value} is no JSON number", details={"field": "details"})
    return value


def _require(condition: bool, name: str, message: str) -> None:
    if not condition:
        raise InvalidInput(f"{name} {message}", details={"field": name})


def _set(instance: object, name: str, value: object) -> None:
    object.__setattr__(instance, name, value)
