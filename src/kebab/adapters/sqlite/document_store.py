"""Documents and chunks: a document is stored in one transaction, alone or together with others."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from sys import intern

from kebab.adapters.sqlite import file_states, outbox, packed_texts, seals, texts
from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.document_filters import (
    Matches,
    defining,
    lets_through,
    matching,
    starts_with,
    where,
    with_tags,
)
from kebab.adapters.sqlite.link_store import INSERT_LINK, link_rows
from kebab.adapters.sqlite.read_lately import LANGUAGES, TEXTS, ReadLately
from kebab.adapters.sqlite.rows import (
    STORED_CHUNK,
    SUMMARY,
    as_json,
    chunk_row,
    document_row,
    owner_rows,
    stored_as,
    string_pairs,
    summary,
)
from kebab.domain.chunks import Chunk, StoredChunk
from kebab.domain.documents import Document, DocumentSummary
from kebab.domain.ids import AssetId, ChunkId, DocId, encodable, nfc
from kebab.domain.ingests import NO_TIME, FileState
from kebab.domain.queries import SearchFilters
from kebab.ports import ChunkOwner, ModelKey, PendingChange, StoreState

_DOCS_A_QUERY = 400

_SUMMARIES = f"SELECT {SUMMARY} FROM documents d JOIN files f USING (doc_id)"
_CHUNKS = f"SELECT {STORED_CHUNK} FROM chunks c JOIN documents d USING (doc_id)"
_INSERT_DOCUMENT = f"INSERT INTO documents ({seals.DOCUMENT}, seal) VALUES ({', '.join('?' * 21)})"
_INSERT_CHUNK = f"INSERT INTO chunks ({seals.CHUNK}) VALUES ({', '.join('?' * 14)})"


def utc_now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class SqliteDocumentStore:
    """DocumentStore on one SQLite file. ``clock`` gives the time that documents are stamped with."""

    def __init__(self, database: Database, *, clock: Callable[[], str] = utc_now) -> None:
        self._database = database
        self._clock = clock
        self._matches = Matches()
        self._read_lately: ReadLately[StoredChunk] = ReadLately(TEXTS)
        self._languages: ReadLately[str] = ReadLately(LANGUAGES)
        self._waiting = outbox.Waiting(database)

    def file_states(self, source_id: str, under: Collection[str] = ()) -> dict[str, FileState]:
        with self._database.read() as connection:
            return file_states.of_source(connection, source_id, under)

    def file_state(self, source_id: str, path: str) -> FileState | None:
        with self._database.read() as connection:
            return file_states.of_path(connection, source_id, path)

    def states_of(self, places: Collection[tuple[str, str]]) -> dict[tuple[str, str], FileState]:
        with self._database.read() as connection:
            return file_states.of_places(connection, places)

    @contextmanager
    def at_one_moment(self) -> Iterator[None]:
        with self._database.read():
            yield

    @contextmanager
    def together(self) -> Iterator[None]:
        # Ids are hashes: each document dirties a dozen random pages, and a commit writes every one of them.
        with self._database.write():
            yield

    def put(self, document: Document, chunks: Sequence[Chunk], state: FileState) -> list[StoredChunk]:
        indexed_at = self._clock()
        stored = [stored_as(document, chunk, indexed_at=indexed_at) for chunk in chunks]
        with self._database.write() as connection:
            replaced = _replaced(connection, document)
            connection.executemany("DELETE FROM documents WHERE doc_id = ?", [(doc,) for doc, _ in replaced])
            _insert(connection, document, stored, indexed_at=indexed_at)
            _insert_file(connection, document, state)
            _drop_unused(connection, [asset for _, asset in replaced if asset != document.asset_id])
            outbox.append(connection, [doc for doc, _ in replaced if doc != document.doc_id], outbox.REMOVED)
            outbox.append(connection, [document.doc_id], outbox.CHANGED)
            _bump(connection)
        return stored

    def touch(self, source_id: str, states: Sequence[FileState]) -> None:
        rows = [(s.size, s.mtime_ns, s.fingerprint, source_id, s.path) for s in states]
        with self._database.write() as connection:
            connection.executemany(
                "UPDATE files SET size = ?, mtime_ns = ?, fingerprint = ? WHERE source_id = ? AND path = ?",
                rows,
            )

    def remove(self, doc_ids: Sequence[DocId]) -> None:
        with self._database.write() as connection:
            found = connection.execute(
                "SELECT doc_id, asset_id FROM documents WHERE doc_id IN (SELECT value FROM json_each(?))",
                (as_json(list(doc_ids)),),
            ).fetchall()
            connection.executemany("DELETE FROM documents WHERE doc_id = ?", [(doc,) for doc, _ in found])
            _drop_unused(connection, [asset for _, asset in found])
            outbox.append(connection, [doc for doc, _ in found], outbox.REMOVED)
            if found:
                _bump(connection)

    def state(self) -> StoreState:
        with self._database.read() as connection:
            return StoreState(self._database.identity, outbox.latest(connection))

    def revision(self) -> int:
        with self._database.read() as connection:
            found = connection.execute("SELECT value FROM counters WHERE name = 'revision'").fetchone()
            return int(found[0])

    def list_documents(self, filters: SearchFilters | None = None) -> list[DocumentSummary]:
        filters = filters or SearchFilters()
        condition, values = where(filters)
        with self._database.read() as connection:
            with_tags(connection)
            rows = connection.execute(
                f"{_SUMMARIES} WHERE {condition} ORDER BY d.source_id, d.path", values
            ).fetchall()
            units = set(defining(connection, filters.symbol)) if filters.symbol else None
        naming = None if units is None else {doc_id for _, doc_id in units}
        kept = (row for row in rows if naming is None or row[0] in naming)
        return [
            summary(row)
            for row in kept
            if lets_through(filters, path=row[2], title=row[3], created=row[13], updated=row[14])
        ]

    def document(self, doc_id: DocId) -> DocumentSummary | None:
        with self._database.read() as connection:
            row = connection.execute(f"{_SUMMARIES} WHERE d.doc_id = ?", (doc_id,)).fetchone()
        return summary(row) if row else None

    def find_documents(self, reference: str) -> list[DocumentSummary]:
        """An exact id or path wins alone, so that every document can be named."""
        values = {"ref": encodable(nfc(reference))}
        with self._database.read() as connection:
            exact = f"{_SUMMARIES} WHERE d.doc_id = :ref OR d.path = :ref ORDER BY d.source_id, d.path"
            near = (
                f"{_SUMMARIES} WHERE substr(d.doc_id, 1, length(:ref)) = :ref "
                "OR substr(d.path, -length(:ref) - 1) = '/' || :ref ORDER BY d.source_id, d.path"
            )
            rows = connection.execute(exact, values).fetchall()
            if not rows and values["ref"]:
                rows = connection.execute(near, values).fetchall()
        return [summary(row) for row in rows]

    def source_text(self, doc_id: DocId) -> str | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT asset_id, a.text FROM documents d JOIN assets a USING (asset_id) WHERE d.doc_id = ?",
                (doc_id,),
            ).fetchone()
        return packed_texts.unpacked(row[1], row[0]) if row else None

    def chunks_of(self, doc_id: DocId) -> list[StoredChunk]:
        with self._database.snapshot() as connection:
            rows = connection.execute(
                f"{_CHUNKS} WHERE c.doc_id = ? ORDER BY c.ordinal", (doc_id,)
            ).fetchall()
            return texts.read_chunks(connection, rows)

    def find_chunks(self, beginning: str) -> list[ChunkId]:
        wanted = encodable(beginning)
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT chunk_id FROM chunks c WHERE {starts_with('c.chunk_id', ':ref')} "
                "ORDER BY chunk_id LIMIT 100",
                {"ref": wanted},
            )
            return [ChunkId(row[0]) for row in rows] if wanted else []

    def hydrate(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, StoredChunk]:
        with self._database.snapshot() as connection:
            at = outbox.moment(connection)
            found = self._read_lately.known(chunk_ids, at=at)
            lacking = [chunk_id for chunk_id in chunk_ids if chunk_id not in found]
            rows = connection.execute(
                f"{_CHUNKS} WHERE c.chunk_id IN (SELECT value FROM json_each(?))", (as_json(lacking),)
            ).fetchall()
            read = {stored.chunk.chunk_id: stored for stored in texts.read_some_chunks(connection, rows)}
        self._read_lately.keep(read, at=at)
        found |= read
        return {chunk_id: found[chunk_id] for chunk_id in chunk_ids if chunk_id in found}

    def owners(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, ChunkOwner]:
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT json_group_array(json_array(c.chunk_id, c.doc_id, d.path, c.content_key, "
                "d.asset_id || ' ' || c.ordinal, hex(coalesce(s.numbers, x'')))) "
                "FROM chunks c JOIN documents d USING (doc_id) LEFT JOIN sketches s USING (asset_id) "
                "WHERE c.chunk_id IN (SELECT value FROM json_each(?))",
                (as_json(list(chunk_ids)),),
            ).fetchone()
        return {row[0]: ChunkOwner(*row[1:5], bytes.fromhex(row[5])) for row in owner_rows(found[0])}

    def unsketched(self, *, limit: int) -> list[DocId]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT doc_id FROM documents WHERE asset_id NOT IN (SELECT asset_id FROM sketches) LIMIT ?",
                (limit,),
            )
            return [DocId(row[0]) for row in rows]

    def put_sketches(self, sketches: Mapping[DocId, bytes]) -> None:
        with self._database.write() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO sketches SELECT asset_id, ?2 FROM documents WHERE doc_id = ?1",
                list(sketches.items()),
            )

    def languages(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, str]:
        with self._database.snapshot() as connection:
            at = outbox.moment(connection)
            found = self._languages.known(chunk_ids, at=at)
            read = _languages(connection, [chunk_id for chunk_id in chunk_ids if chunk_id not in found])
        self._languages.keep(read, at=at)
        return found | read

    def matching(self, filters: SearchFilters) -> frozenset[DocId] | None:
        if not filters:
            return None
        with self._database.read() as connection:
            return self._matches.get(
                filters, at=outbox.moment(connection), find=partial(matching, connection)
            )

    def defining(self, symbols: Sequence[str]) -> frozenset[ChunkId] | None:
        if not symbols:
            return None
        with self._database.read() as connection:
            return frozenset(chunk_id for chunk_id, _ in defining(connection, symbols))

    def stored_chunks(self, doc_ids: Sequence[DocId] | None = None) -> Iterator[StoredChunk]:
        # Some hundred documents a query: a single open cursor would hold back the checkpoint of the WAL.
        wanted = list(self._all_ids() if doc_ids is None else dict.fromkeys(doc_ids))
        for start in range(0, len(wanted), _DOCS_A_QUERY):
            with self._database.snapshot() as connection:
                rows = connection.execute(
                    f"{_CHUNKS} WHERE c.doc_id IN (SELECT value FROM json_each(?)) "
                    "ORDER BY d.source_id, d.path, c.ordinal",
                    (as_json(wanted[start : start + _DOCS_A_QUERY]),),
                ).fetchall()
                chunks = texts.read_chunks(connection, rows)
            yield from chunks

    def forget_times(self, *, except_source: str) -> None:
        """Note that the files were indexed elsewhere: the next run compares their content, not their time."""
        with self._database.write() as connection:
            connection.execute("UPDATE files SET mtime_ns = ? WHERE source_id != ?", (NO_TIME, except_source))

    def doc_ids(self) -> list[DocId]:
        with self._database.read() as connection:
            return [
                DocId(row[0]) for row in connection.execute("SELECT doc_id FROM documents ORDER BY doc_id")
            ]

    def chunk_ids(self) -> set[ChunkId]:
        with self._database.read() as connection:
            return {ChunkId(row[0]) for row in connection.execute("SELECT chunk_id FROM chunks")}

    def counts(self) -> tuple[int, int]:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT count(*), coalesce(sum(chunk_count), 0) FROM documents"
            ).fetchone()
        return int(row[0]), int(row[1])

    def source_counts(self) -> dict[str, int]:
        query = "SELECT source_id, count(*) FROM documents GROUP BY source_id ORDER BY source_id"
        with self._database.read() as connection:
            return {source_id: int(count) for source_id, count in connection.execute(query)}

    def pending(
        self, after: int, *, model: ModelKey | None = None, limit: int = 1000
    ) -> PendingChange | None:
        with self._database.read() as connection:
            return outbox.pending(connection, after, model=model, limit=limit)

    def behind(self, after: int, *, model: ModelKey | None = None, at_most: int | None = None) -> int:
        with self._database.read() as connection:
            return self._waiting.behind(connection, after, model=model, at_most=at_most)

    def latest(self) -> int:
        with self._database.read() as connection:
            return outbox.latest(connection)

    def oldest(self) -> int:
        with self._database.read() as connection:
            return outbox.pruned(connection)

    def prune_outbox(self, upto: int) -> None:
        with self._database.write() as connection:
            outbox.prune(connection, upto)

    def damaged(self, doc_ids: Sequence[DocId] | None = None) -> list[DocId]:
        with self._database.snapshot() as connection:
            return list(seals.damaged(connection, self._all_ids() if doc_ids is None else doc_ids))

    def distrust(self, doc_ids: Sequence[DocId]) -> None:
        with self._database.write() as connection:
            connection.execute(
                "UPDATE files SET fingerprint = '' WHERE doc_id IN (SELECT value FROM json_each(?))",
                (as_json(list(doc_ids)),),
            )

    def _all_ids(self) -> list[DocId]:
        with self._database.read() as connection:
            rows = connection.execute("SELECT doc_id FROM documents ORDER BY source_id, path").fetchall()
        return [DocId(row[0]) for row in rows]


def _languages(connection: sqlite3.Connection, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, str]:
    found = connection.execute(
        "SELECT json_group_object(c.chunk_id, d.lang) FROM chunks c JOIN documents d USING (doc_id) "
        "WHERE c.chunk_id IN (SELECT value FROM json_each(?))",
        (as_json(list(chunk_ids)),),
    ).fetchone()
    return {ChunkId(chunk_id): intern(lang) for chunk_id, lang in string_pairs(found[0]).items()}


def _replaced(connection: sqlite3.Connection, document: Document) -> list[tuple[DocId, AssetId]]:
    """What stands at the document's path now, and the document itself if it is known already."""
    return connection.execute(
        "SELECT doc_id, asset_id FROM documents WHERE (source_id = ? AND path = ?) OR doc_id = ?",
        (document.source_id, document.path, document.doc_id),
    ).fetchall()


