"""How texts lie in the file: a document's compressed, a chunk's as a place in its document's."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Sequence

from kebab.adapters.sqlite.rows import Row, as_json, stored_chunk
from kebab.domain.chunks import StoredChunk
from kebab.errors import Corrupt

# Level 3: a third less time than the default level for a fifteenth more disk.
_LEVEL = 3

Place = tuple[str, int | None, int | None]
"""The columns text, start and length of a chunk: the text itself, or where it stands in the document's."""


def packed(text: str) -> bytes:
    """The text as its row holds it. The stream ends with a checksum of the text."""
    return zlib.compress(text.encode(), _LEVEL)


def unpacked(content: str | bytes, asset_id: str) -> str:
    """The text of a row; raises Corrupt where it is not what was packed."""
    if isinstance(content, str):  # as the first schema stored it
        return content
    try:
        return zlib.decompress(content).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise Corrupt(
            f"the stored text {asset_id[:8]} is damaged: {error}",
            hint="run `kebab doctor --repair`: it reads the file again",
        ) from error


def texts_of(connection: sqlite3.Connection, asset_ids: Iterable[str]) -> dict[str, str]:
    """The texts by the id of their asset, in one query."""
    wanted = list(dict.fromkeys(asset_ids))
    rows = connection.execute(
        "SELECT asset_id, text FROM assets WHERE asset_id IN (SELECT value FROM json_each(?))",
        (as_json(wanted),),
    )
    return {asset_id: unpacked(content, asset_id) for asset_id, content in rows}


def read_chunks(connection: sqlite3.Connection, rows: Sequence[Row]) -> list[StoredChunk]:
    """Chunks from rows of STORED_CHUNK, with their texts. Raises Corrupt."""
    held = texts_of(connection, (row[-1] for row in rows if row[-3] is not None))
    return [stored_chunk(row, text_at(*row[-4:-1], text=held.get(row[-1]), name=row[0])) for row in rows]


def places(chunks: Sequence[str], text: str) -> list[Place]:
    """Where the text of each chunk stands in the document's text. What stands nowhere in it is kept."""
    found: list[Place] = []
    behind = 0
    for own in chunks:
        # Chunks follow each other, overlapping; where a text stands twice, either place gives it.
        at = text.find(own, behind)
        if at < 0:
            at = text.find(own)
        behind = max(at, 0)
        found.append((own, None, None) if at < 0 else ("", at, len(own)))
    return found


def text_at(own: str, start: int | None, length: int | None, *, text: str | None, name: str) -> str:
    """The chunk's text; raises Corrupt where the document's text is missing or too short for it."""
    if start is None or length is None:
        return own
    if text is None or start < 0 or length < 0 or start + length > len(text):
        raise Corrupt(
            f"the text of chunk {name[:8]} is damaged: its document does not hold it",
            hint="run `kebab doctor --repair`: it reads the file again",
        )
    return text[start : start + length]
