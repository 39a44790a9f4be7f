"""Documents and chunks for tests, with real ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kebab.domain.chunks import Chunk, StoredChunk, content_key, embedding_input, under_document
from kebab.domain.documents import Document, LineSpan, Media, Metadata
from kebab.domain.ids import BlockId, DocId, asset_id, chunk_id, content_hash, doc_id
from kebab.domain.ingests import FileState
from kebab.domain.places import CodeUnit


@dataclass(frozen=True, slots=True)
class Sample:
    """A document, its chunks and its file, as ingest hands them to a store."""

    document: Document
    chunks: tuple[Chunk, ...]
    state: FileState

    @property
    def doc_id(self) -> DocId:
        return self.document.doc_id

    def stored(self, indexed_at: str = "2024-05-01T12:00:00Z") -> list[StoredChunk]:
        return [as_stored(self.document, chunk, indexed_at) for chunk in self.chunks]


def sample(
    path: str = "notes/a.md",
    *texts: str,
    source_id: str = "default",
    title: str = "Untitled",
    lang: str = "en",
    heading_path: tuple[str, ...] = (),
    metadata: Metadata = Metadata(),
    media: Media = Media.MARKDOWN,
    parser_version: str = "markdown-v1",
    symbol: str = "",
) -> Sample:
    """A document with one chunk for each text, a line apart."""
    whole = "\n\n".join(texts)
    asset = asset_id(content_hash(whole.encode()))
    doc = doc_id(source_id=source_id, path=path, asset=asset, parser_version=parser_version)
    document = Document(
        doc_id=doc,
        source_id=source_id,
        path=path,
        asset_id=asset,
        title=title,
        lang=lang,
        media=media,
        parser_version=parser_version,
        metadata=metadata,
        text=whole,
    )
    state = FileState(path, len(whole.encode()), 1_700_000_000_000_000_000, asset, doc, "fingerprint-1")
    chunks = _chunks(doc, texts, heading_path)
    if symbol:
        chunks = tuple(replace(chunk, place=CodeUnit(symbol)) for chunk in chunks)
    return Sample(document, chunks, state)


def _chunks(doc: DocId, texts: Sequence[str], heading_path: tuple[str, ...]) -> tuple[Chunk, ...]:
    return tuple(
        Chunk(
            chunk_id=chunk_id(
                doc, chunker_version="test-v1", policy_hash="p1", block_ids=(BlockId(f"b{at}"),), part=0
            ),
            doc_id=doc,
            ordinal=at,
            text=text,
            heading_path=heading_path,
            spans=(LineSpan(2 * at + 1, 2 * at + 1 + text.count("\n")),),
            block_ids=(BlockId(f"b{at}"),),
            part=0,
            token_estimate=len(text) // 4 + 1,
            chunker_version="test-v1",
            policy_hash="p1",
        )
        for at, text in enumerate(texts)
    )


def as_stored(document: Document, chunk: Chunk, indexed_at: str) -> StoredChunk:
    """A chunk as a store gives it back."""
    read = embedding_input(
        title=document.title,
        heading_path=chunk.heading_path,
        text=chunk.text,
        code=document.metadata.code_lang is not None,
    )
    return under_document(document, chunk, indexed_at=indexed_at, content_key=content_key(read))
