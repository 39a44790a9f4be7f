"""The cache of vectors by content and model."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kebab.adapters.sqlite import counts, outbox, texts, vector_blobs
from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.rows import Row, as_json, strings
from kebab.domain.chunks import embedding_input
from kebab.errors import ModelMismatch
from kebab.ports import ModelKey

if TYPE_CHECKING:
    from kebab.ports import Vectors

_LACKS_VECTOR = (
    "NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model = :model AND e.content_key = c.content_key)"
)
_MISSING = (
    "SELECT c.content_key, d.title, c.heading_path, c.text, c.start, c.length, d.asset_id, d.code_lang, c.id "
    "FROM chunks c JOIN documents d USING (doc_id) "
    f"WHERE c.id > :after AND {_LACKS_VECTOR} ORDER BY c.id LIMIT :limit"
)

_SPARE = 1_000
"""So many vectors of texts that are gone are kept, or a tenth of those in use: a text may come back."""


class SqliteEmbeddingStore:
    """EmbeddingStore on the same file as the documents."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # Chunks at or below this id had their vector when last looked at, by model: embedding a million
        # chunks asks for the next missing ones thousands of times.
        self._complete_upto: dict[ModelKey, int] = {}

    def missing(self, model: ModelKey, *, limit: int) -> dict[str, str]:
        with self._database.snapshot() as connection:
            number = model_number(connection, model)
            after = self._complete_upto.get(model, 0)
            rows = _missing(connection, number, after=after, limit=limit)
            if not rows and after:
                # The mark is a hint: another process may have dropped vectors since.
                rows = _missing(connection, number, after=0, limit=limit)
            held = texts.texts_of(connection, (row[6] for row in rows))
        if rows:
            self._complete_upto[model] = int(rows[0][-1]) - 1
        return {
            key: embedding_input(
                title=title,
                heading_path=strings(headings),
                text=texts.text_at(*place, text=held.get(asset_id), name=key),
                code=code_lang is not None,
            )
            for key, title, headings, *place, asset_id, code_lang, _ in rows
        }

    def count_missing(self, model: ModelKey) -> int:
        with self._database.read() as connection:
            return counts.missing(connection, model_number(connection, model))

    def count_faults(self) -> list[str]:
        with self._database.read() as connection:
            return counts.faults(connection)

    def recount(self) -> None:
        with self._database.write() as connection:
            counts.recount(connection)

    def put_vectors(self, model: ModelKey, keys: Sequence[str], vectors: Vectors) -> None:
        """Raises ModelMismatch when the vectors do not have the model's dimensions."""
        if len(keys) and vectors.shape != (len(keys), model.dimensions):
            raise ModelMismatch(
                f"{len(keys)} vectors of {model.model_id} must have {model.dimensions} dimensions, "
                f"got an array of {vectors.shape}"
            )
        with self._database.write() as connection:
            number, form = registered(connection, model)
            blobs = vector_blobs.packed(vectors, form)
            connection.executemany(
                "INSERT INTO embeddings (model, content_key, vector) VALUES (?, ?, ?) "
                "ON CONFLICT (model, content_key) DO UPDATE SET vector = excluded.vector",
                [(number, key, blob) for key, blob in zip(keys, blobs, strict=True)],
            )
            docs = connection.execute(
                "SELECT DISTINCT doc_id FROM chunks WHERE content_key IN (SELECT value FROM json_each(?)) "
                "ORDER BY id",
                (as_json(list(keys)),),
            ).fetchall()
            outbox.append(connection, [row[0] for row in docs], outbox.vectors_topic(model))

    def vectors(self, model: ModelKey, keys: Sequence[str]) -> dict[str, Vectors]:
        with self._database.read() as connection:
            number = model_number(connection, model)
            rows = connection.execute(
                "SELECT content_key, vector FROM embeddings "
                "WHERE model = ? AND content_key IN (SELECT value FROM json_each(?))",
                (number, as_json(list(keys))),
            ).fetchall()
            form = _form(connection, number) if rows else ""
        sound = {key: blob for key, blob in rows if vector_blobs.is_sound(blob)}
        if len(sound) < len(rows) and not self._database.readonly:
            self.drop_damaged()  # they count as missing from now on, and are embedded again
        if not sound:
            return {}
        return dict(zip(sound, vector_blobs.unpacked_all([*sound.values()], form, model), strict=True))

    def drop_damaged(self, *, dry_run: bool = False, sample: int | None = None) -> int:
        with self._database.read() as connection:
            numbers = self._damaged(connection, sample)
        if numbers and not dry_run:
            self._complete_upto.clear()
            with self._database.write() as connection:
                connection.executemany("DELETE FROM embeddings WHERE id = ?", [(one,) for one in numbers])
        return len(numbers)

    def _damaged(self, connection: sqlite3.Connection, sample: int | None) -> list[int]:
        """Row ids of vectors whose checksum does not fit, among all or among some taken at random."""
        chosen = "" if sample is None else "WHERE id IN (SELECT id FROM embeddings ORDER BY random() LIMIT ?)"
        rows = connection.execute(
            f"SELECT id, vector FROM embeddings {chosen}", () if sample is None else (sample,)
        )
        return [number for number, blob in rows if not vector_blobs.is_sound(blob)]

    def models(self) -> dict[ModelKey, int]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT m.model_id, m.version, m.dimensions, count(*) FROM embedding_models m "
                "JOIN embeddings e ON e.model = m.id GROUP BY m.id ORDER BY m.id"
            ).fetchall()
        return {ModelKey(model_id, version, dims): count for model_id, version, dims, count in rows}

    def forget_unused(self, keep: Sequence[ModelKey]) -> int:
        self._complete_upto.clear()
        with self._database.write() as connection:
            numbers = [model_number(connection, model) for model in keep]
            gone = connection.execute(
                "DELETE FROM embeddings WHERE model NOT IN (SELECT value FROM json_each(?)) "
                "OR NOT EXISTS (SELECT 1 FROM chunks c WHERE c.content_key = embeddings.content_key)",
                (as_json(numbers),),
            ).rowcount
            connection.execute("DELETE FROM embedding_models WHERE id NOT IN (SELECT model FROM embeddings)")
            return gone

    def forget_surplus(self) -> int:
        with self._database.read() as connection:
            used = int(
                connection.execute("SELECT coalesce(sum(used), 0) FROM embedding_models").fetchone()[0]
            )
            allowed = used + max(_SPARE, used // 10)
            # The highest id is never less than their number, and needs no count.
            highest = connection.execute("SELECT coalesce(max(id), 0) FROM embeddings").fetchone()[0]
            many = highest > allowed and _held(connection) > allowed
        return self.forget_unused(list(self.models())) if many else 0


def _held(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM embeddings").fetchone()[0])


def _missing(connection: sqlite3.Connection, number: int, *, after: int, limit: int) -> list[Row]:
    """Rows of _MISSING, the first of each content, in order of the chunk's id."""
    found: dict[str, Row] = {}
    while len(found) < limit:
        values = {"model": number, "after": after, "limit": limit}
        rows = connection.execute(_MISSING, values).fetchall()
        for row in rows:
            found.setdefault(row[0], row)
        if len(rows) < limit:
            break
        after = rows[-1][-1]
    return list(found.values())[:limit]


def model_number(connection: sqlite3.Connection, model: ModelKey) -> int:
    """The model's row id; 0, which no row has, for an unknown one."""
    found = connection.execute(
        "SELECT id FROM embedding_models WHERE model_id = ? AND version = ? AND dimensions = ?",
        (model.model_id, model.version, model.dimensions),
    ).fetchone()
    return int(found[0]) if found else 0


def registered(connection: sqlite3.Connection, model: ModelKey) -> tuple[int, str]:
    """The model's row id and the form of its vectors, of a row made where there is none."""
    connection.execute(
        "INSERT OR IGNORE INTO embedding_models (model_id, version, dimensions, form) VALUES (?, ?, ?, ?)",
        (model.model_id, model.version, model.dimensions, vector_blobs.form_of(model)),
    )
    number = model_number(connection, model)
    return number, _form(connection, number)


def _form(connection: sqlite3.Connection, number: int) -> str:
    """The form of the vectors of the model with this row id."""
    (form,) = connection.execute("SELECT form FROM embedding_models WHERE id = ?", (number,)).fetchone()
    return str(form)
