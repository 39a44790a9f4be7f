"""Shapes of upkeep: doctor, index, models, reset, bundles, and what this kebab can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import field

from kebab.domain import reports as domain
from kebab.wire.shape import Shape, of


class Check(Shape, frozen=True):
    """One thing the doctor looked at: ok, warning, fault or repaired."""

    name: str
    ok: bool
    status: str
    detail: str
    hint: str | None = None
    figures: dict[str, int] = field(default_factory=dict)
    """What was counted: rows, pieces, removed and outside rows and bytes of an index; bytes of each part."""


class Doctor(Shape, frozen=True, tag_field="schema_version", tag="doctor.v1"):
    """``endpoints`` lists every network address the configuration may contact."""

    ok: bool
    checks: tuple[Check, ...]
    endpoints: tuple[str, ...]


class Schema(Shape, frozen=True, tag_field="schema_version", tag="schema.v1"):
    """Capabilities, versions, wire schemas and statistics."""

    kebab_version: str
    wire: tuple[str, ...]
    versions: dict[str, str]
    capabilities: dict[str, bool]
    stats: dict[str, Any]


class MemoryState(Shape, frozen=True):
    """How many runs the execution memory holds, and when the last one ended."""

    executions: int
    successes: int
    last_finished_at: str | None


class Status(Shape, frozen=True, tag_field="schema_version", tag="status.v1"):
    """What the knowledge base holds, as far as whoever asks may see it.

    ``tags`` are the most frequent ones. ``memory`` is null where there is none to read.
    """

    kebab_version: str
    indexed: bool
    readonly: bool
    documents: int
    chunks: int
    sources: dict[str, int]
    languages: dict[str, int]
    media: dict[str, int]
    tags: dict[str, int]
    last_indexed_at: str | None
    memory: MemoryState | None


class IndexReport(Shape, frozen=True, tag_field="schema_version", tag="index_report.v1"):
    """What was brought up to date; ``missing`` chunks have no vector of the model yet."""

    lexical_chunks: int
    vector_chunks: int
    embedded: int
    missing: int
    model: str | None
    rebuilt: bool
    cancelled: bool
    duration_ms: int
    degraded: tuple[str, ...] = ()


class Model(Shape, frozen=True):
    provider: str
    model_id: str
    dimensions: int | None
    active: bool
    vectors: int
    note: str


class ModelList(Shape, frozen=True, tag_field="schema_version", tag="model_list.v1"):
    models: tuple[Model, ...]


class FormatEntry(Shape, frozen=True):
    """``extensions`` have their dot; ``*`` stands for all others. ``install`` is empty if it is installed."""

    name: str
    extensions: tuple[str, ...]
    engine: str
    installed: bool
    install: str = ""


class FormatList(Shape, frozen=True, tag_field="schema_version", tag="format_list.v1"):
    formats: tuple[FormatEntry, ...]


class ResetReport(Shape, frozen=True, tag_field="schema_version", tag="reset_report.v1"):
    scope: str
    removed: tuple[str, ...]
    kept: tuple[str, ...] = ()


class BundleReport(Shape, frozen=True, tag_field="schema_version", tag="bundle_report.v1"):
    """What a bundle holds, after it was written or read; ``models`` are those whose vectors are in it."""

    path: str
    documents: int
    chunks: int
    models: tuple[str, ...]
    byte_len: int
    degraded: tuple[str, ...] = ()


class InitReport(Shape, frozen=True, tag_field="schema_version", tag="init_report.v1"):
    """Where the configuration was written and where the data will live."""

    config: str
    data_dir: str
    root: str


class TrustRequest(Shape, frozen=True):
    """A setting of a project's file that counts only with trust, as TOML writes its value."""

    key: str
    value: str


class TrustReport(Shape, frozen=True, tag_field="schema_version", tag="trust_report.v1"):
    """What a project's file is trusted with; empty where it asks for nothing that needs trust."""

    config: str
    requests: tuple[TrustRequest, ...]


class TrustList(Shape, frozen=True, tag_field="schema_version", tag="trust_list.v1"):
    """The projects that the user trusts, by folder."""

    projects: tuple[str, ...]


def doctor(report: domain.DoctorReport) -> Doctor:
    checks = tuple(
        of(check, Check, ok=check.status is not domain.CheckStatus.FAULT) for check in report.checks
    )
    return Doctor(ok=report.healthy, checks=checks, endpoints=report.endpoints)


def schema(report: domain.SchemaReport, *, wire: Sequence[str]) -> Schema:
    return of(report, Schema, wire=tuple(wire))


def index_report(report: domain.IndexReport) -> IndexReport:
    return of(report, IndexReport)


def format_list(formats: Sequence[domain.FormatStatus]) -> FormatList:
    return FormatList(formats=tuple(of(one, FormatEntry) for one in formats))


def model_list(models: Sequence[domain.ModelStatus]) -> ModelList:
    return ModelList(models=tuple(of(model, Model) for model in models))


def reset_report(report: domain.ResetReport) -> ResetReport:
    return of(report, ResetReport)


def bundle_report(report: domain.BundleReport) -> BundleReport:
    return of(report, BundleReport)
