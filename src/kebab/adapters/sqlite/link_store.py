"""Links between documents, and what the documents are called. They are written with their document."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.rows import Row, as_json
from kebab.adapters.sqlite.seals import LINK
from kebab.domain.documents import Document
from kebab.domain.ids import DocId
from kebab.domain.links import Link, LinkKind, NoteNames, PlacedLink

INSERT_LINK = f"INSERT INTO links ({LINK}) VALUES (?, ?, ?, ?, ?, ?)"


def link_rows(document: Document) -> list[Row]:
    """For the columns of `links`."""
    return [
        (document.doc_id, at, link.line, str(link.kind), link.target, link.key(document.path))
        for at, link in enumerate(document.links)
    ]


class _Own(msgspec.Struct):
    aliases: tuple[str, ...] = ()


class SqliteLinkStore:
    """LinkStore on one SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._own = msgspec.json.Decoder(_Own)

    def names(self) -> list[NoteNames]:
        query = "SELECT doc_id, source_id, path, title, metadata FROM documents ORDER BY source_id, path"
        with self._database.read() as connection:
            return [
                NoteNames(DocId(doc_id), source_id, path, title, self._own.decode(metadata).aliases)
                for doc_id, source_id, path, title, metadata in connection.execute(query)
            ]

    def links_from(self, doc_ids: Sequence[DocId]) -> list[PlacedLink]:
        return self._found(
            "doc_id IN (SELECT value FROM json_each(?)) ORDER BY doc_id, ordinal", list(doc_ids)
        )

    def links_called(self, keys: Sequence[str]) -> list[PlacedLink]:
        return self._found(
            "key IN (SELECT value FROM json_each(?)) ORDER BY doc_id, ordinal", sorted(set(keys))
        )

    def unread(self) -> int:
        query = (
            "SELECT count(*) FROM files JOIN documents USING (doc_id) WHERE fingerprint = '' AND media = ?"
        )
        with self._database.read() as connection:
            return int(connection.execute(query, ("markdown",)).fetchone()[0])

    def _found(self, condition: str, values: list[str]) -> list[PlacedLink]:
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT doc_id, kind, target, line FROM links WHERE {condition}", (as_json(values),)
            ).fetchall()
        return [PlacedLink(DocId(row[0]), Link(LinkKind(row[1]), row[2], row[3])) for row in rows]
