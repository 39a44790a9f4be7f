"""The words index on tantivy: one document of the engine is one chunk, already cut into terms."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import nsmallest
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from kebab.adapters.checkpoint import CheckpointFile
from kebab.adapters.file_sums import FileSums
from kebab.adapters.tantivy_columns import chunk_ids, chunk_numbers, column, ids
from kebab.adapters.tantivy_files import lockable, remove_folder, searched_files, segments_of
from kebab.adapters.tantivy_query import clean, make_query, make_schema, register, term_query
from kebab.disk.private import make_folder
from kebab.domain.chunk_words import ChunkCutter, ChunkWords
from kebab.domain.chunks import StoredChunk
from kebab.domain.fusion import Ranked
from kebab.domain.ids import ChunkId, DocId
from kebab.errors import Corrupt, EngineError, EngineUnavailable, Locked, StorageError
from kebab.ports import NONE_CUT, Analyzer, IndexShape, LexicalQuery

LAYOUT = "tantivy-3"

_HEAP_BYTES = 32_000_000
# One indexing thread: cutting text into terms is slower than indexing them, and the threads of one commit
# leave a segment each.
_THREADS = 1
# A run of equal scores that reaches over the cut is fetched whole, up to this many hits, to order it by id.
_MAX_TIED = 4096
# A filter of few documents is part of the query, at some 3 µs a document. Of many, what is found is filtered
# instead, at some 0.5 µs a hit, while that is less: not where so few hits belong to the documents that more
# than this many a document would be fetched.
_MAX_LISTED = 100
_HITS_A_DOCUMENT = 5
# Notes of one name beyond these are found by their words alone.
_MOST_NAMED = 1000
_REPAIR = "run `kebab doctor --repair`"

_State = tuple[int, int, int]
"""Tells one commit from another: the file that names it, when it was written and how long it is."""
_Opened = tuple[Any, Any, Any]
"""Index, schema and the searcher of one commit. Making a searcher takes as long as looking a word up."""


class TantivyLexicalIndex:
    """LexicalIndex in a folder of its own. Nothing is created before the first apply.

    A reader sees what another process committed at its next search.
    """

    def __init__(self, folder: Path, analyzer: Analyzer) -> None:
        self._folder = folder
        self._analyzer = analyzer
        self._cut = ChunkCutter(analyzer.index_text)
        layout = f"{LAYOUT}:{analyzer.version}"
        self._checkpoint = CheckpointFile(folder / "checkpoint.json", layout, proof=folder / "meta.json")
        self._sums = FileSums(folder / "sums.json", folder)
        # As a text: every search looks at it several times, and a Path costs more than looking.
        self._meta = str(folder / "meta.json")
        self._lock = Lock()
        self._opened: _Opened | None = None
        self._seen: _State | None = None
        self._deleted = False
        self._named_lately: tuple[tuple[_State, str], list[ChunkId]] | None = None
        """What was asked last, and of which state: a search asks twice."""
        self._filters: WeakKeyDictionary[frozenset[DocId], _Filter] = WeakKeyDictionary()

    @property
    def version(self) -> str:
        return f"lexical:{LAYOUT}:{self._analyzer.version}"

    def checkpoint(self) -> int:
        return self._checkpoint.read() or 0

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        checkpoint: int,
        cut: Mapping[ChunkId, ChunkWords] = NONE_CUT,
    ) -> None:
        if self._checkpoint.read() is None:
            self.clear()
        with self._translated():
            self._write(removed, chunks, cut)
            self._sums.write(searched_files(self._folder))
        self._checkpoint.write(checkpoint)

    def adopt(self, checkpoint: int) -> None:
        """Take the files that were put into the folder for an index at this position."""
        with self._translated():
            self._sums.write(searched_files(self._folder))
        self._checkpoint.write(checkpoint)

    def search(
        self, query: LexicalQuery, *, limit: int, docs: frozenset[DocId] | None = None
    ) -> list[Ranked]:
        with self._translated():
            opened = self._reader()
            if opened is None or limit <= 0:
                return []
            schema, searcher = opened
            if docs is None:
                return _best(searcher, make_query(schema, query), limit)
            only = self._filter(docs)
            if len(docs) > _MAX_LISTED:
                found = _best_of(searcher, make_query(schema, query), limit, only, docs)
                if found is not None:
                    return found
            return (
                _best(searcher, make_query(schema, query, only.belongs(schema, docs)), limit) if docs else []
            )

    def _filter(self, docs: frozenset[DocId]) -> _Filter:
        """What the engine needs of a filter; remembered, since searches repeat theirs."""
        with self._lock:
            return self._filters.setdefault(docs, _Filter())

    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        with self._translated():
            opened = self._reader()
            if opened is None:
                return dict.fromkeys(terms, 0)
            schema, searcher = opened
            if self._deleted:
                # The engine's own figure goes on counting deleted chunks until their segment is merged.
                return {term: _count(searcher, term_query(schema, term)) for term in terms}
            return {term: searcher.doc_freq("body", term) if clean(term) else 0 for term in terms}

    def named(self, key: str, *, docs: frozenset[DocId] | None = None) -> list[ChunkId]:
        with self._translated():
            opened = self._reader_at()
            if opened is None or not key or not clean(key):
                return []
            state, schema, searcher = opened
            known = self._named_lately
            if docs is None and known is not None and known[0] == (state, key):
                return list(known[1])
            hits = searcher.search(term_query(schema, key, "called"), limit=_MOST_NAMED, count=False).hits
            if docs is not None:
                keys = self._filter(docs).keys(docs)
                owners = column(searcher, "doc_key", hits)
                hits = [hit for hit, owner in zip(hits, owners, strict=True) if owner in keys]
            found = sorted(map(ChunkId, chunk_ids(searcher, hits)))
        if docs is None:
            self._named_lately = ((state, key), found)
        return list(found)

    def words_from(self, beginning: str) -> dict[str, int]:
        with self._translated():
            opened = self._reader()
            if opened is None or not clean(beginning):
                return {}
            return dict(opened[1].terms_with_prefix("exact", beginning))

    def chunk_ids(self) -> set[ChunkId]:
        from tantivy import Query

        with self._translated():
            opened = self._reader()
            if opened is None or not opened[1].num_docs:
                return set()
            searcher = opened[1]
            hits = searcher.search(Query.all_query(), limit=searcher.num_docs, count=False).hits
            return set(map(ChunkId, chunk_ids(searcher, hits)))

    def count(self) -> int:
        with self._translated():
            opened = self._reader()
            return int(opened[1].num_docs) if opened else 0

    def faults(self) -> list[str]:
        return self._sums.faults() if self._checkpoint.read() else []

    def shape(self) -> IndexShape:
        from kebab.disk.sizes import bytes_of  # no search needs it

        if not self._checkpoint.read():
            return IndexShape()
        with self._translated():
            pieces, removed = segments_of(self._folder)
            return IndexShape(pieces, removed, byte_len=bytes_of(searched_files(self._folder)))

    def clear(self) -> None:
        # The checkpoint goes first: half a cleared folder must not look like an index.
        self._checkpoint.forget()
        with self._lock:
            self._opened = self._seen = None
        with self._translated():
            remove_folder(self._folder)

    def _write(
        self, removed: Sequence[DocId], chunks: Sequence[StoredChunk], cut: Mapping[ChunkId, ChunkWords]
    ) -> None:
        from tantivy import Document, Index

        make_folder(self._folder)
        index = Index(make_schema(), path=str(self._folder), reuse=True)
        register(index)
        # A writer for each batch: it holds a lock that must not outlive the batch in a long-running process.
        writer = index.writer(_HEAP_BYTES, _THREADS)
        # A commit that was killed leaves files behind whose names the next one, the same again, would take.
        writer.garbage_collect_files()
        for doc_id in dict.fromkeys([*removed, *(stored.chunk.doc_id for stored in chunks)]):
            writer.delete_documents_by_term("doc_id", doc_id)
        for stored in chunks:
            chunk = stored.chunk
            row = Document(doc_id=chunk.doc_id, **_fields(cut.get(chunk.chunk_id) or self._cut(stored)))
            row.add_unsigned("doc_key", _doc_key(chunk.doc_id))
            row.add_unsigned("chunk_high", int(chunk.chunk_id[:16], 16))
            row.add_unsigned("chunk_low", int(chunk.chunk_id[16:], 16))
            writer.add_document(row)
        writer.commit()
        writer.wait_merging_threads()

    def _reader(self) -> tuple[Any, Any] | None:
        """Schema and searcher of the newest commit; None when there is no index of this layout."""
        opened = self._reader_at()
        return opened[1:] if opened else None

    def _reader_at(self) -> tuple[_State, Any, Any] | None:
        """The same behind the state of the files that they were opened from."""
        with self._lock:
            seen = self._state()
            if seen is None:
                self._opened = self._seen = None
            elif self._opened is None or (seen != self._seen and not os.access(self._folder, os.W_OK)):
                self._opened = self._open()
            elif seen != self._seen:
                self._opened[0].reload()
                self._opened = (*self._opened[:2], self._opened[0].searcher())
            if seen is not None and seen != self._seen:
                self._deleted = self._has_deletions()
            self._seen = seen
            if seen is None or self._opened is None:
                return None
            return seen, *self._opened[1:]

    def _open(self) -> _Opened | None:
        if self._checkpoint.read() is None:
            return None
        from tantivy import Index

        with lockable(self._folder) as folder:
            index = Index.open(str(folder))
        register(index)
        return index, index.schema, index.searcher()

    def _state(self) -> _State | None:
        # Every commit replaces meta.json: one look at the file saves a reload per search.
        try:
            status = os.stat(self._meta)
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _has_deletions(self) -> bool:
        meta = json.loads((self._folder / "meta.json").read_bytes())
        return any(segment.get("deletes") for segment in meta["segments"])

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageError(f"{self._folder}: {error}", hint="check free space and permissions") from error
        except ValueError as error:
            raise _translation(str(error), self._folder) from error
        except BaseException as error:
            # A panic of the engine derives from BaseException, and its class cannot be imported.
            if type(error).__name__ != "PanicException":
                raise
            raise Corrupt(f"the words index in {self._folder} is damaged: {error}", hint=_REPAIR) from None


class _Filter:
    """Some documents, in the forms in which the engine takes them, made when first needed."""

    def __init__(self) -> None:
        self._belongs: Any = None
        self._keys: frozenset[int] | None = None
        self.share = 0.5
        """Of all hits of a search, how many belong to the documents: a guess, then what was seen lately."""

    def belongs(self, schema: Any, docs: frozenset[DocId]) -> Any:
        """A query that chunks of the documents meet, without a score."""
        from tantivy import Occur, Query

        if self._belongs is None:
            # Term by term: the engine's set query takes three times as long.
            terms = [Query.term_query(schema, "doc_id", doc_id, index_option="basic") for doc_id in docs]
            listed = Query.boolean_query([(Occur.Should, term) for term in terms])
            self._belongs = Query.const_score_query(listed, 0.0)
        return self._belongs

    def keys(self, docs: frozenset[DocId]) -> frozenset[int]:
        """The documents as the column ``doc_key`` names them."""
        if self._keys is None:
            self._keys = frozenset(map(_doc_key, docs))
        return self._keys


def _fields(words: ChunkWords) -> dict[str, str]:
    """What is indexed of a chunk, by field; one without words is left out, but for the body."""
    return {field: text for field, text in words._asdict().items() if text or field == "body"}


def _doc_key(doc_id: DocId) -> int:
    """The first 64 bits of the id, which no two documents share in practice; 0 for what is no id of ours."""
    try:
        return int(doc_id[:16], 16)
    except ValueError:
        return 0


def _best(searcher: Any, query: Any | None, limit: int) -> list[Ranked]:
    """By score, ties by id, also where a tie reaches over the cut: the engine breaks it by position."""
    if query is None:
        return []
    wanted = limit + 1
    while True:
        hits = searcher.search(query, limit=wanted, count=False).hits
        if len(hits) < wanted or hits[-1][0] < hits[limit - 1][0] or wanted > limit + _MAX_TIED:
            return _named(searcher, hits, limit)
        wanted = limit + 4 * (wanted - limit) + 16


def _best_of(
    searcher: Any, query: Any | None, limit: int, only: _Filter, docs: frozenset[DocId]
) -> list[Ranked] | None:
    """The same among the filter's documents; None where it takes less to make them part of the query."""
    if query is None:
        return []
    keys, wanted = only.keys(docs), _enough(limit, only.share)
    while wanted <= _HITS_A_DOCUMENT * len(docs):
        hits = searcher.search(query, limit=wanted, count=False).hits
        owners = column(searcher, "doc_key", hits)
        kept = [hit for hit, owner in zip(hits, owners, strict=True) if owner in keys]
        share = len(kept) / max(len(hits), 1)
        only.share = (only.share + share) / 2
        if len(hits) < wanted or (len(kept) > limit and hits[-1][0] < kept[limit - 1][0]):
            return _named(searcher, kept, limit)
        wanted = max(2 * wanted, _enough(limit, share))
    return None


