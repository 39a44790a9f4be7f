"""The texts of chunks: each is a place in the text of its document."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kebab.adapters.sqlite.packed_texts import Part, part, unpacked
from kebab.adapters.sqlite.rows import Row, as_json, key_of, stored_chunk
from kebab.domain.chunks import StoredChunk
from kebab.errors import Corrupt

Place = tuple[str, int | None, int | None]
"""The columns text, start and length of a chunk: the text itself, or where it stands in the document's."""


def texts_of(connection: sqlite3.Connection, asset_ids: Iterable[str]) -> dict[str, str]:
    """The texts by the id of their asset, in one query."""
    found = _contents(connection, asset_ids)
    return {asset_id: unpacked(content, asset_id) for asset_id, content in found}


def _contents(connection: sqlite3.Connection, asset_ids: Iterable[str]) -> Iterator[tuple[str, str | bytes]]:
    yield from connection.execute(
        "SELECT asset_id, text FROM assets WHERE asset_id IN (SELECT value FROM json_each(?))",
        (as_json(list(dict.fromkeys(asset_ids))),),
    )


def read_chunks(connection: sqlite3.Connection, rows: Sequence[Row]) -> list[StoredChunk]:
    """Chunks from rows of STORED_CHUNK, with their texts. Raises Corrupt."""
    held = texts_of(connection, (row[-1] for row in rows if row[-3] is not None))
    return [stored_chunk(row, text_at(*row[-4:-1], text=held.get(row[-1]), name=row[0])) for row in rows]


def read_some_chunks(connection: sqlite3.Connection, rows: Sequence[Row]) -> list[StoredChunk]:
    """The same where the chunks are few of their documents', which are read no further than needed."""
    wanted: dict[str, tuple[int, int]] = {}
    for row in rows:
        if row[-3] is not None and row[-2] is not None:
            first, end = wanted.get(row[-1], (row[-3], 0))
            wanted[row[-1]] = min(first, row[-3]), max(end, row[-3] + row[-2])
    contents = dict(_contents(connection, wanted))
    held = {asset: part(content, asset, *wanted[asset]) for asset, content in contents.items()}
    return [_compared(row, held, contents) for row in rows]


def _compared(row: Row, held: Mapping[str, Part], contents: Mapping[str, str | bytes]) -> StoredChunk:
    """The chunk, with a text that either a checksum or the chunk's own key answers for."""
    read = held.get(row[-1])
    if read is None or read.checked or row[-3] is None:
        text = read.text if read is not None else None
        return stored_chunk(row, text_at(*row[-4:-1], text=text, name=row[0]))
    start, length = (row[-3] or 0) - read.start, row[-2] or 0
    stored = stored_chunk(row, read.text[start : start + length])
    if key_of(stored) == stored.content_key:
        return stored
    text = unpacked(contents[row[-1]], row[-1])
    return stored_chunk(row, text_at(*row[-4:-1], text=text, name=row[0]))


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
