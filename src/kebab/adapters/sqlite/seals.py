"""The seal of a document: a hash over all that its rows say, so that rot in any of them is found."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from blake3 import blake3

from kebab.adapters.sqlite.packed_texts import unpacked
from kebab.adapters.sqlite.rows import Row, as_json
from kebab.domain.ids import DocId, text_asset
from kebab.errors import Corrupt

DOCUMENT = (
    "doc_id, source_id, path, asset_id, title, lang, media, source_type, trust_level, repo, code_lang, tags, "
    "metadata, warnings, parser_version, chunker_version, chunk_count, created_at, updated_at, indexed_at"
)
CHUNK = (
    "chunk_id, doc_id, ordinal, text, start, length, heading_path, spans, block_ids, part, token_estimate, "
    "chunker_version, policy_hash, content_key"
)
LINK = "doc_id, ordinal, line, kind, target, key"
_SEAL_BYTES = 16


def seal(
    document: Row, tags: Iterable[str], chunks: Sequence[Row], text: str, *, links: Sequence[Row] = ()
) -> bytes:
    """Of the columns DOCUMENT, the document's tags, the columns CHUNK of its chunks in order, its text.

    Also of the columns LINK of its links in order, where it has any: older seals know of none.
    """
    linked = (list(links),) if links else ()
    rows = as_json((document, sorted(tags), chunks, *linked))
    return blake3(blake3(text.encode()).digest() + rows.encode()).digest(length=_SEAL_BYTES)


def damaged(connection: sqlite3.Connection, doc_ids: Iterable[str]) -> Iterator[DocId]:
    """Those of the documents whose rows are not what their seal was made of."""
    for doc_id in doc_ids:
        try:
            sound = _holds(connection, doc_id)
        except (Corrupt, sqlite3.DatabaseError, UnicodeDecodeError):
            sound = False
        if not sound:
            yield DocId(doc_id)


def sealed_now(connection: sqlite3.Connection, doc_id: str, *, linked: bool = True) -> bytes | None:
    """The seal of what the rows say now; None where the document has lost its text.

    ``linked`` is false for a schema that keeps no links yet.
    """
    document = connection.execute(f"SELECT {DOCUMENT} FROM documents WHERE doc_id = ?", (doc_id,)).fetchone()
    tags = connection.execute("SELECT tag FROM document_tags WHERE doc_id = ?", (doc_id,)).fetchall()
    chunks = connection.execute(
        f"SELECT {CHUNK} FROM chunks WHERE doc_id = ? ORDER BY ordinal", (doc_id,)
    ).fetchall()
    query = f"SELECT {LINK} FROM links WHERE doc_id = ? ORDER BY ordinal"
    links = connection.execute(query, (doc_id,)).fetchall() if linked else []
    asset_id = document[3]
    text = connection.execute("SELECT text FROM assets WHERE asset_id = ?", (asset_id,)).fetchone()
    if text is None:
        return None
    return seal(document, [tag for (tag,) in tags], chunks, unpacked(text[0], asset_id), links=links)


def _holds(connection: sqlite3.Connection, doc_id: str) -> bool:
    found = connection.execute(
        "SELECT d.seal, f.path = d.path AND f.source_id = d.source_id, d.asset_id, d.parser_version, "
        "f.asset_id FROM documents d LEFT JOIN files f USING (doc_id) WHERE d.doc_id = ?",
        (doc_id,),
    ).fetchone()
    if found is None or not found[1]:
        return False
    text, parser_version, file = found[2:]
    if text not in (file, text_asset(file, parser_version=parser_version)):
        return False
    return bool(found[0] == sealed_now(connection, doc_id))
