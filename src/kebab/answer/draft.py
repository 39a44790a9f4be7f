"""An answer in the making: what is asked, what was found for it, and what is written so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

from kebab.answer.question import Question
from kebab.answer.rank import Scored
from kebab.domain.answers import AskCandidate, AskRequest, AskStep, Evidence
from kebab.domain.chunks import StoredChunk
from kebab.domain.citations import SourceState
from kebab.domain.hits import Degradation, Retrieval
from kebab.domain.ids import ChunkId


@dataclass(frozen=True, slots=True)
class Found:
    """What one search found: its chunks, and their passages, best first."""

    asked: str
    retrieval: Retrieval
    chunks: Sequence[StoredChunk]
    ranked: Sequence[Scored]


@dataclass
class Draft:
    """An answer in the making. Mutable, and seen by one question only."""

    trace_id: str
    created_at: str
    request: AskRequest
    question: Question
    asked: Question
    """The question, or those parts of it for which there is evidence."""
    steps: list[AskStep] = field(default_factory=list)
    candidates: tuple[AskCandidate, ...] = ()
    states: dict[ChunkId, SourceState | None] = field(default_factory=dict)
    """What became of the file of each chunk that was found."""
    found: list[Found] = field(default_factory=list)
    """What may be used, for the question or for each of its parts."""
    chosen: list[Scored] = field(default_factory=list)
    unanswered: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    degraded: tuple[Degradation, ...] = ()
    embedding_model: str | None = None
    pieces: list[str] = field(default_factory=list)
    started: float = field(default_factory=perf_counter)
    condensing_tokens: int = 0
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(self.pieces).strip()
