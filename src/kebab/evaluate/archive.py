"""Reports as JSON, whole: kept in a knowledge base, or in a file of their own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from kebab.domain.evaluations import EvalReport
from kebab.errors import InvalidInput
from kebab.ports import EvalStore

ENOUGH = 1000
"""How many runs a beginning of a run id is looked for in."""


def encode(report: EvalReport) -> bytes:
    return msgspec.json.encode(report, order="deterministic")


def decode(raw: str | bytes) -> EvalReport:
    """Raises InvalidInput for anything that is not a report of this or an earlier version."""
    try:
        return msgspec.json.decode(raw, type=EvalReport)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidInput(f"this is not an evaluation report: {error}") from error


def read_file(path: Path) -> EvalReport:
    """The last report of a file that holds one a line, as ``kebab eval run --json`` prints them."""
    lines = [line for line in path.read_bytes().splitlines() if line.strip()]
    if not lines:
        raise InvalidInput(f"{path} is empty")
    return decode(lines[-1])


@dataclass(frozen=True, slots=True)
class Archive:
    """The runs kept in a knowledge base."""

    store: EvalStore

    def keep(self, report: EvalReport) -> None:
        self.store.put(report.run_id, created_at=report.created_at, report_json=encode(report).decode())

    def recent(self, limit: int = 20) -> list[EvalReport]:
        """Newest first."""
        return [decode(raw) for raw in self.store.recent(limit)]

    def find(self, reference: str) -> EvalReport:
        """The run whose id is, or alone begins with, the reference. Raises InvalidInput otherwise."""
        raw = self.store.get(reference)
        if raw is not None:
            return decode(raw)
        found = [report for report in self.recent(ENOUGH) if report.run_id.startswith(reference)]
        if len(found) != 1:
            said = "no run" if not found else f"{len(found)} runs"
            raise InvalidInput(
                f"{said} begins with {reference!r}", hint="see the kept runs with: kebab eval list"
            )
        return found[0]
