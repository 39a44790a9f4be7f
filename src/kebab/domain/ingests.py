"""What ingest knows of files and says of its runs. Expected outcomes are values, not exceptions."""

from __future__ import annotations

from dataclasses import field, replace
from enum import StrEnum

from kebab.domain.ids import AssetId, DocId
from kebab.domain.values import dataclass

NO_TIME = -1
"""The time of a file that was indexed elsewhere and never seen here."""

_LATEST = 2**63 - 1


def storable_time(mtime_ns: int) -> int:
    """A file's time as it is stored and compared: within 64 bits, and never NO_TIME.

    File systems keep dates that 64 bits of nanoseconds do not reach: 2262-04-11 is the last day.
    """
    bounded = max(-_LATEST, min(mtime_ns, _LATEST))
    return bounded if bounded != NO_TIME else NO_TIME - 1


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it was when it was last indexed; equal fingerprints mean equal output for equal bytes."""

    path: str
    size: int
    mtime_ns: int
    asset_id: AssetId
    doc_id: DocId
    fingerprint: str
    """Versions and settings that shaped the output: parser, chunker, chunking policy, source defaults."""


class Outcome(StrEnum):
    INDEXED = "indexed"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"
    FAILED = "failed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class IngestItem:
    """What became of one file. ``reason`` says why it was skipped or failed, for people."""

    source_id: str
    path: str
    outcome: Outcome
    reason: str | None = None
    doc_id: DocId | None = None
    chunks: int = 0
    byte_len: int = 0
    warnings: tuple[str, ...] = ()


class RunStatus(StrEnum):
    RUNNING = "running"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class IngestRun:
    """One run's totals. A run still ``running`` whose process is gone was killed."""

    run_id: str
    started_at: str
    status: RunStatus
    finished_at: str | None = None
    indexed: int = 0
    unchanged: int = 0
    skipped: int = 0
    failed: int = 0
    removed: int = 0
    chunks: int = 0
    embedded: int = 0
    duration_ms: int = 0
    error: str | None = None

    def cut_off(self, at: str) -> IngestRun:
        """The record of a run that was killed, closed by whoever found it."""
        error = "the process ended before the run did"
        return replace(self, status=RunStatus.FAILED, finished_at=at, error=error)


@dataclass(frozen=True, slots=True)
class IngestReport:
    """A finished run with what people want to see of it."""

    run: IngestRun
    items: tuple[IngestItem, ...]
    """Everything but the unchanged files."""
    skipped_by_reason: dict[str, int] = field(default_factory=dict)
    skipped_by_extension: dict[str, int] = field(default_factory=dict)
    stage_ms: dict[str, int] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()
    """What could not be done, such as embedding without a model."""


class IngestPhase(StrEnum):
    SCAN = "scan"
    INDEX = "index"
    EMBED = "embed"
    PUBLISH = "publish"
    COPY = "copy"
    PACK = "pack"
    UNPACK = "unpack"
    CHECK = "check"
    WORDS = "words"
    VECTORS = "vectors"
    MEASURE = "measure"
    FINISH = "finish"


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """One event of a run. ``kind`` is started, progress, item, completed, cancelled or failed.

    The last three end a run, and exactly one of them is sent.
    """

    kind: str
    phase: IngestPhase
    done: int = 0
    total: int = 0
    path: str | None = None
    """The file that is read, or what is copied or checked."""
    rate: float | None = None
    """Items a second in this phase: files while indexing, chunks while embedding or writing an index,
    documents while sending, megabytes of what is copied or packed, rows of what is checked, queries while
    measuring."""
    eta_s: float | None = None
    item: IngestItem | None = None
    run: IngestRun | None = None
    message: str | None = None
