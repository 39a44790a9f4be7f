"""Documents as records: all rows of one, packed, so that another store can hold the same document."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from kebab.adapters.sqlite import outbox, packed_texts, seals, vector_blobs
from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.counts import missing
from kebab.adapters.sqlite.embedding_store import model_number, registered
from kebab.adapters.sqlite.link_store import INSERT_LINK
from kebab.adapters.sqlite.rows import as_json
from kebab.domain.ids import DocId
from kebab.errors import Corrupt
from kebab.ports import ModelKey, Record

_DOCS_A_QUERY = 200
_SOURCE, _PATH, _ASSET = 1, 2, 3
"""Columns of ``seals.DOCUMENT``."""
_INSERT_DOCUMENT = f"INSERT INTO documents ({seals.DOCUMENT}, seal) VALUES ({', '.join('?' * 21)})"
_INSERT_CHUNK = f"INSERT INTO chunks ({seals.CHUNK}) VALUES ({', '.join('?' * 14)})"

Cell = str | int | None


class _Rows(msgspec.Struct, array_like=True, frozen=True):
    document: tuple[Cell, ...]
    seal: bytes
    tags: tuple[str, ...]
    chunks: tuple[tuple[Cell, ...], ...]
    links: tuple[tuple[Cell, ...], ...]
    file: tuple[Cell, ...]
    text: bytes


class _Vectors(msgspec.Struct, array_like=True, frozen=True):
    form: str
    blobs: tuple[tuple[str, bytes], ...]
    """Content keys with the vectors as they lie in their rows."""


_encode = msgspec.msgpack.Encoder().encode
_rows = msgspec.msgpack.Decoder(_Rows)
_vectors = msgspec.msgpack.Decoder(_Vectors)


class SqliteRecordStore:
    """RecordStore on the same file as the documents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def marks(self, model: ModelKey | None) -> dict[DocId, str]:
        with self._database.snapshot() as connection:
            seals_of = connection.execute(
                "SELECT doc_id, coalesce(hex(seal), indexed_at) FROM documents"
            ).fetchall()
            lacking = _lacking(connection, model) if model else {}
        name = _name(model)
        return {DocId(doc_id): _mark(seal, name, lacking.get(doc_id, 0)) for doc_id, seal in seals_of}

    def records(self, doc_ids: Sequence[DocId], model: ModelKey | None) -> Iterator[Record]:
        for start in range(0, len(doc_ids), _DOCS_A_QUERY):
            with self._database.snapshot() as connection:
                taken = [
                    record
                    for doc_id in doc_ids[start : start + _DOCS_A_QUERY]
                    if (record := _record(connection, doc_id, model)) is not None
                ]
            yield from taken

    def put(self, records: Sequence[Record], model: ModelKey | None) -> None:
        unpacked = [_checked(record) for record in records]
        with self._database.write() as connection:
            for record, rows in zip(records, unpacked, strict=True):
                _put(connection, rows)
                _put_vectors(connection, record, model)
            if model:
                done = [record.doc_id for record in records if record.vectors]
                outbox.append(connection, done, outbox.vectors_topic(model))

    def take_revision(self, revision: int) -> None:
        with self._database.write() as connection:
            connection.execute("UPDATE counters SET value = ? WHERE name = 'revision'", (revision,))


def _name(model: ModelKey | None) -> str:
    return f"{model.model_id}@{model.version}:{model.dimensions}" if model else "words"


def _mark(seal: str, model: str, lacking: int) -> str:
    return f"{seal.lower()} {model} {lacking}" if lacking else f"{seal.lower()} {model}"


def _lacking(connection: sqlite3.Connection, model: ModelKey) -> dict[str, int]:
    """How many chunks of a document have no vector of the model, for documents with such chunks."""
    number = model_number(connection, model)
    if not missing(connection, number):
        return {}
    rows = connection.execute(
        "SELECT c.doc_id, count(*) FROM chunks c WHERE NOT EXISTS (SELECT 1 FROM embeddings e "
        "WHERE e.model = ? AND e.content_key = c.content_key) GROUP BY c.doc_id",
        (number,),
    )
    return dict(rows.fetchall())


def _record(connection: sqlite3.Connection, doc_id: DocId, model: ModelKey | None) -> Record | None:
    document = connection.execute(
        f"SELECT {seals.DOCUMENT}, seal FROM documents WHERE doc_id = ?", (doc_id,)
    ).fetchone()
    if document is None:
        return None
    chunks = connection.execute(
        f"SELECT {seals.CHUNK} FROM chunks WHERE doc_id = ? ORDER BY ordinal", (doc_id,)
    ).fetchall()
    one = {"id": doc_id}
    tags = connection.execute("SELECT tag FROM document_tags WHERE doc_id = :id ORDER BY tag", one).fetchall()
    links = connection.execute(
        f"SELECT {seals.LINK} FROM links WHERE doc_id = :id ORDER BY ordinal", one
    ).fetchall()
    file = connection.execute("SELECT * FROM files WHERE doc_id = :id", one).fetchone()
    (text,) = connection.execute("SELECT text FROM assets WHERE asset_id = ?", (document[_ASSET],)).fetchone()
    packed = packed_texts.packed(text) if isinstance(text, str) else text
    rows = _Rows(
        document[:-1],
        document[-1] or b"",
        tuple(t for (t,) in tags),
        tuple(chunks),
        tuple(links),
        file,
        packed,
    )
    vectors, lacking = _packed_vectors(connection, [row[-1] for row in chunks], model)
    seal = rows.seal.hex() or str(document[-2])
    return Record(doc_id, document[_SOURCE], _mark(seal, _name(model), lacking), _encode(rows), vectors)


