"""Reading a store from elsewhere whole, row by row: what kebab would trip over later is found now.

``COLUMNS`` names every column of every table with the values it may hold. A table or column that is missing
here fails a test, so that a migration cannot add one that is never looked at.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from kebab.adapters.sqlite import counts, packed_texts, seals, texts, vector_blobs
from kebab.adapters.sqlite.migrations import own_tables, tables
from kebab.adapters.sqlite.rows import strings
from kebab.domain.chunks import content_key, embedding_input
from kebab.domain.documents import LINED, Media, TrustLevel
from kebab.domain.ingests import IngestItem, IngestPhase, IngestRun
from kebab.domain.links import LinkKind
from kebab.domain.places import parse_place
from kebab.domain.progress import Progress, counted, silent
from kebab.domain.sketches import SKETCH_BYTES
from kebab.ports import ModelKey

# Ids are counted up by one for each row: the last half of the range is far beyond any real store, and a store
# that begins there could not grow.
_MOST = 2**62
_TEXT_BYTES = 1 << 30
_DIMENSIONS = 1 << 16

_UNREADABLE = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError, zlib.error)

Id = Annotated[str, Meta(pattern=r"\A[0-9a-f]{32}\Z")]
Name = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0, lt=_MOST)]
Line = Annotated[int, Meta(ge=1, lt=2**31)]


class _Own(msgspec.Struct):
    """What a document says of itself besides its columns."""

    aliases: tuple[str, ...]
    user: dict[str, Any]


Check = Callable[[Any], object]


def _typed(kind: Any) -> Check:
    return lambda value: msgspec.convert(value, kind, strict=True)


def _json(kind: Any) -> Check:
    decoder = msgspec.json.Decoder(kind)
    return lambda value: decoder.decode(msgspec.convert(value, str, strict=True))


def _moment(value: object) -> object:
    """A time as kebab writes it: search compares it with the present."""
    moment = datetime.fromisoformat(msgspec.convert(value, str, strict=True))
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment


def _path(value: object) -> object:
    path = PurePosixPath(msgspec.convert(value, Name, strict=True))
    if path.is_absolute() or ".." in path.parts or "\0" in str(path):
        raise ValueError("a path that leaves its source")
    return path


def _text(value: object) -> object:
    """The text itself or, from earlier versions, zlib over it; never more than a file may hold."""
    if isinstance(value, bytes):
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(value, _TEXT_BYTES)
        if unpacking.unconsumed_tail or not unpacking.eof:
            raise ValueError("a packed text that has no end")
        return text.decode()
    return msgspec.convert(value, str, strict=True)


_located = _json(tuple[tuple[Line, Line] | str, ...])


def _lines(value: object) -> object:
    """Spans of lines, and as the last a place, where there is one."""
    found: list[Any] = list(_located(value))  # type: ignore[call-overload]
    if found and isinstance(found[-1], str):
        parse_place(found.pop())
    if not all(isinstance(span, tuple) and span[0] <= span[1] for span in found):
        raise ValueError("lines that end before they begin")
    return found


_id, _name, _str, _count = _typed(Id), _typed(Name), _typed(str), _typed(Count)
_maybe, _strings = _typed(str | None), _json(tuple[str, ...])
# Those who read answers and evaluation runs know what to do with one of another version.
_object = _json(dict[str, Any])
_place = _typed(Count | None)

COLUMNS: Mapping[str, Mapping[str, Check]] = {
    "counters": {"name": _name, "value": _count},
    "assets": {"asset_id": _id, "text": _text},
    "documents": {
        "doc_id": _id,
        "source_id": _name,
        "path": _path,
        "asset_id": _id,
        "title": _str,
        "lang": _name,
        "media": _typed(Media),
        "source_type": _str,
        "trust_level": _typed(TrustLevel),
        "repo": _maybe,
        "code_lang": _maybe,
        "tags": _strings,
        "metadata": _json(_Own),
        "warnings": _strings,
        "parser_version": _str,
        "chunker_version": _str,
        "chunk_count": _count,
        "created_at": _maybe,
        "updated_at": _maybe,
        "indexed_at": _moment,
        "seal": _typed(Annotated[bytes, Meta(min_length=16, max_length=16)]),
    },
    "document_tags": {"doc_id": _id, "tag": _str},
    "files": {
        "source_id": _name,
        "path": _path,
        "doc_id": _id,
        "asset_id": _id,
        "size": _count,
        "mtime_ns": _typed(int),
        "fingerprint": _str,
    },
    "chunks": {
        "id": _count,
        "chunk_id": _id,
        "doc_id": _id,
        "ordinal": _count,
        "text": _str,
        "start": _place,
        "length": _place,
        "heading_path": _strings,
        "spans": _lines,
        "block_ids": _json(tuple[Id, ...]),
        "part": _count,
        "token_estimate": _count,
        "chunker_version": _str,
        "policy_hash": _str,
        "content_key": _id,
    },
    "sketches": {
        "asset_id": _id,
        "numbers": _typed(Annotated[bytes, Meta(max_length=SKETCH_BYTES)]),
    },
    "links": {
        "doc_id": _id,
        "ordinal": _count,
        "line": _typed(Line),
        "kind": _typed(LinkKind),
        "target": _name,
        "key": _str,
    },
    "outbox": {"seq": _count, "doc_id": _id, "topic": _name},
    "embedding_models": {
        "id": _count,
        "model_id": _name,
        "version": _str,
        "dimensions": _typed(Annotated[int, Meta(ge=1, le=_DIMENSIONS)]),
        "form": _typed(Literal["int12", "float32"]),
        "used": _count,
    },
    "embeddings": {"id": _count, "model": _count, "content_key": _id, "vector": _typed(bytes)},
    "ingest_runs": {"seq": _count, "run_id": _name, "run_json": _json(IngestRun)},
    "ingest_items": {"seq": _count, "run_id": _name, "item_json": _json(IngestItem)},
    "answers": {"trace_id": _name, "created_at": _str, "question": _str, "answer_json": _object},
    "eval_runs": {"run_id": _name, "created_at": _str, "report_json": _object},
    "sqlite_sequence": {"name": _name, "seq": _count},
}

# What holds between rows; each finds a row only where it does not.
_RULES = {
    "a document's chunks are not those it counts": (
        "SELECT d.doc_id FROM documents d LEFT JOIN chunks c USING (doc_id) GROUP BY d.doc_id "
        "HAVING count(c.id) != d.chunk_count OR coalesce(max(c.ordinal) + 1, 0) != d.chunk_count "
        "OR count(DISTINCT c.ordinal) != d.chunk_count"
    ),
    "a document has no file": (
        "SELECT d.doc_id FROM documents d LEFT JOIN files f USING (doc_id, source_id, path) "
        "WHERE f.doc_id IS NULL OR (f.asset_id != d.asset_id "
        f"AND d.media IN ({', '.join(repr(str(media)) for media in sorted(LINED))}))"
    ),
    "a file is of no document": (
        "SELECT f.path FROM files f LEFT JOIN documents d USING (doc_id, source_id, path) "
        "WHERE d.doc_id IS NULL"
    ),
    "a document's tags are not those it is found by": (
        "SELECT doc_id FROM (SELECT d.doc_id, j.value AS tag FROM documents d, json_each(d.tags) j "
        "EXCEPT SELECT doc_id, tag FROM document_tags) UNION ALL "
        "SELECT doc_id FROM (SELECT doc_id, tag FROM document_tags "
        "EXCEPT SELECT d.doc_id, j.value FROM documents d, json_each(d.tags) j)"
    ),
    "the counters are not those that are needed": (
        "SELECT 1 WHERE (SELECT count(*) FROM counters "
        "WHERE name IN ('revision', 'outbox_pruned', 'contents')) != 3"
    ),
    "the outbox has lost its position": (
        "SELECT 1 WHERE (SELECT count(*) FROM sqlite_sequence WHERE name = 'outbox') != 1"
    ),
    "numbers have run ahead of their counter": (
        "SELECT name FROM sqlite_sequence WHERE (name = 'outbox' AND seq < (SELECT max(seq) FROM outbox)) "
        "OR (name = 'chunks' AND seq < (SELECT max(id) FROM chunks))"
    ),
}


def audit(connection: sqlite3.Connection, progress: Progress = silent) -> Iterator[str]:
    """What is wrong with a store of the newest schema, in words; about a second for 50,000 chunks."""
    if tables(connection) != own_tables():
        yield "its tables are not kebab's"
    for table, checks in COLUMNS.items():
        yield from _table_faults(connection, table, checks, progress)
    yield from _text_faults(connection, progress)
    yield from _seal_faults(connection, progress)
    yield from _vector_faults(connection, progress)
    for fault, query in _RULES.items():
        if row := connection.execute(query).fetchone():
            yield f"{fault} ({str(row[0])[:80]})"
    yield from counts.faults(connection)


def _rows(connection: sqlite3.Connection, query: str, *, of: str, progress: Progress) -> Iterator[Any]:
    """The rows of a query that gives as many as a table has."""
    (total,) = connection.execute(f"SELECT count(*) FROM {of}").fetchone()
    return counted(connection.execute(query), IngestPhase.CHECK, total=total, progress=progress, path=of)


def _table_faults(
    connection: sqlite3.Connection, table: str, checks: Mapping[str, Check], progress: Progress
) -> Iterator[str]:
    for row in _rows(connection, f"SELECT {', '.join(checks)} FROM {table}", of=table, progress=progress):
        for (column, check), value in zip(checks.items(), row, strict=True):
            try:
                check(value)
            except _UNREADABLE as error:
                yield f"{table}.{column} of {str(row[0])[:40]!r} cannot be read: {str(error)[:200]}"


def _text_faults(connection: sqlite3.Connection, progress: Progress) -> Iterator[str]:
    """A chunk is embedded under the hash of what a model reads of it: other words have another key."""
    query = (
        "SELECT d.doc_id, d.title, d.code_lang, a.asset_id, a.text "
        "FROM documents d JOIN assets a USING (asset_id)"
    )
    for doc_id, title, code_lang, asset_id, content in _rows(
        connection, query, of="documents", progress=progress
    ):
        text = packed_texts.unpacked(content, asset_id)
        for name, headings, own, start, length, key in connection.execute(
            "SELECT chunk_id, heading_path, text, start, length, content_key FROM chunks WHERE doc_id = ?",
            (doc_id,),
        ):
            chunk = texts.text_at(own, start, length, text=text, name=name)
            read = embedding_input(
                title=title, heading_path=strings(headings), text=chunk, code=code_lang is not None
            )
            if content_key(read) != key:
                yield f"the text of the chunk {name} is not the one that was stored"


def _seal_faults(connection: sqlite3.Connection, progress: Progress) -> Iterator[str]:
    documents = [row[0] for row in connection.execute("SELECT doc_id FROM documents")]
    heard = counted(documents, IngestPhase.CHECK, total=len(documents), progress=progress, path="documents")
    for doc_id in seals.damaged(connection, heard):
        yield f"the document {doc_id} is not what was sealed"


def _vector_faults(connection: sqlite3.Connection, progress: Progress) -> Iterator[str]:
    """Vectors have their model's dimensions, and length 1; that of a text without words has length 0."""
    import numpy as np

    query = (
        "SELECT m.model_id, m.version, m.dimensions, m.form, e.content_key, e.vector "
        "FROM embeddings e JOIN embedding_models m ON m.id = e.model"
    )
    for model_id, version, dimensions, form, key, blob in _rows(
        connection, query, of="embeddings", progress=progress
    ):
        vector = vector_blobs.unpacked(blob, form, ModelKey(model_id, version, dimensions))
        length = float(np.linalg.norm(vector.astype(np.float64)))
        # What is no number fails both comparisons.
        if length != 0 and not 0.99 < length < 1.01:
            yield f"the vector {key} of {model_id} has the length {length:.3g}"
