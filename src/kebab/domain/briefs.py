"""A brief: what is known that matters for a task, within a budget of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from kebab.domain.citations import Citation
from kebab.domain.hits import Degradation
from kebab.domain.ids import ChunkId


@dataclass(frozen=True, slots=True)
class BriefLines:
    """Some lines of a document, verbatim."""

    chunk_id: ChunkId
    title: str
    heading_path: tuple[str, ...]
    citation: Citation
    text: str
    led_by: tuple[str, ...] = ()
    """The runs that led to these lines, where the task's own words did not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefRun:
    """A run of a task like this one, and how it ended."""

    id: str
    task: str
    success: bool
    finished_at: datetime
    approach: str | None = None
    outcome: str | None = None
    """What came of it: the result, or for a failed run the error."""
    lesson: str | None = None
    documents: tuple[str, ...] = ()
    """The documents that it used."""
    match: float
    """How near its task is to this one; a ranking signal, no probability."""
    surely: bool = True
    """False where it is told only because nothing nearer is known: it may be about something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What the budget let in, best first.

    ``text`` says all of it once, in three parts: documents, what worked before, what to avoid. ``tokens`` is
    the estimate for ``text`` and never more than ``max_tokens``.
    """

    task: str
    documents: tuple[BriefLines, ...]
    worked: tuple[BriefRun, ...]
    """Runs that succeeded."""
    avoid: tuple[BriefRun, ...]
    """Runs that failed: what they tried is what to avoid."""
    text: str
    tokens: int
    max_tokens: int
    left_out: int = 0
    """How many more pieces were chosen that the budget did not let in."""
    degraded: tuple[Degradation, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.documents or self.worked or self.avoid)