def _enough(limit: int, share: float) -> int:
    """How many hits to fetch so that ``limit`` of them very likely remain."""
    return int(1.3 * limit / max(share, 1e-4)) + 40


def _named(searcher: Any, hits: Sequence[tuple[float, Any]], limit: int) -> list[Ranked]:
    cut = hits[min(limit, len(hits)) - 1][0] if hits else 0.0
    kept = [hit for hit in hits if hit[0] >= cut]
    # Thousands may tie: they are compared as the numbers that their ids are, and not all put in order.
    numbered = zip([-score for score, _ in kept], *chunk_numbers(searcher, kept), strict=True)
    found = nsmallest(limit, numbered) if len(kept) > 2 * limit else sorted(numbered)
    names = ids([(high, low) for _, high, low in found[:limit]])
    return [Ranked(name, -score) for name, (score, _, _) in zip(names, found, strict=False)]


def _count(searcher: Any, query: Any) -> int:
    return int(searcher.search(query, limit=1, count=True).count)


def _translation(message: str, folder: Path) -> EngineError:
    if "LockBusy" in message:
        return Locked(f"another process writes the words index in {folder}", hint="try again when it is done")
    if "IoError" in message or "IO error" in message:
        return EngineUnavailable(f"the words index in {folder} cannot be used: {message}", hint=_REPAIR)
    return Corrupt(f"the words index in {folder} is damaged: {message}", hint=_REPAIR)
