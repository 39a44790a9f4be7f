"""Shapes that screens are drawn from: a document to read, counts to filter by, sources, settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from kebab.config.origins import Placed
from kebab.config.sections import Source
from kebab.domain.documents import DocumentSummary
from kebab.errors import redacted
from kebab.wire.library import DocInspection
from kebab.wire.shape import Shape

FACETS = {
    "tag": "tags",
    "lang": "lang",
    "media": "media",
    "source": "source_id",
    "source_type": "source_type",
}
"""Filters that are counted, and the key of a document that each looks at."""
FACET_VALUES = 40
"""The most frequent values are listed, and no more."""


class Heading(Shape, frozen=True):
    """A heading of a document; ``anchor`` is its id in the rendered text."""

    level: int
    text: str
    anchor: str
    line: int


class DocView(Shape, frozen=True, tag_field="schema_version", tag="doc_view.v1"):
    """A document rendered for reading.

    ``html`` holds no script, no style and no address that is loaded by itself. Its blocks say in
    ``data-lines`` which lines they show, such as ``12-15``. ``truncated`` when only the beginning is shown.
    """

    inspection: DocInspection
    html: str
    outline: tuple[Heading, ...]
    lines: int
    truncated: bool


class FacetValue(Shape, frozen=True):
    value: str
    documents: int


class Facets(Shape, frozen=True, tag_field="schema_version", tag="facets.v1"):
    """How many documents each value of a filter would keep; the most frequent values first."""

    documents: int
    facets: dict[str, tuple[FacetValue, ...]]


class SourceState(Shape, frozen=True):
    id: str
    root: str
    trust_level: str
    source_type: str
    documents: int
    chunks: int
    bytes: int
    last_indexed_at: str | None
    configured: bool = True
    """False for the inbox and for sources that are no longer in the configuration."""


class SourceList(Shape, frozen=True, tag_field="schema_version", tag="source_list.v1"):
    sources: tuple[SourceState, ...]


class Setting(Shape, frozen=True):
    """``origin`` is default, file, environment or flag; ``place`` names the file or the variable."""

    key: str
    value: Any
    default: Any
    origin: str
    place: str | None = None


class SettingList(Shape, frozen=True, tag_field="schema_version", tag="setting_list.v1"):
    file: str | None
    settings: tuple[Setting, ...]


VIEW_SHAPES: tuple[type[Shape], ...] = (DocView, Facets, SettingList, SourceList)


def facets(documents: Sequence[DocumentSummary]) -> Facets:
    return Facets(
        documents=len(documents),
        facets={name: _counted(documents, attribute) for name, attribute in FACETS.items()},
    )


def _counted(documents: Sequence[DocumentSummary], attribute: str) -> tuple[FacetValue, ...]:
    counts: Counter[str] = Counter()
    for document in documents:
        value = getattr(document, attribute)
        counts.update(set(value) if isinstance(value, tuple) else (str(value),))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(FacetValue(value=value, documents=count) for value, count in ordered[:FACET_VALUES])


def source_list(sources: Sequence[Source], documents: Sequence[DocumentSummary]) -> SourceList:
    """The configured sources, then others that documents came from."""
    held: dict[str, list[DocumentSummary]] = {source.id: [] for source in sources}
    for document in documents:
        held.setdefault(document.source_id, []).append(document)
    known = {source.id: source for source in sources}
    return SourceList(sources=tuple(_source(name, known.get(name), docs) for name, docs in held.items()))


def _source(name: str, source: Source | None, documents: Sequence[DocumentSummary]) -> SourceState:
    return SourceState(
        id=name,
        root=source.root if source else "",
        trust_level=str(source.trust_level) if source else "",
        source_type=source.source_type if source else "",
        documents=len(documents),
        chunks=sum(document.chunk_count for document in documents),
        bytes=sum(document.byte_len for document in documents),
        last_indexed_at=max((document.indexed_at for document in documents), default=None),
        configured=source is not None,
    )


def setting_list(file: str | None, placed: Sequence[Placed]) -> SettingList:
    return SettingList(
        file=file,
        settings=tuple(
            Setting(
                key=each.key,
                value=_harmless(each.value),
                default=_harmless(each.default),
                origin=each.origin.value,
                place=each.place,
            )
            for each in placed
        ),
    )


def _harmless(value: Any) -> Any:
    """Addresses may hold credentials, which no screen shows."""
    return redacted(value) if isinstance(value, str) else value
