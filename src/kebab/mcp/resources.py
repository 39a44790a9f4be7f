"""Documents as resources: a list in pages, one template, and their text."""

from __future__ import annotations

import re
from dataclasses import dataclass

import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError

from kebab.app import Kebab
from kebab.domain.documents import DocumentSummary
from kebab.errors import KebabError, NotIndexed
from kebab.mcp.text import line
from kebab.mcp.uris import TEMPLATE, document_uri, reference_of
from kebab.wire.errors import error

PAGE = 100
MAX_TOKENS = 200_000
"""A resource is the whole document, up to this."""
_CURSOR = re.compile(r"[0-9]{1,9}")
_MARKDOWN = "text/markdown"


@dataclass(frozen=True, slots=True)
class Resources:
    kebab: Kebab

    def page(self, cursor: str | None) -> types.ListResourcesResult:
        """So many documents by source and path; a cursor says where the page begins."""
        if cursor is not None and not _CURSOR.fullmatch(cursor):
            raise MCPError(types.INVALID_PARAMS, f"not a cursor: {cursor[:80]!r}")
        begin = int(cursor or 0)
        documents = self._documents()
        more = str(begin + PAGE) if begin + PAGE < len(documents) else None
        return types.ListResourcesResult(
            resources=[_resource(doc) for doc in documents[begin : begin + PAGE]], next_cursor=more
        )

    def templates(self) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    name="document",
                    title="A document, or lines of it",
                    uri_template=TEMPLATE,
                    description="kebab://notes/homelab/backup.md or kebab://notes/homelab/backup.md#L3-L9",
                )
            ]
        )

    def read(self, uri: str) -> types.ReadResourceResult:
        """The text as indexed. An address that names nothing is an error with an ``error.v1``."""
        source, reference = reference_of(uri)
        if source is None:
            raise MCPError(types.INVALID_PARAMS, f"{uri[:200]!r} is no address of a document", {"uri": uri})
        try:
            found = self.kebab.fetch(reference, source=source, max_tokens=MAX_TOKENS)
        except KebabError as failure:
            told = msgspec.to_builtins(error(failure))
            raise MCPError(types.INVALID_PARAMS, failure.message, {"uri": uri, **told}) from failure
        kind = _MARKDOWN if found.doc_path.endswith(".md") else "text/plain"
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=found.text)]
        )

    def completed(self, argument: str, value: str, *, source: str | None = None) -> types.CompleteResult:
        """Sources or paths that begin like this."""
        documents = self._documents()
        known = (
            {doc.source_id for doc in documents}
            if argument == "source"
            else {doc.path for doc in documents if source in (None, doc.source_id)}
        )
        found = sorted(each for each in known if each.startswith(value))
        shown = types.Completion(values=found[:PAGE], total=len(found), has_more=len(found) > PAGE)
        return types.CompleteResult(completion=shown)

    def _documents(self) -> list[DocumentSummary]:
        try:
            return self.kebab.list_docs()
        except NotIndexed:
            return []


def _resource(doc: DocumentSummary) -> types.Resource:
    return types.Resource(
        uri=document_uri(doc.source_id, doc.path),
        name=line(doc.path),
        title=line(doc.title),
        mime_type=_MARKDOWN if doc.media == "markdown" else "text/plain",
        size=doc.byte_len,
    )