def _insert(
    connection: sqlite3.Connection, document: Document, chunks: Sequence[StoredChunk], *, indexed_at: str
) -> None:
    connection.execute(
        "INSERT INTO assets VALUES (?, ?) ON CONFLICT DO UPDATE SET text = excluded.text",
        (document.asset_id, packed_texts.packed(document.text)),
    )
    chunker = chunks[0].chunk.chunker_version if chunks else ""
    row = document_row(document, chunker_version=chunker, chunk_count=len(chunks), indexed_at=indexed_at)
    places = texts.places([stored.chunk.text for stored in chunks], document.text)
    rows = [chunk_row(stored, place) for stored, place in zip(chunks, places, strict=True)]
    tags = list(dict.fromkeys(document.metadata.tags))
    links = link_rows(document)
    connection.execute(_INSERT_DOCUMENT, (*row, seals.seal(row, tags, rows, document.text, links=links)))
    connection.executemany(
        "INSERT INTO document_tags VALUES (?, ?)", [(document.doc_id, tag) for tag in tags]
    )
    connection.executemany(_INSERT_CHUNK, rows)
    connection.executemany(INSERT_LINK, links)
    if document.sketch is not None:
        connection.execute(
            "INSERT OR REPLACE INTO sketches VALUES (?, ?)", (document.asset_id, document.sketch)
        )


def _insert_file(connection: sqlite3.Connection, document: Document, state: FileState) -> None:
    connection.execute(
        "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            document.source_id,
            document.path,
            document.doc_id,
            state.asset_id,
            state.size,
            state.mtime_ns,
            state.fingerprint,
        ),
    )


def _drop_unused(connection: sqlite3.Connection, assets: Sequence[AssetId]) -> None:
    connection.executemany(
        "DELETE FROM assets WHERE asset_id = ?1 "
        "AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.asset_id = ?1)",
        [(asset,) for asset in assets],
    )


def _bump(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE counters SET value = value + 1 WHERE name = 'revision'")
