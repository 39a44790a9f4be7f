"""The smaller stores and files, in memory. Each is held to its port by a contract suite."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from kebab.domain.citations import SourceState
from kebab.domain.progress import Progress, silent
from kebab.errors import Corrupt, EngineError


class FakeAnswerStore:
    def __init__(self, error: EngineError | None = None) -> None:
        self.bodies: dict[str, str] = {}
        self.error = error

    def put(self, trace_id: str, *, created_at: str, question: str, answer_json: str) -> None:
        if self.error:
            raise self.error
        self.bodies[trace_id] = answer_json

    def get(self, trace_id: str) -> str | None:
        return self.bodies.get(trace_id)

    def recent(self, limit: int = 20) -> list[str]:
        return list(reversed(self.bodies.values()))[:limit]


class FakeEvalStore:
    def __init__(self) -> None:
        self._reports: dict[str, tuple[str, str]] = {}

    def put(self, run_id: str, *, created_at: str, report_json: str) -> None:
        self._reports[run_id] = (created_at, report_json)

    def get(self, run_id: str) -> str | None:
        return self._reports[run_id][1] if run_id in self._reports else None

    def recent(self, limit: int = 20) -> list[str]:
        newest = sorted(self._reports.values(), key=lambda report: report[0], reverse=True)
        return [body for _, body in newest][:limit]


class FakeSourceFiles:
    """Files that are as they were indexed, but for those that a test names by path."""

    def __init__(self) -> None:
        self.changes: set[str] = set()
        self.gone: set[str] = set()
        self.unknown: set[str] = set()

    def state(self, source_id: str, path: str) -> SourceState | None:
        if path in self.unknown:
            return None
        if path in self.gone:
            return SourceState.GONE
        return SourceState.CHANGED if path in self.changes else SourceState.CURRENT

    def states(self, places: Collection[tuple[str, str]]) -> dict[tuple[str, str], SourceState | None]:
        return {place: self.state(*place) for place in places}


class FakeStoreFile:
    """A store's file with the faults it is given; those of an index go when it is made anew."""

    def __init__(self, *faults: str) -> None:
        self._faults = list(faults)

    def faults(self) -> list[str]:
        return self._faults

    def reindex(self) -> None:
        self._faults = [fault for fault in self._faults if "index" not in fault]

    def schema_version(self) -> int:
        return 1

    def back_up(self, target: Path, progress: Progress = silent) -> None:
        target.write_text("a copy of a fake store")

    def require_whole(self, progress: Progress = silent) -> None:
        if self._faults:
            raise Corrupt(self._faults[0])
