"""How chunks and summaries lie in rows. Column lists and constructors stand side by side, in one order."""

from __future__ import annotations

from typing import Any

import msgspec

from kebab.domain.chunks import (
    Chunk,
    StoredChunk,
    content_key,
    embedded_text,
    embedding_input,
    under_document,
)
from kebab.domain.documents import Document, DocumentSummary, LineSpan, TrustLevel, summary_in
from kebab.domain.ids import AssetId, BlockId, ChunkId, DocId
from kebab.domain.places import CodeUnit, Place, fragment, parse_place
from kebab.errors import Corrupt

Row = tuple[Any, ...]

STORED_CHUNK = (
    "c.chunk_id, c.doc_id, c.ordinal, c.heading_path, c.spans, c.block_ids, c.part, c.token_estimate, "
    "c.chunker_version, c.policy_hash, d.source_id, d.path, d.title, d.lang, d.tags, d.trust_level, d.repo, "
    "d.code_lang, d.indexed_at, c.content_key, d.metadata, c.text, c.start, c.length, d.asset_id"
)
SUMMARY = (
    "d.doc_id, d.source_id, d.path, d.title, d.lang, d.media, d.tags, d.source_type, d.trust_level, f.size, "
    "d.chunk_count, d.parser_version, d.chunker_version, d.created_at, d.updated_at, d.indexed_at"
)


class _Described(msgspec.Struct):
    """What front matter says of a document beyond its columns."""

    aliases: tuple[str, ...] = ()
    user: dict[str, Any] = {}


_encoder = msgspec.json.Encoder()
_strings = msgspec.json.Decoder(tuple[str, ...])

# What a search asks of a hundred chunks comes as one row: between two rows SQLite gives the interpreter to
# another thread, and waits milliseconds to have it back where that one is busy.
_string_pairs = msgspec.json.Decoder(dict[str, str])
_file_rows = msgspec.json.Decoder(list[tuple[str, str, int, int, AssetId, DocId, str]])
_owner_rows = msgspec.json.Decoder(list[tuple[ChunkId, DocId, str, str, str, str]])
_blocks = msgspec.json.Decoder(tuple[BlockId, ...])
_described = msgspec.json.Decoder(_Described)
_spans = msgspec.json.Decoder(tuple[tuple[int, int] | str, ...])


def as_json(value: object) -> str:
    return _encoder.encode(value).decode()


def strings(text: str) -> tuple[str, ...]:
    return _strings.decode(text)


def string_pairs(text: str) -> dict[str, str]:
    return _string_pairs.decode(text)


def file_rows(text: str) -> list[tuple[str, str, int, int, AssetId, DocId, str]]:
    """Source, path, size, time, asset, document and fingerprint of files."""
    return _file_rows.decode(text)


def owner_rows(text: str) -> list[tuple[ChunkId, DocId, str, str, str, str]]:
    """Chunk, document, path, both keys, and the sketch in hexadecimal."""
    return _owner_rows.decode(text)


def stored_chunk(row: Row, text: str) -> StoredChunk:
    """From the columns of STORED_CHUNK and the text that they name. Raises Corrupt."""
    try:
        return _stored_chunk(row, text)
    except (msgspec.MsgspecError, ValueError) as error:
        raise Corrupt(
            f"chunk {row[0]!s:.8} of {row[11]} is damaged: {error}", hint="run `kebab doctor --repair`"
        ) from error


def _stored_chunk(row: Row, text: str) -> StoredChunk:
    spans, place = _location(row[4])
    described = _described.decode(row[20])
    chunk = Chunk(
        chunk_id=ChunkId(row[0]),
        doc_id=DocId(row[1]),
        ordinal=row[2],
        text=text,
        heading_path=_strings.decode(row[3]),
        spans=spans,
        block_ids=_blocks.decode(row[5]),
        part=row[6],
        token_estimate=row[7],
        chunker_version=row[8],
        policy_hash=row[9],
        place=place,
    )
    return StoredChunk(
        chunk=chunk,
        source_id=row[10],
        path=row[11],
        title=row[12],
        lang=row[13],
        tags=_strings.decode(row[14]),
        trust_level=row[15],
        repo=row[16],
        code_lang=row[17],
        indexed_at=row[18],
        content_key=row[19],
        aliases=described.aliases,
        summary=summary_in(described.user),
    )


def _located(chunk: Chunk) -> list[object]:
    """Its lines, and its place as a last text where it has one; ``_location`` reads them back."""
    lines: list[object] = [(span.start, span.end) for span in chunk.spans]
    return lines if chunk.place is None else [*lines, fragment(chunk.place)]


def _location(text: str) -> tuple[tuple[LineSpan, ...], Place | None]:
    found = _spans.decode(text)
    spans = tuple(LineSpan(*part) for part in found if not isinstance(part, str))
    last = found[-1] if found else None
    return spans, parse_place(last) if isinstance(last, str) else None


def located_symbol(text: str) -> str | None:
    """The symbol of the unit at a location, as the column ``spans`` holds it."""
    place = _location(text)[1]
    return place.symbol if isinstance(place, CodeUnit) else None


def stored_as(document: Document, chunk: Chunk, *, indexed_at: str) -> StoredChunk:
    """The chunk of a document as `stored_chunk` will read it from its row."""
    key = content_key(embedded_text(document, chunk))
    return under_document(document, chunk, indexed_at=indexed_at, content_key=key)


def key_of(stored: StoredChunk) -> str:
    """The key of what an embedder reads of the chunk, from what was read of it."""
    chunk = stored.chunk
    read = embedding_input(
        title=stored.title,
        heading_path=chunk.heading_path,
        text=chunk.text,
        code=stored.code_lang is not None,
    )
    return content_key(read)


def chunk_row(stored: StoredChunk, place: tuple[str, int | None, int | None]) -> Row:
    """For the columns of `chunks`, without its id; ``place`` is where the text stands, see ``texts``."""
    chunk = stored.chunk
    return (
        chunk.chunk_id,
        chunk.doc_id,
        chunk.ordinal,
        *place,
        as_json(chunk.heading_path),
        as_json(_located(chunk)),
        as_json(chunk.block_ids),
        chunk.part,
        chunk.token_estimate,
        chunk.chunker_version,
        chunk.policy_hash,
        stored.content_key,
    )


def document_row(document: Document, *, chunker_version: str, chunk_count: int, indexed_at: str) -> Row:
    """For the columns of `documents`, in order."""
    metadata = document.metadata
    return (
        document.doc_id,
        document.source_id,
        document.path,
        document.asset_id,
        document.title,
        document.lang,
        str(document.media),
        metadata.source_type,
        str(metadata.trust_level),
        metadata.repo,
        metadata.code_lang,
        as_json(metadata.tags),
        as_json({"aliases": metadata.aliases, "user": dict(metadata.user)}),
        as_json(document.warnings),
        document.parser_version,
        chunker_version,
        chunk_count,
        metadata.created_at,
        metadata.updated_at,
        indexed_at,
    )


def summary(row: Row) -> DocumentSummary:
    """From the columns of SUMMARY."""
    return DocumentSummary(
        doc_id=DocId(row[0]),
        source_id=row[1],
        path=row[2],
        title=row[3],
        lang=row[4],
        media=row[5],
        tags=_strings.decode(row[6]),
        source_type=row[7],
        trust_level=TrustLevel(row[8]),
        byte_len=row[9],
        chunk_count=row[10],
        parser_version=row[11],
        chunker_version=row[12],
        created_at=row[13],
        updated_at=row[14],
        indexed_at=row[15],
    )
