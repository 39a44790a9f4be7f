"""Finding and reading."""

from __future__ import annotations

from kebab import wire
from kebab.app import Kebab
from kebab.web.operation import ASK, Operation
from kebab.web.view import document_view
from kebab.wire import briefs, connections, views
from kebab.wire.requests.connections import BriefRequest, LinksRequest, RelatedRequest
from kebab.wire.requests.library import (
    FetchChunkRequest,
    FetchCitationRequest,
    FetchDocRequest,
    FetchSpanRequest,
    InspectChunkRequest,
    InspectDocRequest,
)
from kebab.wire.requests.search import ListDocsRequest, SearchRequest, WhyRequest
from kebab.wire.search import SearchResponse, Why


def _search(kebab: Kebab, asked: SearchRequest) -> SearchResponse:
    return wire.search_response(kebab.search(**asked.arguments), explain=asked.explain)


def _why(kebab: Kebab, asked: WhyRequest) -> Why:
    return wire.why(kebab.why(**asked.arguments))


LIBRARY = (
    Operation("/search", "Find the chunks that answer a query", SearchResponse, _search, SearchRequest, ASK),
    Operation("/why", "Explain why a document was or was not in the results", Why, _why, WhyRequest, ASK),
    Operation(
        "/brief",
        "What to know before a task is started, within a token budget",
        briefs.Brief,
        lambda kebab, asked: briefs.brief(
            kebab.brief(asked.task, max_tokens=asked.max_tokens, filters=asked.filters, scope=asked.scope)
        ),
        BriefRequest,
        ASK,
    ),
    Operation(
        "/documents",
        "List the documents that the filters let through",
        wire.DocList,
        lambda kebab, asked: wire.doc_list(kebab.list_docs(asked.filters)),
        ListDocsRequest,
    ),
    Operation(
        "/facets",
        "Count the documents by tag, language, format, source and type",
        views.Facets,
        lambda kebab, asked: views.facets(kebab.list_docs(asked.filters)),
        ListDocsRequest,
    ),
    Operation(
        "/document",
        "Show what is stored of a document",
        wire.DocInspection,
        lambda kebab, asked: wire.doc_inspection(kebab.inspect_doc(asked.reference)),
        InspectDocRequest,
    ),
    Operation(
        "/view",
        "Render a document for reading",
        views.DocView,
        lambda kebab, asked: document_view(kebab, asked.reference),
        InspectDocRequest,
    ),
    Operation(
        "/links",
        "What a note links to, and what links to it",
        connections.Links,
        lambda kebab, asked: connections.links(kebab.links(**asked.arguments)),
        LinksRequest,
    ),
    Operation(
        "/related",
        "Notes that are near to a note",
        connections.Related,
        lambda kebab, asked: connections.related(kebab.related(**asked.arguments)),
        RelatedRequest,
    ),
    Operation(
        "/chunk",
        "Show what is stored of a chunk",
        wire.ChunkInspection,
        lambda kebab, asked: wire.chunk_inspection(kebab.inspect_chunk(asked.chunk_id)),
        InspectChunkRequest,
    ),
    Operation(
        "/fetch/chunk",
        "Fetch a chunk's text, with its neighbours where asked for",
        wire.FetchResult,
        lambda kebab, asked: wire.fetch_result(kebab.fetch_chunk(**asked.arguments)),
        FetchChunkRequest,
    ),
    Operation(
        "/fetch/doc",
        "Fetch a document's text",
        wire.FetchResult,
        lambda kebab, asked: wire.fetch_result(kebab.fetch_doc(**asked.arguments)),
        FetchDocRequest,
    ),
    Operation(
        "/fetch/span",
        "Fetch lines of a document",
        wire.FetchResult,
        lambda kebab, asked: wire.fetch_result(kebab.fetch_span(**asked.arguments)),
        FetchSpanRequest,
    ),
    Operation(
        "/fetch/citation",
        "Fetch what a citation names",
        wire.FetchResult,
        lambda kebab, asked: wire.fetch_result(kebab.fetch_citation(asked.uri)),
        FetchCitationRequest,
    ),
)
