"""Stores of what was done: ingest runs, answers given, evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kebab.domain.ingests import IngestItem, IngestRun


class Ledger(Protocol):
    """What each ingest run did with each file."""

    def begin(self, run: IngestRun) -> None: ...

    def note(self, run_id: str, items: Sequence[IngestItem]) -> None: ...

    def finish(self, run: IngestRun) -> None: ...

    def runs(self, limit: int = 20) -> list[IngestRun]:
        """Newest first."""
        ...

    def running(self) -> list[IngestRun]:
        """All that have not ended, newest first, however many ended since they began."""
        ...

    def items(self, run_id: str) -> list[IngestItem]: ...

    def prune(self, *, keep: int) -> None:
        """Forget all but the newest runs, with their items. A run that has not ended stays."""
        ...


class AnswerStore(Protocol):
    """The answers given, refusals included, as JSON that the answer room alone reads."""

    def put(self, trace_id: str, *, created_at: str, question: str, answer_json: str) -> None:
        """Store an answer in place of an earlier one with this trace id."""
        ...

    def get(self, trace_id: str) -> str | None: ...

    def recent(self, limit: int = 20) -> list[str]:
        """Newest first."""
        ...


class EvalStore(Protocol):
    """The evaluation runs kept, as JSON that the evaluate room alone reads."""

    def put(self, run_id: str, *, created_at: str, report_json: str) -> None:
        """Store a report in place of an earlier one with this run id."""
        ...

    def get(self, run_id: str) -> str | None: ...

    def recent(self, limit: int = 20) -> list[str]:
        """Newest first."""
        ...
