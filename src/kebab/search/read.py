"""Reading what is stored: resolve a reference, then return text exactly as it was indexed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce

from kebab.domain.chunks import Chunk, StoredChunk
from kebab.domain.citations import CitationKind, cite, parse_citation
from kebab.domain.documents import LINED, DocumentSummary, LineSpan, Media
from kebab.domain.ids import DocId
from kebab.domain.inspections import ChunkInspection, DocumentInspection, FetchResult
from kebab.domain.places import Page, Place, fragment, joined, touches
from kebab.domain.tokens import estimate_tokens
from kebab.domain.values import dataclass
from kebab.errors import ChunkNotFound, DocNotFound, InvalidInput, SpanNotSupported
from kebab.ports import DocumentStore, EmbeddingStore, SourceFiles
from kebab.search.naming import called, nearest

SEE_ALL = "see them all: kebab list docs, or the tool list_documents"
_CHARS_A_TOKEN = 4
"""Where a line is cut that exceeds a budget alone."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Documents are named by id, by a beginning of it, by path, and by title or file name in any spelling.

    Chunks are named by id or a beginning of it.
    """

    store: DocumentStore
    embeddings: EmbeddingStore
    files: SourceFiles

    def document(self, reference: str, *, source: str | None = None) -> DocumentSummary:
        """The one document a reference names; DocNotFound for none, InvalidInput for several."""
        found = self._named(reference, source) or self._called(reference, source)
        if len(found) > 1:
            named = ", ".join(f"{doc.path} of {doc.source_id} ({doc.doc_id[:8]})" for doc in found[:5])
            raise InvalidInput(
                f"{reference!r} names {len(found)} documents: {named}",
                hint="give more of the path, or the id in brackets",
            )
        return found[0]

    def find_chunk(self, reference: str) -> StoredChunk | None:
        """The one chunk a reference names; None for none, InvalidInput for several."""
        found = self.store.find_chunks(reference.strip().lower())
        if len(found) > 1:
            raise InvalidInput(
                f"{reference!r} names {len(found)} chunks: {', '.join(found[:5])}", hint="give more of the id"
            )
        return next(iter(self.store.hydrate(found).values()), None)

    def chunk(self, reference: str) -> StoredChunk:
        stored = self.find_chunk(reference)
        if stored is None:
            raise ChunkNotFound(
                f"no chunk has the id {reference!r}",
                hint="ids come from kebab search --json and kebab inspect doc",
            )
        return stored

    def inspect_document(self, reference: str) -> DocumentInspection:
        doc = self.document(reference)
        chunks = tuple(self.store.chunks_of(doc.doc_id))
        return DocumentInspection(doc, chunks, self.files.state(doc.source_id, doc.path))

    def inspect_chunk(self, chunk_id: str) -> ChunkInspection:
        stored = self.chunk(chunk_id)
        models = [m for m in self.embeddings.models() if self.embeddings.vectors(m, [stored.content_key])]
        state = self.files.state(stored.source_id, stored.path)
        citation = cite(stored.path, stored.chunk.spans, place=stored.chunk.place, state=state)
        return ChunkInspection(stored, citation, tuple(m.model_id for m in models))

    def fetch(
        self, reference: str, *, source: str | None = None, context: int = 0, max_tokens: int | None = None
    ) -> FetchResult:
        """The text that a reference names: a document, a citation, or a chunk, looked for in this order.

        ``context`` adds so many lines around cited lines, and so many chunks around a chunk. What exceeds
        the budget is cut at the end of a line. Raises DocNotFound where nothing is called so.
        """
        if self._named(reference, source):
            result = self._fetch_whole(reference, source, max_tokens)
        elif "#" in reference:
            result = self._fetch_cited(reference, source, context)
        elif chunk := self.find_chunk(reference):
            result = self.fetch_chunk(chunk.chunk.chunk_id, context=context)
        else:
            result = self._fetch_whole(reference, source, max_tokens)
        return _cut(result, max_tokens)

    def _fetch_cited(self, uri: str, source: str | None, context: int) -> FetchResult:
        doc, cited = self._cited(uri, source)
        if isinstance(cited, LineSpan):
            return self.fetch_span(doc.doc_id, max(1, cited.start - context), cited.end + context)
        return self._fetch_place(doc, cited)

    def _named(self, reference: str, source: str | None) -> list[DocumentSummary]:
        return [doc for doc in self.store.find_documents(reference) if source in (None, doc.source_id)]

    def _fetch_whole(self, reference: str, source: str | None, max_tokens: int | None) -> FetchResult:
        return self.fetch_document(self.document(reference, source=source).doc_id, max_tokens=max_tokens)

    def fetch_chunk(self, chunk_id: str, *, context: int = 0) -> FetchResult:
        """A chunk's text, with up to ``context`` neighbouring chunks' text before and after it."""
        stored = self.chunk(chunk_id)
        span = _whole(stored.chunk.spans)
        if context <= 0:
            return self._result(
                "chunk", stored.chunk.doc_id, stored.chunk.text, span, place=stored.chunk.place
            )
        siblings = self.store.chunks_of(stored.chunk.doc_id)
        at = stored.chunk.ordinal
        lines = self._lines(stored.chunk.doc_id)
        first = _whole(siblings[max(0, at - context)].chunk.spans).start
        last = _whole(siblings[min(len(siblings) - 1, at + context)].chunk.spans).end
        before, after = lines[first - 1 : span.start - 1], lines[span.end : last]
        return self._result(
            "chunk",
            stored.chunk.doc_id,
            stored.chunk.text,
            span,
            "\n".join(before),
            "\n".join(after),
            place=stored.chunk.place,
        )

    def fetch_document(self, reference: str, *, max_tokens: int | None = None) -> FetchResult:
        """The whole text, or as many of its first lines as the budget allows."""
        doc = self.document(reference)
        lines = self._lines(doc.doc_id)
        kept = _within(lines, max_tokens)
        span = LineSpan(1, max(1, len(kept)))
        place = None if doc.media in LINED else _first_place(self.store.chunks_of(doc.doc_id))
        cut = len(kept) < len(lines)
        return self._result("doc", doc.doc_id, "\n".join(kept), span, place=place, truncated=cut)

    def fetch_span(self, reference: str, start: int, end: int) -> FetchResult:
        """Lines ``start`` to ``end``, inclusive; an end beyond the last line means the last line.

        Raises SpanNotSupported where lines mean nothing in the file, such as a recording's subtitles.
        """
        doc = self.document(reference)
        if doc.media not in LINED:
            raise self._no_lines(doc)
        lines = self._lines(doc.doc_id)
        if not 1 <= start <= end or start > len(lines):
            raise InvalidInput(
                f"lines {start}-{end} do not lie in {doc.path}", hint=f"it has lines 1 to {len(lines)}"
            )
        end = min(end, len(lines))
        span = LineSpan(start, end)
        unit = self._unit(doc, span)
        return self._result("span", doc.doc_id, "\n".join(lines[start - 1 : end]), span, place=unit)

    def _unit(self, doc: DocumentSummary, span: LineSpan) -> Place | None:
        """The function or class that stands at exactly these lines of source code."""
        if doc.media != Media.CODE:
            return None
        chunks = (stored.chunk for stored in self.store.chunks_of(doc.doc_id))
        return next((chunk.place for chunk in chunks if chunk.spans == (span,)), None)

    def fetch_citation(self, uri: str) -> FetchResult:
        """The text that a citation names: ``notes/a.md#L12-L34``, ``talk.vtt#t=62.000,75.500``.

        A place that lies inside a chunk gives the whole chunk; the result's own citation says what was given.
        Raises InvalidInput for what is no citation, or names nothing that is stored.
        """
        doc, cited = self._cited(uri)
        if isinstance(cited, LineSpan):
            return self.fetch_span(doc.doc_id, cited.start, cited.end)
        return self._fetch_place(doc, cited)

    def _cited(self, uri: str, source: str | None = None) -> tuple[DocumentSummary, LineSpan | Place]:
        """The document that a citation names, and what of it.

        A path counts as written where its escapes lead nowhere: a file may be called ``a%20b.md``.
        """
        path, cited = _parsed(uri)
        written = uri.rpartition("#")[0]
        if not self._named(path, source) and self._named(written, source):
            path = written
        return self.document(path, source=source), cited

    def _fetch_place(self, doc: DocumentSummary, place: Place) -> FetchResult:
        chunks = [stored.chunk for stored in self.store.chunks_of(doc.doc_id)]
        found = [chunk for chunk in chunks if chunk.place is not None and touches(place, chunk.place)]
        # Times and regions of neighbours may overlap: what is cited exactly is given exactly.
        if not isinstance(place, Page):
            found = [chunk for chunk in found if chunk.place == place] or found
        if not found:
            known = [fragment(chunk.place) for chunk in chunks if chunk.place is not None]
            ends = f"it has {known[0]} to {known[-1]}" if known else "it has lines only"
            raise InvalidInput(f"{fragment(place)} does not lie in {doc.path}", hint=ends)
        spans = _merged(span for chunk in found for span in chunk.spans)
        lines = self._lines(doc.doc_id)
        text = "\n".join("\n".join(lines[span.start - 1 : span.end]) for span in spans)
        return self._result("span", doc.doc_id, text, _whole(tuple(spans)), place=_place_of(found, place))

    def _called(self, name: str, source: str | None) -> list[DocumentSummary]:
        """The documents of this title or file name, at least one. Raises DocNotFound with near names."""
        documents = [doc for doc in self.store.list_documents() if source in (None, doc.source_id)]
        if found := called(documents, name):
            return found
        near = ", ".join(nearest(documents, name))
        raise DocNotFound(
            f"no document is called {name!r}", hint=f"did you mean: {near}" if near else SEE_ALL
        )

    def _no_lines(self, doc: DocumentSummary) -> SpanNotSupported:
        place = _first_place(self.store.chunks_of(doc.doc_id))
        hint = f"cite it so: {doc.path}#{fragment(place)}" if place else "fetch the whole document"
        return SpanNotSupported(f"{doc.path} has no lines to cite", hint=hint)

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
        place: Place | None = None,
        truncated: bool = False,
    ) -> FetchResult:
        doc = self.store.document(doc_id)
        if doc is None:
            raise DocNotFound(f"document {doc_id} is gone")
        state = self.files.state(doc.source_id, doc.path)
        return FetchResult(
            kind=kind,
            doc_id=doc_id,
            doc_path=doc.path,
            text=text,
            line_start=span.start,
            line_end=span.end,
            citation=cite(doc.path, (span,), place=place, state=state),
            indexed_at=doc.indexed_at,
            truncated=truncated,
            context_before=before,
            context_after=after,
        )


def _parsed(uri: str) -> tuple[str, LineSpan | Place]:
    try:
        return parse_citation(uri)
    except ValueError as error:
        raise InvalidInput(
            f"{uri!r} is no citation", hint="such as notes/a.md#L12-L34, report.pdf#p=3, talk.vtt#t=10,20"
        ) from error


def _cut(result: FetchResult, max_tokens: int | None) -> FetchResult:
    """The result with as many of its first lines as the budget allows; what is around it goes first.

    Of a single line that exceeds the budget the beginning stays.
    """
    parts = filter(None, (result.context_before, result.text, result.context_after))
    if max_tokens is None or estimate_tokens("\n".join(parts)) <= max_tokens:
        return result
    lines = result.text.split("\n")
    kept = _within(lines, max_tokens)
    end = result.line_end - (len(lines) - len(kept))
    text = "\n".join(kept)
    if len(kept) == 1:
        text = text[: _CHARS_A_TOKEN * max_tokens]
    cited = result.citation
    if cited.kind is CitationKind.LINE:
        cited = replace(cited, end=end)
    return replace(
        result,
        text=text,
        line_end=end,
        citation=cited,
        truncated=True,
        context_before=None,
        context_after=None,
    )


def _first_place(chunks: Sequence[StoredChunk]) -> Place | None:
    return chunks[0].chunk.place if chunks else None


def _place_of(chunks: Sequence[Chunk], asked: Place) -> Place:
    """What these chunks cover together, or what was asked for where no citation can name that."""
    try:
        return reduce(joined, (chunk.place for chunk in chunks)) or asked
    except ValueError:
        return asked


def _merged(spans: Iterable[LineSpan]) -> list[LineSpan]:
    """The lines in order, each once: neighbouring chunks may share some."""
    merged: list[LineSpan] = []
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        if merged and span.start <= merged[-1].end + 1:
            merged[-1] = LineSpan(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


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
