"""What the execution memory gives back: hits with their signals, causes, documents, counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kebab.domain.executions import Execution, TaskRecord
from kebab.domain.hits import Degradation


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
    recency_weight: float = 1.0
    """What the fused score was multiplied by for the run's age, where that was asked for."""
    relevance: float | None = None
    """How sure it is that this is about what was asked, in [0, 1]; None where it was not judged."""
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
    relevance: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a search of the memory found, best first, and which part of it could not take part."""

    hits: tuple[HybridSearchResult, ...]
    degraded: tuple[Degradation, ...] = ()
    withheld: int = 0
    """How many more were near, but not relevant enough to be shown."""


@dataclass(frozen=True, slots=True)
class RecalledTasks:
    hits: tuple[TaskHit, ...]
    degraded: tuple[Degradation, ...] = ()
    withheld: int = 0


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
    total_cost_cents: float
    models: Mapping[str, int]
    """Embedding model → number of executions that carry its vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What a prune removed or would remove, and of how many."""

    executions: int
    tasks: int
    of_executions: int
    of_tasks: int

    @property
    def everything(self) -> bool:
        return self.executions + self.tasks == self.of_executions + self.of_tasks > 0


@dataclass(frozen=True, slots=True)
class LineFailure:
    """A line of an import that was not recorded, and why."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """``recorded`` counts all that are now in the memory: new, replaced, and those that were the same."""

    recorded: int
    failures: tuple[LineFailure, ...] = ()
    new: int = 0
    replaced: int = 0
    same: int = 0
    links: int = 0
    redacted: int = 0
    """How many secrets were taken out."""
