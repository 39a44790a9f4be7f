"""What the upkeep commands report: doctor, index, models, reset, schema, export and import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class CheckStatus(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"
    REPAIRED = "repaired"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing the doctor looked at. ``hint`` says what to do about a warning or a fault."""

    name: str
    status: CheckStatus
    detail: str
    hint: str | None = None
    figures: Mapping[str, int] = field(default_factory=dict)
    """What was counted, by name, for programs: rows and pieces of an index, bytes of a part."""


@dataclass(frozen=True, slots=True)
class DoctorReport:
    checks: tuple[Check, ...]
    endpoints: tuple[str, ...]
    """Every network address that the configuration may contact; empty means none, ever."""

    @property
    def healthy(self) -> bool:
        return all(check.status is not CheckStatus.FAULT for check in self.checks)


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What ``index`` brought up to date."""

    lexical_chunks: int
    vector_chunks: int
    embedded: int
    missing: int
    model: str | None
    rebuilt: bool
    cancelled: bool
    duration_ms: int
    degraded: tuple[str, ...] = ()
    """What could not be done, such as embedding without a model."""


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One embedding model kebab knows of. ``vectors`` counts what is cached for it."""

    provider: str
    model_id: str
    dimensions: int | None
    active: bool
    vectors: int
    note: str


@dataclass(frozen=True, slots=True)
class FormatStatus:
    """A kind of file, what reads it, and the command that installs that where it is missing."""

    name: str
    extensions: tuple[str, ...]
    """Lower case, with their dot; ``*`` stands for all others."""
    engine: str
    installed: bool
    install: str = ""


class ResetScope(StrEnum):
    """What ``reset`` removes. Sources are never touched, and the inbox only where it is named."""

    INDEX = "index"
    VECTORS = "vectors"
    OLD_VECTORS = "old-vectors"
    DATA = "data"
    INBOX = "inbox"
    MEMORY = "memory"
    CONFIG = "config"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class ResetReport:
    """``removed`` names what is gone, most of it paths; ``kept`` what may seem to be gone and is not."""

    scope: str
    removed: tuple[str, ...]
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BundleReport:
    """What a bundle holds, after it was written or read."""

    path: str
    documents: int
    chunks: int
    models: tuple[str, ...]
    """The models whose vectors are in it."""
    byte_len: int
    degraded: tuple[str, ...] = ()
    """What could not be done, such as embedding without a model."""


@dataclass(frozen=True, slots=True)
class SchemaReport:
    """Capabilities, versions and statistics, for agents that want to know before they ask."""

    kebab_version: str
    versions: dict[str, str]
    capabilities: dict[str, bool]
    stats: dict[str, object] = field(default_factory=dict)
