"""Shapes of what is stored: documents, chunks and their verbatim text."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from kebab.domain.chunks import StoredChunk
from kebab.domain.documents import DocumentSummary
from kebab.domain.inspections import ChunkInspection as DomainChunkInspection
from kebab.domain.inspections import DocumentInspection as DomainDocumentInspection
from kebab.domain.inspections import FetchResult as DomainFetchResult
from kebab.domain.names import dated
from kebab.wire.search import Citation
from kebab.wire.shape import Shape, of


class DocSummary(Shape, frozen=True, tag_field="schema_version", tag="doc_summary.v1"):
    """A document without its text."""

    doc_id: str
    source_id: str
    doc_path: str
    title: str
    lang: str
    media: str
    tags: tuple[str, ...]
    source_type: str
    trust_level: str
    byte_len: int
    chunk_count: int
    parser_version: str
    chunker_version: str
    created_at: str | None
    updated_at: str | None
    indexed_at: str
    date: str | None = None
    """The day that the note is of: in its file's name, or when it was created, or changed."""


class DocList(Shape, frozen=True, tag_field="schema_version", tag="doc_list.v1"):
    """``total`` and ``next_offset`` are there where a page of the list was asked for."""

    documents: tuple[DocSummary, ...]
    total: int | UnsetType = UNSET
    next_offset: int | UnsetType = UNSET


class Span(Shape, frozen=True):
    """Lines of the file on disk, 1-based and inclusive."""

    start: int
    end: int


class ChunkSummary(Shape, frozen=True):
    chunk_id: str
    ordinal: int
    heading_path: tuple[str, ...]
    source_spans: tuple[Span, ...]
    token_estimate: int


class DocInspection(Shape, frozen=True, tag_field="schema_version", tag="doc_inspection.v1"):
    """A document and where its chunks lie; ``stale`` when its file changed or is gone since."""

    document: DocSummary
    chunks: tuple[ChunkSummary, ...]
    stale: bool
    source_state: str | None = None
    """``current``, ``changed`` or ``gone``; null while nothing is known of the file."""


class ChunkInspection(Shape, frozen=True, tag_field="schema_version", tag="chunk_inspection.v1"):
    """A chunk as indexed; ``embeddings`` names the models that have a vector of it."""

    chunk_id: str
    doc_id: str
    doc_path: str
    title: str
    ordinal: int
    heading_path: tuple[str, ...]
    text: str
    citation: Citation
    source_spans: tuple[Span, ...]
    block_ids: tuple[str, ...]
    part: int
    token_estimate: int
    chunker_version: str
    policy_hash: str
    embeddings: tuple[str, ...]
    source_id: str
    trust_level: str
    indexed_at: str


class FetchResult(Shape, frozen=True, tag_field="schema_version", tag="fetch_result.v1"):
    """Verbatim text with the lines it stands at; ``kind`` is chunk, doc or span."""

    kind: str
    doc_id: str
    doc_path: str
    text: str
    line_start: int
    line_end: int
    citation: Citation
    indexed_at: str
    stale: bool
    truncated: bool
    context_before: str | None = None
    context_after: str | None = None


def doc_summary(document: DocumentSummary) -> DocSummary:
    day = dated(document.path, created=document.created_at, updated=document.updated_at)
    return of(document, DocSummary, doc_path=document.path, date=day or None)


def doc_list(documents: Sequence[DocumentSummary]) -> DocList:
    return DocList(documents=tuple(doc_summary(document) for document in documents))


def doc_page(documents: Sequence[DocumentSummary], *, limit: int, offset: int) -> DocList:
    """So many of the documents, from an offset on; ``next_offset`` is absent at the end."""
    shown, end = documents[offset : offset + limit], offset + limit
    return DocList(
        documents=tuple(doc_summary(document) for document in shown),
        total=len(documents),
        next_offset=end if end < len(documents) else UNSET,
    )


def doc_inspection(inspection: DomainDocumentInspection) -> DocInspection:
    return DocInspection(
        document=doc_summary(inspection.document),
        chunks=tuple(_chunk_summary(stored) for stored in inspection.chunks),
        stale=inspection.stale,
        source_state=inspection.source_state,
    )


def chunk_inspection(inspection: DomainChunkInspection) -> ChunkInspection:
    stored = inspection.stored
    return of(
        stored.chunk,
        ChunkInspection,
        doc_path=stored.path,
        title=stored.title,
        source_spans=stored.chunk.spans,
        citation=of(inspection.citation, Citation),
        embeddings=inspection.embeddings,
        source_id=stored.source_id,
        trust_level=stored.trust_level,
        indexed_at=stored.indexed_at,
    )


def fetch_result(result: DomainFetchResult) -> FetchResult:
    return of(result, FetchResult)


def _chunk_summary(stored: StoredChunk) -> ChunkSummary:
    return of(stored.chunk, ChunkSummary, source_spans=stored.chunk.spans)
