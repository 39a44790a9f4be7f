"""Search filters as SQL over documents. Path globs are matched in Python, on what SQL let through."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from threading import Lock

from kebab.adapters.sqlite.rows import as_json, located_symbol, strings
from kebab.domain.code import code_lang, names_symbol
from kebab.domain.documents import TrustLevel
from kebab.domain.globs import in_folder, is_file
from kebab.domain.ids import ChunkId, DocId, nfc
from kebab.domain.language import UNDETERMINED
from kebab.domain.names import dated, folded, is_tagged, tag_key
from kebab.domain.queries import SearchFilters

_REMEMBERED = 64
_ONE_OF = "IN (SELECT value FROM json_each(?))"


def where(filters: SearchFilters) -> tuple[str, list[str]]:
    """A condition over `documents AS d`, and its parameters; everything but the path globs."""
    single = {
        "lang": _languages(filters.lang),
        "media": filters.media,
        "source_id": filters.source,
        "source_type": filters.source_type,
        "trust_level": _trusted(filters.trust_min),
        "code_lang": tuple(map(code_lang, filters.code_lang)),
    }
    clauses = [f"d.{column} {_ONE_OF}" for column, allowed in single.items() if allowed]
    values = [as_json(_storable(allowed)) for allowed in single.values() if allowed]
    if filters.doc_id:
        beginnings = "SELECT doc_id FROM documents x JOIN json_each(?) AS j ON " + starts_with(
            "x.doc_id", "j.value"
        )
        clauses.append(f"d.doc_id IN ({beginnings})")
        values.append(as_json([value for value in _storable(filters.doc_id) if value]))
    if filters.tag:
        # A tag stands for those below it; the engine folds the case of ASCII alone, Python that of all.
        clauses.append("d.doc_id IN (SELECT doc_id FROM document_tags WHERE is_tag(tag, ?))")
        values.append(as_json(list(map(tag_key, _storable(filters.tag)))))
    if filters.repo:
        # A name without its owner names a repository too.
        clauses.append(
            "EXISTS (SELECT 1 FROM json_each(?) j WHERE d.repo = j.value COLLATE NOCASE "
            "OR substr(d.repo, -length(j.value) - 1) = '/' || j.value COLLATE NOCASE)"
        )
        values.append(as_json(_storable(filters.repo)))
    if filters.ingested_after is not None:
        clauses.append("d.indexed_at > ?")
        values.append(filters.ingested_after)
    return " AND ".join(clauses) or "1", values


def with_tags(connection: sqlite3.Connection) -> None:
    """Teach the connection ``is_tag(tag, wanted)``, which ``where`` asks for."""
    connection.create_function("is_tag", 2, _is_tag, deterministic=True)


def _is_tag(tag: str, wanted: str) -> bool:
    return is_tagged(tag, strings(wanted))


def starts_with(column: str, value: str) -> str:
    """A condition that an id starts with a value. Ids are hexadecimal: all of them sort before a ``g``.

    A range, unlike LIKE or substr, is looked up in the column's index.
    """
    return f"{column} >= {value} AND {column} < {value} || 'g'"


def _languages(wanted: Sequence[str]) -> tuple[str, ...]:
    """Languages in small letters; English stands for what no language could be told of, too."""
    small = [lang.lower() for lang in wanted]
    return (*small, UNDETERMINED) if "en" in small else tuple(small)


def is_narrow(filters: SearchFilters) -> bool:
    """Whether something is asked that SQL cannot tell."""
    return bool(filters.path or filters.title or filters.file or filters.dated_from or filters.dated_before)


def lets_through(
    filters: SearchFilters, *, path: str, title: str, created: str | None, updated: str | None
) -> bool:
    """Whether path, title and date of a document are as the filters want them."""
    if filters.path and not any(in_folder(path, glob) for glob in filters.path):
        return False
    if filters.title and not any(folded(text) in folded(title) for text in filters.title):
        return False
    if filters.file and not any(is_file(path, name) for name in filters.file):
        return False
    if not (filters.dated_from or filters.dated_before):
        return True
    day = dated(path, created=created, updated=updated)
    return bool(day) and (filters.dated_from or "") <= day < (filters.dated_before or "9999")


def _trusted(least: TrustLevel | None) -> tuple[str, ...]:
    return () if least is None else tuple(str(level) for level in TrustLevel if level.order >= least.order)


def _storable(values: Sequence[str]) -> list[str]:
    """The values as stored ones are written: composed, whatever a Mac's shell handed over."""
    # A terminal hands over undecodable bytes as lone surrogates: no stored value can equal such a text.
    return [nfc(value) for value in values if not any("\ud800" <= char <= "\udfff" for char in value)]


class Matches:
    """The documents that filters let through, remembered until the documents change.

    The same set is handed out again, so that the indexes can remember what they made of it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._at: tuple[int, int] | None = None
        self._found: dict[SearchFilters, frozenset[DocId]] = {}

    def get(
        self,
        filters: SearchFilters,
        *,
        at: tuple[int, int],
        find: Callable[[SearchFilters], frozenset[DocId]],
    ) -> frozenset[DocId]:
        """``at`` names the state of the documents; ``find`` is asked where nothing is known of it."""
        with self._lock:
            known = self._found.pop(filters, None) if self._at == at else None
        docs = find(filters) if known is None else known
        with self._lock:
            if self._at != at:
                self._at, self._found = at, {}
            self._found[filters] = docs
            while len(self._found) > _REMEMBERED:
                self._found.pop(next(iter(self._found)))
        return docs


def matching(connection: sqlite3.Connection, filters: SearchFilters) -> frozenset[DocId]:
    """The documents that all filters let through."""
    condition, values = where(filters)
    with_tags(connection)
    columns = "d.doc_id, d.path, d.title, d.created_at, d.updated_at"
    rows = connection.execute(f"SELECT {columns} FROM documents d WHERE {condition}", values)
    if not is_narrow(filters) and not filters.symbol:
        return frozenset([row[0] for row in rows])
    found = frozenset(
        DocId(doc_id)
        for doc_id, path, title, created, updated in rows
        if lets_through(filters, path=path, title=title, created=created, updated=updated)
    )
    if not filters.symbol:
        return found
    return found & {doc_id for _, doc_id in defining(connection, filters.symbol)}


def defining(connection: sqlite3.Connection, symbols: Sequence[str]) -> Iterator[tuple[ChunkId, DocId]]:
    """The chunks that one of the patterns names, with their documents."""
    rows = connection.execute("SELECT chunk_id, doc_id, spans FROM chunks WHERE instr(spans, '\"symbol=')")
    for chunk_id, doc_id, spans in rows:
        symbol = located_symbol(spans)
        if symbol is not None and any(names_symbol(pattern, symbol) for pattern in symbols):
            yield ChunkId(chunk_id), DocId(doc_id)
