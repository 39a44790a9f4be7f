"""Shapes of publishing."""

from __future__ import annotations

from collections.abc import Sequence

from kebab.domain import publications as domain
from kebab.wire.shape import Shape


class PublishReport(Shape, frozen=True, tag_field="schema_version", tag="publish_report.v1"):
    """What a command that publishes did, and what readers find now, of every publisher."""

    uri: str
    release: int
    publisher: str | None
    changed: int
    removed: int
    documents: int
    chunks: int
    publishers: tuple[str, ...]
    duration_ms: int
    collected_releases: int | None = None
    collected_bytes: int | None = None
    degraded: tuple[str, ...] = ()


class PublishedPart(Shape, frozen=True):
    """What one publisher has in a release."""

    publisher: str
    sources: tuple[str, ...]
    documents: int
    chunks: int
    model: str | None
    lexical: str
    kebab: str
    published_at: str


class PublishedRelease(Shape, frozen=True):
    number: int
    parts: tuple[PublishedPart, ...]


class PublicationList(Shape, frozen=True, tag_field="schema_version", tag="publication_list.v1"):
    """The releases at an address that can be read, newest first."""

    uri: str
    releases: tuple[PublishedRelease, ...]


def publish_report(report: domain.PublishReport) -> PublishReport:
    collected = report.collected
    return PublishReport(
        uri=report.uri,
        release=report.release,
        publisher=report.publisher,
        changed=report.changed,
        removed=report.removed,
        documents=report.documents,
        chunks=report.chunks,
        publishers=report.publishers,
        duration_ms=report.duration_ms,
        collected_releases=collected.releases if collected else None,
        collected_bytes=collected.byte_len if collected else None,
        degraded=report.degraded,
    )


def publication_list(uri: str, releases: Sequence[domain.Release]) -> PublicationList:
    found = (
        PublishedRelease(release.number, tuple(_part(part) for part in release.parts)) for release in releases
    )
    return PublicationList(uri, tuple(found))


def _part(part: domain.Part) -> PublishedPart:
    contents = part.contents
    return PublishedPart(
        publisher=part.publisher,
        sources=contents.sources,
        documents=contents.documents,
        chunks=contents.chunks,
        model=contents.model[0] if contents.model else None,
        lexical=contents.lexical,
        kebab=contents.kebab,
        published_at=contents.published_at,
    )


PUBLISHING_SHAPES = (PublishReport, PublicationList)
