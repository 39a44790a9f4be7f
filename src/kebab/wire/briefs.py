"""Shape of a brief: what to know before a task."""

from __future__ import annotations

from datetime import datetime

from kebab.domain import briefs as domain
from kebab.wire.search import Citation, Degradation
from kebab.wire.shape import Shape, of


class BriefLines(Shape, frozen=True):
    """Lines of a document, verbatim. ``led_by`` names runs that led there where the task did not."""

    chunk_id: str
    title: str
    heading_path: tuple[str, ...]
    citation: Citation
    text: str
    led_by: tuple[str, ...] = ()


class BriefRun(Shape, frozen=True):
    """A run of a task like this one; ``outcome`` is its result or, where it failed, its error."""

    id: str
    task: str
    success: bool
    finished_at: datetime
    match: float
    approach: str | None = None
    outcome: str | None = None
    lesson: str | None = None
    documents: tuple[str, ...] = ()
    surely: bool = True
    """False where it may be about something else."""


class Brief(Shape, frozen=True, tag_field="schema_version", tag="brief.v1"):
    """Everything once more as ``text``, which is what the budget counts; ``left_out`` did not fit."""

    task: str
    text: str
    tokens: int
    max_tokens: int
    documents: tuple[BriefLines, ...]
    worked: tuple[BriefRun, ...]
    avoid: tuple[BriefRun, ...]
    left_out: int
    degraded: tuple[Degradation, ...]


def brief(found: domain.Brief) -> Brief:
    return of(found, Brief)
