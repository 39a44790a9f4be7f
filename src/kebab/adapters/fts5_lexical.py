"""The words index on SQLite FTS5: needs nothing beyond the standard library; slower than tantivy.

Its file is its own, so that it can be deleted like every index.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from kebab.adapters.file_sums import FileSums
from kebab.adapters.sqlite.connection import translated
from kebab.disk.private import ensure_file, make_folder
from kebab.domain.chunk_words import ChunkCutter, ChunkWords
from kebab.domain.chunks import StoredChunk
from kebab.domain.fusion import Ranked
from kebab.domain.ids import ChunkId, DocId
from kebab.errors import Corrupt, StorageError
from kebab.ports import NONE_CUT, Analyzer, FieldWeights, IndexShape, LexicalQuery

LAYOUT = "fts5-3"

# Terms arrive with nothing but letters, digits and `_`. Categories beyond those keep whatever another
# analyzer may use, and diacritics are its business.
_TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* N* M* Co P* S*'"
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS state (layout TEXT NOT NULL, checkpoint INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS chunks (id INTEGER PRIMARY KEY, chunk_id TEXT UNIQUE, doc_id TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS chunks_by_doc ON chunks (doc_id);
CREATE VIRTUAL TABLE IF NOT EXISTS bodies USING fts5 (
    body, exact, name, about, called, tokenize = "{_TOKENIZER}"
);
CREATE VIRTUAL TABLE IF NOT EXISTS vocabulary USING fts5vocab ('bodies', 'col');
"""
_SEARCH = """
SELECT c.chunk_id, -bm25(bodies, 1.0, {exact}, {name}, {about}, 0.0) AS score
FROM bodies JOIN chunks c ON c.id = bodies.rowid
WHERE bodies MATCH ? {allowed} ORDER BY score DESC, c.chunk_id LIMIT ?
"""

_NAMED = """
SELECT c.chunk_id FROM bodies JOIN chunks c ON c.id = bodies.rowid
WHERE bodies MATCH ? {allowed} ORDER BY c.chunk_id LIMIT 1000
"""
_WORDS = "SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ? AND col = 'exact'"