def _packed_vectors(
    connection: sqlite3.Connection, keys: Sequence[str], model: ModelKey | None
) -> tuple[bytes, int]:
    """The vectors of some chunks, packed, and how many of the chunks have none."""
    if model is None:
        return b"", 0
    rows = connection.execute(
        "SELECT e.content_key, e.vector, m.form FROM embeddings e JOIN embedding_models m ON m.id = e.model "
        "WHERE e.model = ? AND e.content_key IN (SELECT value FROM json_each(?)) ORDER BY e.content_key",
        (model_number(connection, model), as_json(sorted(set(keys)))),
    ).fetchall()
    known = {row[0] for row in rows}
    blobs = tuple((key, blob) for key, blob, _ in rows)
    lacking = sum(key not in known for key in keys)
    return (_encode(_Vectors(rows[0][2], blobs)) if rows else b""), lacking


def _checked(record: Record) -> _Rows:
    """The rows of a record; raises Corrupt where they are not those of a document that a store sealed."""
    try:
        rows = _rows.decode(record.rows)
        text = packed_texts.unpacked(rows.text, str(rows.document[_ASSET]))
        whole = seals.seal(rows.document, rows.tags, rows.chunks, text, links=rows.links)
        path = PurePosixPath(str(rows.document[_PATH]))
        sound = (
            whole == rows.seal
            and rows.document[0] == record.doc_id
            and rows.document[_SOURCE] == record.source_id
            and rows.file[:3] == (record.source_id, rows.document[_PATH], record.doc_id)
            and not (path.is_absolute() or ".." in path.parts)
        )
    except (msgspec.MsgspecError, IndexError, TypeError, ValueError, OverflowError) as error:
        raise _damaged(record) from error
    if not sound:
        raise _damaged(record)
    return rows


def _damaged(record: Record) -> Corrupt:
    return Corrupt(
        f"the published document {record.doc_id[:8]} is damaged",
        hint="its publisher should run `kebab publish` again with --all",
    )


def _put(connection: sqlite3.Connection, rows: _Rows) -> None:
    doc_id, source_id, path, asset_id = rows.document[:4]
    replaced = connection.execute(
        "SELECT doc_id, asset_id FROM documents WHERE (source_id = ? AND path = ?) OR doc_id = ?",
        (source_id, path, doc_id),
    ).fetchall()
    connection.executemany("DELETE FROM documents WHERE doc_id = ?", [(doc,) for doc, _ in replaced])
    try:
        connection.execute(
            "INSERT INTO assets VALUES (?, ?) ON CONFLICT DO UPDATE SET text = excluded.text",
            (asset_id, rows.text),
        )
        connection.execute(_INSERT_DOCUMENT, (*rows.document, rows.seal))
        connection.executemany(
            "INSERT INTO document_tags VALUES (?, ?)", [(doc_id, tag) for tag in rows.tags]
        )
        connection.executemany(_INSERT_CHUNK, rows.chunks)
        connection.executemany(INSERT_LINK, rows.links)
        connection.execute("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", rows.file)
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError) as error:
        raise Corrupt(f"the published document {doc_id!s:.8} does not fit: {error}") from error
    gone = [asset for _, asset in replaced if asset != asset_id]
    connection.executemany(
        "DELETE FROM assets WHERE asset_id = ?1 "
        "AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.asset_id = ?1)",
        [(asset,) for asset in gone],
    )
    outbox.append(connection, [doc for doc, _ in replaced if doc != doc_id], outbox.REMOVED)
    outbox.append(connection, [str(doc_id)], outbox.CHANGED)
    connection.execute("UPDATE counters SET value = value + 1 WHERE name = 'revision'")


def _put_vectors(connection: sqlite3.Connection, record: Record, model: ModelKey | None) -> None:
    if model is None or not record.vectors:
        return
    try:
        packed = _vectors.decode(record.vectors)
    except msgspec.MsgspecError as error:
        raise _damaged(record) from error
    number, form = registered(connection, model)
    rows: list[tuple[Any, ...]] = [
        (number, key, blob if form == packed.form else _reformed(blob, packed.form, form, model))
        for key, blob in packed.blobs
    ]
    connection.executemany(
        "INSERT INTO embeddings (model, content_key, vector) VALUES (?, ?, ?) "
        "ON CONFLICT (model, content_key) DO UPDATE SET vector = excluded.vector",
        rows,
    )


def _reformed(blob: bytes, was: str, form: str, model: ModelKey) -> bytes:
    vector = vector_blobs.unpacked(blob, was, model)
    return next(vector_blobs.packed(vector.reshape(1, -1), form))
