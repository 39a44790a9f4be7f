"""Requests that read what is stored, bring something in, and bring what is derived up to date."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from kebab.wire.requests import Budget, Count, Request, not_empty


class FetchChunkRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="fetch_chunk_request.v1"
):
    """A chunk's text as indexed, with ``context`` neighbouring chunks on each side."""

    chunk_id: str
    context: Annotated[int, Meta(ge=0, le=1000)] = 0

    def __post_init__(self) -> None:
        not_empty("chunk_id", self.chunk_id)


class FetchDocRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="fetch_doc_request.v1"
):
    """A document's text as indexed, cut to whole lines within the budget."""

    reference: str
    max_tokens: Budget | None = None

    def __post_init__(self) -> None:
        not_empty("reference", self.reference)


class FetchSpanRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="fetch_span_request.v1"
):
    """Lines ``start`` to ``end`` of a document as indexed, inclusive; the first line is 1."""

    reference: str
    start: Annotated[int, Meta(ge=1, le=(1 << 53))]
    end: Annotated[int, Meta(ge=1, le=(1 << 53))]

    def __post_init__(self) -> None:
        not_empty("reference", self.reference)
        if self.end < self.start:
            raise ValueError(f"end is {self.end}; it must not come before start, which is {self.start}")


class FetchRequest(Request, frozen=True, kw_only=True, tag_field="schema_version", tag="fetch_request.v1"):
    """The text that a reference names: a citation, a path, or the id of a document or a chunk.

    ``context`` adds so many lines before and after cited lines, or neighbouring chunks of a chunk.
    """

    reference: str
    source: str | None = None
    """The source of the document, where several have one at this path."""
    context: Annotated[int, Meta(ge=0, le=1000)] = 0
    max_tokens: Budget | None = None

    def __post_init__(self) -> None:
        not_empty("reference", self.reference)


class InspectDocRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="inspect_doc_request.v1"
):
    """A document with its chunks, by id, a beginning of one, or path."""

    reference: str

    def __post_init__(self) -> None:
        not_empty("reference", self.reference)


class InspectChunkRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="inspect_chunk_request.v1"
):
    """A chunk with all that is known of it, by id or a beginning of one."""

    chunk_id: str

    def __post_init__(self) -> None:
        not_empty("chunk_id", self.chunk_id)


class ListRunsRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="list_runs_request.v1"
):
    """The latest ingest runs, newest first."""

    limit: Count = 20


class IngestRequest(Request, frozen=True, kw_only=True, tag_field="schema_version", tag="ingest_request.v1"):
    """Index what is new or changed and remove what is gone; with ``paths``, only those."""

    paths: tuple[str, ...] = ()
    dry_run: bool = False
    force: bool = False
    allow_mass_delete: bool = False


class IngestTextRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="ingest_text_request.v1"
):
    """Store a text that is no file under its title."""

    text: str
    title: str
    dry_run: bool = False

    def __post_init__(self) -> None:
        not_empty("title", self.title)


class IngestFileRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="ingest_file_request.v1"
):
    """Index one file of a source."""

    path: str
    force: bool = False

    def __post_init__(self) -> None:
        not_empty("path", self.path)


class StatusRequest(Request, frozen=True, kw_only=True, tag_field="schema_version", tag="status_request.v1"):
    """What the knowledge base holds."""


class IndexRequest(Request, frozen=True, kw_only=True, tag_field="schema_version", tag="index_request.v1"):
    """Bring derived data up to date with the store; without a flag, all of it."""

    embeddings: bool = False
    lexical: bool = False
    rebuild: bool = False
    model: str | None = None
    batch_size: Annotated[int, Meta(ge=1, le=100_000)] | None = None


class FetchCitationRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="fetch_citation_request.v1"
):
    """What a citation names, such as ``notes/a.md#L12-L34``."""

    uri: str

    def __post_init__(self) -> None:
        not_empty("uri", self.uri)


class ListItemsRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="list_items_request.v1"
):
    """What an ingest run did with each file."""

    run_id: str


class DoctorRequest(Request, frozen=True, kw_only=True, tag_field="schema_version", tag="doctor_request.v1"):
    """Check everything; ``full`` reads every stored document and vector, not samples."""

    full: bool = False


class EvalRunRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="eval_run_request.v1"
):
    """A kept evaluation run, by its id or the beginning of it."""

    run_id: str


class EvalCompareRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="eval_compare_request.v1"
):
    """Two kept evaluation runs over the same queries."""

    before: str
    after: str


LIBRARY_REQUESTS = (
    DoctorRequest,
    EvalCompareRequest,
    EvalRunRequest,
    FetchCitationRequest,
    FetchChunkRequest,
    FetchDocRequest,
    FetchRequest,
    FetchSpanRequest,
    IndexRequest,
    IngestFileRequest,
    IngestRequest,
    IngestTextRequest,
    InspectChunkRequest,
    InspectDocRequest,
    ListItemsRequest,
    ListRunsRequest,
    StatusRequest,
)