class Fts5LexicalIndex:
    """LexicalIndex in one SQLite file. Nothing is created before the first apply."""

    def __init__(self, path: Path, analyzer: Analyzer) -> None:
        self._path = path
        self._cut = ChunkCutter(analyzer.index_text)
        self._layout = f"{LAYOUT}:{analyzer.version}"
        self._sums = FileSums(path.with_name(f"{path.name}.sums.json"), path.parent)

    @property
    def version(self) -> str:
        return f"lexical:{self._layout}"

    def checkpoint(self) -> int:
        with self._reading() as connection:
            if connection is None:
                return 0
            return int(connection.execute("SELECT checkpoint FROM state").fetchone()[0])

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        checkpoint: int,
        cut: Mapping[ChunkId, ChunkWords] = NONE_CUT,
    ) -> None:
        with self._reading() as connection:
            usable = connection is not None
        if not usable:
            self.clear()
        with self._writing() as connection:
            gone = dict.fromkeys([*removed, *(stored.chunk.doc_id for stored in chunks)])
            for doc_id in gone:
                self._delete(connection, doc_id)
            for stored in chunks:
                self._insert(connection, stored, cut.get(stored.chunk.chunk_id) or self._cut(stored))
            connection.execute("DELETE FROM state")
            connection.execute("INSERT INTO state VALUES (?, ?)", (self._layout, checkpoint))
        with _repairable(self._path), closing(_connected(self._path, "rw")) as connection:
            # All of it in one file, which readers never change: so it can be summed.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._sums.write([self._path])

    def search(
        self, query: LexicalQuery, *, limit: int, docs: frozenset[DocId] | None = None
    ) -> list[Ranked]:
        asked = _match(query)
        with self._reading() as connection:
            if connection is None or asked is None or limit <= 0:
                return []
            rows = connection.execute(_search(query.fields, _allowed(connection, docs)), (asked, limit))
            return [Ranked(chunk_id, score) for chunk_id, score in rows]

    def named(self, key: str, *, docs: frozenset[DocId] | None = None) -> list[ChunkId]:
        with self._reading() as connection:
            if connection is None or not key:
                return []
            found = _NAMED.format(allowed=_allowed(connection, docs))
            rows = connection.execute(found, (f"called : {_quoted([key])}",))
            return [ChunkId(row[0]) for row in rows]

    def words_from(self, beginning: str) -> dict[str, int]:
        sendable = beginning.replace("\0", "\ufffd").encode(errors="replace").decode()
        with self._reading() as connection:
            if connection is None:
                return {}
            return dict(connection.execute(_WORDS, (sendable, f"{sendable}\U0010ffff")))

    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        with self._reading() as connection:
            if connection is None:
                return dict.fromkeys(terms, 0)
            return {term: _frequency(connection, term) for term in terms}

    def chunk_ids(self) -> set[ChunkId]:
        with self._reading() as connection:
            if connection is None:
                return set()
            return {ChunkId(row[0]) for row in connection.execute("SELECT chunk_id FROM chunks")}

    def count(self) -> int:
        with self._reading() as connection:
            return int(connection.execute("SELECT count(*) FROM chunks").fetchone()[0]) if connection else 0

    def faults(self) -> list[str]:
        return self._sums.faults() if self.checkpoint() else []

    def shape(self) -> IndexShape:
        """One piece: how the engine divides its tree is its own affair, and it merges as it writes."""
        from kebab.disk.sizes import bytes_of  # no search needs it

        return IndexShape(1, byte_len=bytes_of([self._path])) if self.checkpoint() else IndexShape()

    def clear(self) -> None:
        try:
            self._sums.forget()
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(f"cannot remove {self._path}: {error.strerror}") from error

    def _insert(self, connection: sqlite3.Connection, stored: StoredChunk, words: ChunkWords) -> None:
        chunk = stored.chunk
        row = connection.execute(
            "INSERT INTO chunks (chunk_id, doc_id) VALUES (?, ?)", (chunk.chunk_id, chunk.doc_id)
        ).lastrowid
        columns = ", ".join(("rowid", *words._fields))
        connection.execute(f"INSERT INTO bodies ({columns}) VALUES (?, ?, ?, ?, ?, ?)", (row, *words))

    def _delete(self, connection: sqlite3.Connection, doc_id: DocId) -> None:
        connection.execute(
            "DELETE FROM bodies WHERE rowid IN (SELECT id FROM chunks WHERE doc_id = ?)", (doc_id,)
        )
        connection.execute("DELETE FROM chunks WHERE doc_id = ?", (doc_id,))

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection of its own for each use; None when there is no index of this layout."""
        if not self._path.exists():
            yield None
            return
        with _repairable(self._path), closing(_connected(self._path, "rw")) as connection:
            yield connection if self._current(connection) else None

    def _current(self, connection: sqlite3.Connection) -> bool:
        tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'state'").fetchone()
        layout = connection.execute("SELECT layout FROM state").fetchone() if tables[0] else None
        return layout is not None and layout[0] == self._layout

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            make_folder(self._path.parent)
            ensure_file(self._path)
        except OSError as error:
            raise StorageError(f"cannot create {self._path}: {error.strerror}") from error
        with _repairable(self._path), closing(_connected(self._path, "rwc")) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_SCHEMA)
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")


@contextmanager
def _repairable(path: Path) -> Iterator[None]:
    try:
        with translated(path):
            yield
    except Corrupt as error:
        raise Corrupt(error.message, hint="run `kebab doctor --repair`") from error


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def _match(query: LexicalQuery) -> str | None:
    """An FTS5 expression; None when nothing can match.

    Quoted term by term: the engine reads a bare c-3po as a column filter and raises.
    """
    phrases = [f"body : {_quoted(phrase)}" for phrase in query.phrases if phrase]
    terms = query.terms or tuple(term for phrase in query.phrases for term in phrase)
    ranked = [f"{{body name about}} : {_quoted([term])}" for term in dict.fromkeys(terms)]
    if not ranked:
        return None
    ranked += [f"exact : {_quoted([word])}" for word in query.words]
    required = [f"exact : {_quoted([word])}" for word in query.required]
    wanted = " AND ".join([f"({' OR '.join(ranked)})", *phrases, *required])
    excluded = " OR ".join(f"body : {_quoted(row)}" for row in query.excluded if row)
    return f"({wanted}) NOT ({excluded})" if excluded else wanted


def _search(fields: FieldWeights, allowed: str) -> str:
    # The engine cannot leave a column out of a match by a weight of 0, but it then adds nothing.
    return _SEARCH.format(exact=fields.exact, name=fields.name, about=fields.about, allowed=allowed)


def _allowed(connection: sqlite3.Connection, docs: frozenset[DocId] | None) -> str:
    """The condition that a hit belongs to these documents."""
    if docs is None:
        return ""
    connection.execute("CREATE TEMP TABLE allowed (doc_id TEXT PRIMARY KEY) WITHOUT ROWID")
    connection.executemany("INSERT INTO allowed VALUES (?)", [(doc_id,) for doc_id in docs])
    return "AND c.doc_id IN (SELECT doc_id FROM allowed)"


def _quoted(terms: Sequence[str]) -> str:
    # A NUL ends the expression for SQLite, and a lone surrogate cannot be sent: no term contains either.
    joined = " ".join(terms).replace("\0", "\ufffd").encode(errors="replace").decode()
    return '"' + joined.replace('"', '""') + '"'


def _frequency(connection: sqlite3.Connection, term: str) -> int:
    sendable = term.encode(errors="replace").decode()
    row = connection.execute(
        "SELECT doc FROM vocabulary WHERE term = ? AND col = 'body'", (sendable,)
    ).fetchone()
    return int(row[0]) if row else 0
