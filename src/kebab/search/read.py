"""Reading what is stored: resolve a reference, then return text exactly as it was indexed."""

from __future__ import annotations

from dataclasses import dataclass

from kebab.domain.chunks import StoredChunk
from kebab.domain.citations import cite
from kebab.domain.documents import DocumentSummary, LineSpan
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.inspections import ChunkInspection, DocumentInspection, FetchResult
from kebab.domain.tokens import estimate_tokens
from kebab.errors import ChunkNotFound, DocNotFound, InvalidInput
from kebab.ports import DocumentStore, EmbeddingStore, SourceFiles


@dataclass(frozen=True, slots=True)
class Reader:
    """Documents are named by id, by a beginning of it, or by path; chunks by id."""

    store: DocumentStore
    embeddings: EmbeddingStore
    files: SourceFiles

    def document(self, reference: str) -> DocumentSummary:
        """The one document a reference names; DocNotFound for none, InvalidInput for several."""
        found = self.store.find_documents(reference)
        if not found:
            raise DocNotFound(f"no document is called {reference!r}", hint="see them all: kebab list docs")
        if len(found) > 1:
            paths = ", ".join(f"{doc.path} of {doc.source_id} ({doc.doc_id[:8]})" for doc in found[:5])
            raise InvalidInput(
                f"{reference!r} names {len(found)} documents: {paths}",
                hint="name one by its id, or by more of it",
            )
        return found[0]

    def find_chunk(self, chunk_id: str) -> StoredChunk | None:
        key = ChunkId(chunk_id.strip().lower())
        return self.store.hydrate([key]).get(key)

    def chunk(self, chunk_id: str) -> StoredChunk:
        stored = self.find_chunk(chunk_id)
        if stored is None:
            raise ChunkNotFound(f"no chunk has the id {chunk_id!r}", hint="ids come from kebab search --json")
        return stored

    def inspect_document(self, reference: str) -> DocumentInspection:
        doc = self.document(reference)
        chunks = tuple(self.store.chunks_of(doc.doc_id))
        return DocumentInspection(doc, chunks, self.files.changed(doc.source_id, doc.path))

    def inspect_chunk(self, chunk_id: str) -> ChunkInspection:
        stored = self.chunk(chunk_id)
        models = [m for m in self.embeddings.models() if self.embeddings.vectors(m, [stored.content_key])]
        changed = self.files.changed(stored.source_id, stored.path)
        citation = cite(stored.path, stored.chunk.spans, stale=changed)
        return ChunkInspection(stored, citation, tuple(m.model_id for m in models))

    def fetch_chunk(self, chunk_id: str, *, context: int = 0) -> FetchResult:
        """A chunk's text, with up to ``context`` neighbouring chunks' text before and after it."""
        stored = self.chunk(chunk_id)
        span = _whole(stored.chunk.spans)
        if context <= 0:
            return self._result("chunk", stored.chunk.doc_id, stored.chunk.text, span)
        siblings = self.store.chunks_of(stored.chunk.doc_id)
        at = stored.chunk.ordinal
        lines = self._lines(stored.chunk.doc_id)
        first = _whole(siblings[max(0, at - context)].chunk.spans).start
        last = _whole(siblings[min(len(siblings) - 1, at + context)].chunk.spans).end
        before, after = lines[first - 1 : span.start - 1], lines[span.end : last]
        return self._result(
            "chunk", stored.chunk.doc_id, stored.chunk.text, span, "\n".join(before), "\n".join(after)
        )

    def fetch_document(self, reference: str, *, max_tokens: int | None = None) -> FetchResult:
        """The whole text, or as many of its first lines as the budget allows."""
        doc = self.document(reference)
        lines = self._lines(doc.doc_id)
        kept = _within(lines, max_tokens)
        span = LineSpan(1, max(1, len(kept)))
        return self._result("doc", doc.doc_id, "\n".join(kept), span, truncated=len(kept) < len(lines))

    def fetch_span(self, reference: str, start: int, end: int) -> FetchResult:
        """Lines ``start`` to ``end``, inclusive; an end beyond the last line means the last line."""
        doc = self.document(reference)
        lines = self._lines(doc.doc_id)
        if not 1 <= start <= end or start > len(lines):
            raise InvalidInput(
                f"lines {start}-{end} do not lie in {doc.path}", hint=f"it has lines 1 to {len(lines)}"
            )
        end = min(end, len(lines))
        return self._result("span", doc.doc_id, "\n".join(lines[start - 1 : end]), LineSpan(start, end))

    def _lines(self, doc_id: DocId) -> list[str]:
        return (self.store.source_text(doc_id) or "").split("\n")

    def _result(
        self,
        kind: str,
        doc_id: DocId,
        text: str,
        span: LineSpan,
        before: str | None = None,
        after: str | None = None,
        *,
        truncated: bool = False,
    ) -> FetchResult:
        doc = self.store.document(doc_id)
        if doc is None:
            raise DocNotFound(f"document {doc_id} is gone")
        stale = self.files.changed(doc.source_id, doc.path)
        return FetchResult(
            kind=kind,
            doc_id=doc_id,
            doc_path=doc.path,
            text=text,
            line_start=span.start,
            line_end=span.end,
            citation=cite(doc.path, (span,), stale=stale),
            indexed_at=doc.indexed_at,
            stale=stale,
            truncated=truncated,
            context_before=before,
            context_after=after,
        )


def _whole(spans: tuple[LineSpan, ...]) -> LineSpan:
    return LineSpan(spans[0].start, spans[-1].end) if spans else LineSpan(1, 1)


def _within(lines: list[str], max_tokens: int | None) -> list[str]:
    if max_tokens is None:
        return lines
    spent = 0
    kept: list[str] = []
    for line in lines:
        spent += estimate_tokens(line + "\n")
        if spent > max_tokens and kept:
            break
        kept.append(line)
    return kept
