"""Stand-ins for every port, in memory: the contract suites hold them to what the real adapters do."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from blake3 import blake3

from kebab.adapters.sqlite.document_filters import lets_through
from kebab.domain.chunk_words import ChunkCutter, ChunkWords
from kebab.domain.chunks import (
    Chunk,
    StoredChunk,
    embedding_input,
)
from kebab.domain.code import code_lang, names_symbol
from kebab.domain.documents import Document, DocumentSummary
from kebab.domain.fusion import Ranked
from kebab.domain.ids import ChunkId, DocId, nfc
from kebab.domain.ingests import NO_TIME, FileState, IngestItem, IngestRun, RunStatus
from kebab.domain.links import NoteNames, PlacedLink
from kebab.domain.names import is_tagged, tag_key
from kebab.domain.places import CodeUnit
from kebab.domain.queries import SearchFilters
from kebab.errors import InvalidInput
from kebab.ports import (
    NONE_CUT,
    Analyzer,
    ChunkOwner,
    EmbeddingKind,
    IndexShape,
    LexicalQuery,
    ModelKey,
    PendingChange,
    StoreState,
    Vectors,
)
from tests.samples import as_stored

FAKE_NOW = "2024-05-01T12:00:00Z"
_WORD = re.compile(r"\w+")


class FakeAnalyzer:
    """Lower-case words, nothing else."""

    version = "fake-words-v1"

    def terms(self, text: str) -> list[str]:
        return _WORD.findall(nfc(text).lower())

    def index_text(self, text: str) -> str:
        return " ".join(self.terms(text))

    def phrase_terms(self, text: str) -> list[str]:
        return self.terms(text)

    def query_terms(self, text: str) -> list[str]:
        return list(dict.fromkeys(self.terms(text)))

    def query_weights(self, text: str) -> dict[str, float]:
        return dict.fromkeys(self.terms(text), 1.0)

    def held(self, text: str, terms: Collection[str]) -> set[str]:
        return set(self.terms(text)).intersection(terms)

    def matches(self, text: str, terms: Collection[str]) -> list[tuple[int, int]]:
        wanted = frozenset(terms)
        return [found.span() for found in _WORD.finditer(text) if found[0].lower() in wanted]


class FakeEmbedder:
    """A hashed bag of words: texts that share words are near; deterministic, whatever the batch."""

    def __init__(self, dimensions: int = 32, *, model_id: str = "fake-bag", version: str = "1") -> None:
        self.model_id = model_id
        self.version = version
        self.dimensions = dimensions
        self.calls: list[tuple[EmbeddingKind, tuple[str, ...]]] = []

    @property
    def key(self) -> ModelKey:
        return ModelKey(self.model_id, self.version, self.dimensions)

    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> Vectors:
        self.calls.append((kind, tuple(texts)))
        rows = [self._row(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self.dimensions)

    def _row(self, text: str) -> Vectors:
        row = np.zeros(self.dimensions, dtype=np.float32)
        for word in _WORD.findall(nfc(text).lower()):
            row[blake3(word.encode()).digest()[0] % self.dimensions] += 1.0
        if not row.any():
            row[0] = 1.0
        return row / np.linalg.norm(row)


class FakePatternMatcher:
    """Python's own expressions, which hostile patterns keep busy: for patterns of tests alone."""

    def holds(self, pattern: str, texts: Sequence[str]) -> list[bool]:
        return [bool(self._read(pattern).search(text)) for text in texts]

    def spans(self, pattern: str, text: str) -> list[tuple[int, int]]:
        return [found.span() for found in self._read(pattern).finditer(text) if found[0]]

    @staticmethod
    def _read(pattern: str) -> re.Pattern[str]:
        try:
            return re.compile(pattern, re.IGNORECASE | re.MULTILINE)
        except re.error as error:
            raise InvalidInput(f"/{pattern}/ is no pattern: {error}") from error


class FakeVocabulary:
    """Knows the words that it was given, and their plurals."""

    def __init__(self, *words: str) -> None:
        self._words = {form for word in words for form in (word.lower(), f"{word.lower()}s")}

    def has(self, word: str) -> bool:
        return word.lower() in self._words


class FakeReranker:
    """Counts the words that a text shares with the query."""

    model_id = "fake-shared-words"

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        asked = set(_WORD.findall(nfc(query).lower()))
        return [float(sum(w in asked for w in _WORD.findall(nfc(text).lower()))) for text in texts]


@dataclass(frozen=True, slots=True)
class _Shelf:
    document: Document
    chunks: tuple[StoredChunk, ...]
    state: FileState
    indexed_at: str


class FakeDocumentStore:
    """Documents in a dict, the outbox in a list. Positions begin at 0."""

    def __init__(self, clock: Callable[[], str] = lambda: FAKE_NOW) -> None:
        self._clock = clock
        self._shelves: dict[DocId, _Shelf] = {}
        self._outbox: list[tuple[int, DocId, str]] = []
        self._latest = 0
        self._pruned = 0
        self._revision = 0
        self.rotten: set[DocId] = set()
        """Documents that are to count as damaged until they are put again."""

    def file_states(self, source_id: str, under: Collection[str] = ()) -> dict[str, FileState]:
        found = {s.state.path: s.state for s in self._sorted() if s.document.source_id == source_id}
        below = tuple(f"{path}/" for path in under)
        return {p: state for p, state in found.items() if not under or p in under or p.startswith(below)}

    def file_state(self, source_id: str, path: str) -> FileState | None:
        return self.file_states(source_id).get(path)

    def states_of(self, places: Collection[tuple[str, str]]) -> dict[tuple[str, str], FileState]:
        found = {place: self.file_state(*place) for place in places}
        return {place: state for place, state in found.items() if state is not None}

    @contextmanager
    def at_one_moment(self) -> Iterator[None]:
        yield  # nobody else can write here

    @contextmanager
    def together(self) -> Iterator[None]:
        before = dict(self._shelves), list(self._outbox), self._latest, self._revision
        try:
            yield
        except BaseException:
            self._shelves, self._outbox, self._latest, self._revision = before
            raise

    def put(self, document: Document, chunks: Sequence[Chunk], state: FileState) -> list[StoredChunk]:
        for old in [s.document for s in self._shelves.values() if _same_place(s.document, document)]:
            del self._shelves[old.doc_id]
            if old.doc_id != document.doc_id:
                self.append(old.doc_id, "removed")
        now = self._clock()
        stored = tuple(as_stored(document, chunk, now) for chunk in chunks)
        self._shelves[document.doc_id] = _Shelf(document, stored, state, now)
        self.rotten.discard(document.doc_id)
        self.append(document.doc_id, "changed")
        self._revision += 1
        return list(stored)

    def touch(self, source_id: str, states: Sequence[FileState]) -> None:
        new = {state.path: state for state in states}
        for doc_id, shelf in self._shelves.items():
            if shelf.document.source_id == source_id and shelf.state.path in new:
                state = new[shelf.state.path]
                kept = replace(state, doc_id=shelf.state.doc_id, asset_id=shelf.state.asset_id)
                self._shelves[doc_id] = replace(shelf, state=kept)

    def forget_times(self, *, except_source: str) -> None:
        for doc_id, shelf in self._shelves.items():
            if shelf.document.source_id != except_source:
                self._shelves[doc_id] = replace(shelf, state=replace(shelf.state, mtime_ns=NO_TIME))

    def remove(self, doc_ids: Sequence[DocId]) -> None:
        gone = [doc_id for doc_id in dict.fromkeys(doc_ids) if self._shelves.pop(doc_id, None)]
        for doc_id in gone:
            self.append(doc_id, "removed")
        self._revision += bool(gone)

    def state(self) -> StoreState:
        return StoreState("fake", self._latest)

    def revision(self) -> int:
        return self._revision

    def list_documents(self, filters: SearchFilters | None = None) -> list[DocumentSummary]:
        allowed = self.matching(filters) if filters else None
        return [_summary(s) for s in self._sorted() if allowed is None or s.document.doc_id in allowed]

    def document(self, doc_id: DocId) -> DocumentSummary | None:
        shelf = self._shelves.get(doc_id)
        return _summary(shelf) if shelf else None

    def find_documents(self, reference: str) -> list[DocumentSummary]:
        wanted = nfc(reference)
        found = [_summary(s) for s in self._sorted()]
        exact = [d for d in found if wanted in (d.doc_id, d.path)]
        near = [d for d in found if d.doc_id.startswith(wanted) or d.path.endswith(f"/{wanted}")]
        return exact or (near if wanted else [])

    def source_text(self, doc_id: DocId) -> str | None:
        shelf = self._shelves.get(doc_id)
        return shelf.document.text if shelf else None

    def chunks_of(self, doc_id: DocId) -> list[StoredChunk]:
        shelf = self._shelves.get(doc_id)
        return list(shelf.chunks) if shelf else []

    def find_chunks(self, beginning: str) -> list[ChunkId]:
        found = sorted(chunk_id for chunk_id in self.chunk_ids() if chunk_id.startswith(beginning))
        return found[:100] if beginning else []

    def hydrate(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, StoredChunk]:
        known = {stored.chunk.chunk_id: stored for stored in self.stored_chunks()}
        return {chunk_id: known[chunk_id] for chunk_id in chunk_ids if chunk_id in known}

    def owners(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, ChunkOwner]:
        return {
            chunk_id: ChunkOwner(
                stored.chunk.doc_id,
                stored.path,
                stored.content_key,
                f"{self._shelves[stored.chunk.doc_id].document.asset_id} {stored.chunk.ordinal}",
                self._shelves[stored.chunk.doc_id].document.sketch or b"",
            )
            for chunk_id, stored in self.hydrate(chunk_ids).items()
        }

    def unsketched(self, *, limit: int) -> list[DocId]:
        return [doc_id for doc_id, s in self._shelves.items() if s.document.sketch is None][:limit]

    def put_sketches(self, sketches: Mapping[DocId, bytes]) -> None:
        texts = {self._shelves[doc_id].document.asset_id: made for doc_id, made in sketches.items()}
        for doc_id, shelf in self._shelves.items():
            if shelf.document.asset_id in texts:
                document = replace(shelf.document, sketch=texts[shelf.document.asset_id])
                self._shelves[doc_id] = replace(shelf, document=document)

    def languages(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, str]:
        return {chunk_id: stored.lang for chunk_id, stored in self.hydrate(chunk_ids).items()}

    def matching(self, filters: SearchFilters) -> frozenset[DocId] | None:
        if not filters:
            return None
        return frozenset(doc_id for doc_id, shelf in self._shelves.items() if _passes(shelf, filters))

    def defining(self, symbols: Sequence[str]) -> frozenset[ChunkId] | None:
        if not symbols:
            return None
        chunks = (stored.chunk for stored in self.stored_chunks())
        return frozenset(chunk.chunk_id for chunk in chunks if _is_named(chunk, symbols))

    def stored_chunks(self, doc_ids: Sequence[DocId] | None = None) -> Iterator[StoredChunk]:
        wanted = None if doc_ids is None else set(doc_ids)
        for shelf in self._sorted():
            if wanted is None or shelf.document.doc_id in wanted:
                yield from shelf.chunks

    def doc_ids(self) -> list[DocId]:
        return sorted(self._shelves)

    def chunk_ids(self) -> set[ChunkId]:
        return {stored.chunk.chunk_id for stored in self.stored_chunks()}

    def counts(self) -> tuple[int, int]:
        return len(self._shelves), sum(len(shelf.chunks) for shelf in self._shelves.values())

    def source_counts(self) -> dict[str, int]:
        return dict(sorted(Counter(summary.source_id for summary in self.list_documents()).items()))

    def pending(
        self, after: int, *, model: ModelKey | None = None, limit: int = 1000
    ) -> PendingChange | None:
        rows = self._rows(after, model)[:limit]
        if not rows:
            return None
        docs = dict.fromkeys(doc_id for _, doc_id, _ in rows)
        return PendingChange(
            upto=rows[-1][0],
            changed=tuple(d for d in docs if d in self._shelves),
            removed=tuple(d for d in docs if d not in self._shelves),
        )

    def behind(self, after: int, *, model: ModelKey | None = None, at_most: int | None = None) -> int:
        current = self._pruned <= after <= self._latest
        waiting = {doc_id for _, doc_id, _ in self._rows(after, model)} if current else self._shelves
        return len(waiting) if at_most is None else min(len(waiting), at_most)

    def latest(self) -> int:
        return self._latest

    def damaged(self, doc_ids: Sequence[DocId] | None = None) -> list[DocId]:
        asked = self._shelves if doc_ids is None else doc_ids
        return [doc_id for doc_id in asked if doc_id in self.rotten]

    def distrust(self, doc_ids: Sequence[DocId]) -> None:
        for doc_id in doc_ids:
            shelf = self._shelves[doc_id]
            self._shelves[doc_id] = replace(shelf, state=replace(shelf.state, fingerprint=""))

    def oldest(self) -> int:
        return self._pruned

    def prune_outbox(self, upto: int) -> None:
        self._pruned = max(self._pruned, min(upto, self._latest))
        self._outbox = [row for row in self._outbox if row[0] > self._pruned]

    def append(self, doc_id: DocId, topic: str) -> None:
        """Add to the outbox; for the embedding store beside this one."""
        self._latest += 1
        self._outbox.append((self._latest, doc_id, topic))

    def _rows(self, after: int, model: ModelKey | None) -> list[tuple[int, DocId, str]]:
        topics = {"changed", "removed"} | ({f"vectors:{model}"} if model else set())
        return [row for row in self._outbox if row[0] > after and row[2] in topics]

    def _sorted(self) -> list[_Shelf]:
        return sorted(self._shelves.values(), key=lambda s: (s.document.source_id, s.document.path))

    def shelves(self) -> list[_Shelf]:
        """By source and path; for the link store beside this one."""
        return self._sorted()

    def set_revision(self, revision: int) -> None:
        """For the record store beside this one."""
        self._revision = revision

    def put_shelf(self, shelf: _Shelf) -> None:
        """Hold what another store held; for the record store beside this one."""
        before, self._clock = self._clock, lambda: shelf.indexed_at
        self.put(shelf.document, [stored.chunk for stored in shelf.chunks], shelf.state)
        self._clock = before


class FakeLinkStore:
    """The links of the documents in a FakeDocumentStore."""

    def __init__(self, documents: FakeDocumentStore) -> None:
        self._documents = documents

    def names(self) -> list[NoteNames]:
        return [
            NoteNames(d.doc_id, d.source_id, d.path, d.title, d.metadata.aliases)
            for d in (shelf.document for shelf in self._documents.shelves())
        ]

    def links_from(self, doc_ids: Sequence[DocId]) -> list[PlacedLink]:
        return [placed for placed, _ in self._all() if placed.doc_id in doc_ids]

    def links_called(self, keys: Sequence[str]) -> list[PlacedLink]:
        return [placed for placed, key in self._all() if key in keys]

    def unread(self) -> int:
        return sum(
            shelf.state.fingerprint == "" and shelf.document.media == "markdown"
            for shelf in self._documents.shelves()
        )

    def _all(self) -> list[tuple[PlacedLink, str]]:
        documents = sorted((shelf.document for shelf in self._documents.shelves()), key=lambda d: d.doc_id)
        return [(PlacedLink(d.doc_id, link), link.key(d.path)) for d in documents for link in d.links]


def _same_place(one: Document, other: Document) -> bool:
    same_path = (one.source_id, one.path) == (other.source_id, other.path)
    return same_path or one.doc_id == other.doc_id


def _summary(shelf: _Shelf) -> DocumentSummary:
    document, metadata = shelf.document, shelf.document.metadata
    return DocumentSummary(
        doc_id=document.doc_id,
        source_id=document.source_id,
        path=document.path,
        title=document.title,
        lang=document.lang,
        media=document.media,
        tags=metadata.tags,
        source_type=metadata.source_type,
        trust_level=metadata.trust_level,
        byte_len=shelf.state.size,
        chunk_count=len(shelf.chunks),
        parser_version=document.parser_version,
        chunker_version=shelf.chunks[0].chunk.chunker_version if shelf.chunks else "",
        created_at=metadata.created_at,
        updated_at=metadata.updated_at,
        indexed_at=shelf.indexed_at,
    )


def _is_repo(repo: str | None, asked: str) -> bool:
    return f"/{repo}".lower().endswith(f"/{nfc(asked)}".lower()) if repo else False


def _is_named(chunk: Chunk, symbols: Sequence[str]) -> bool:
    unit = chunk.place
    return isinstance(unit, CodeUnit) and any(names_symbol(one, unit.symbol) for one in symbols)


def _languages(wanted: Sequence[str]) -> set[str]:
    small = {lang.lower() for lang in wanted}
    return small | {"und"} if "en" in small else small


def _passes(shelf: _Shelf, filters: SearchFilters) -> bool:
    document, metadata = shelf.document, shelf.document.metadata
    single = {
        "media": document.media,
        "source": document.source_id,
        "source_type": metadata.source_type,
    }
    return (
        all(
            not getattr(filters, name) or value in list(map(nfc, getattr(filters, name)))
            for name, value in single.items()
        )
        and (not filters.code_lang or metadata.code_lang in set(map(code_lang, filters.code_lang)))
        and (not filters.repo or any(_is_repo(metadata.repo, one) for one in filters.repo))
        and (not filters.symbol or any(_is_named(stored.chunk, filters.symbol) for stored in shelf.chunks))
        and (not filters.doc_id or any(one and document.doc_id.startswith(one) for one in filters.doc_id))
        and (not filters.lang or document.lang in _languages(filters.lang))
        and (not filters.tag or any(is_tagged(tag, map(tag_key, filters.tag)) for tag in metadata.tags))
        and lets_through(
            filters,
            path=document.path,
            title=document.title,
            created=metadata.created_at,
            updated=metadata.updated_at,
        )
        and (filters.trust_min is None or metadata.trust_level.order >= filters.trust_min.order)
        and (filters.ingested_after is None or shelf.indexed_at > filters.ingested_after)
    )


class FakeEmbeddingStore:
    def __init__(self, documents: FakeDocumentStore) -> None:
        self._documents = documents
        self._vectors: dict[ModelKey, dict[str, Vectors]] = {}
        self.rotten: set[tuple[ModelKey, str]] = set()
        """Vectors, by model and content, that are to count as damaged."""

    def missing(self, model: ModelKey, *, limit: int) -> dict[str, str]:
        found = list(self._missing(model).items())[:limit]
        return {
            key: embedding_input(
                title=one.title,
                heading_path=one.chunk.heading_path,
                text=one.chunk.text,
                code=one.code_lang is not None,
            )
            for key, one in found
        }

    def count_faults(self) -> list[str]:
        return []

    def recount(self) -> None:
        """Nothing is kept here."""

    def count_missing(self, model: ModelKey) -> int:
        return len(self._missing(model))

    def put_vectors(self, model: ModelKey, keys: Sequence[str], vectors: Vectors) -> None:
        cache = self._vectors.setdefault(model, {})
        cache.update({key: np.asarray(row, dtype=np.float32) for key, row in zip(keys, vectors, strict=True)})
        wanted = set(keys)
        docs = dict.fromkeys(
            stored.chunk.doc_id for stored in self._documents.stored_chunks() if stored.content_key in wanted
        )
        for doc_id in docs:
            self._documents.append(doc_id, f"vectors:{model}")

    def vectors(self, model: ModelKey, keys: Sequence[str]) -> dict[str, Vectors]:
        cache = self._vectors.get(model, {})
        return {key: cache[key] for key in keys if key in cache}

    def drop_damaged(self, *, dry_run: bool = False, sample: int | None = None) -> int:
        found = [(model, key) for model, key in self.rotten if key in self._vectors.get(model, {})]
        for model, key in [] if dry_run else found:
            del self._vectors[model][key]
        return len(found)

    def models(self) -> dict[ModelKey, int]:
        return {model: len(cache) for model, cache in self._vectors.items() if cache}

    def forget_unused(self, keep: Sequence[ModelKey]) -> int:
        used = {stored.content_key for stored in self._documents.stored_chunks()}
        before = sum(self.models().values())
        self._vectors = {
            model: {key: row for key, row in cache.items() if key in used}
            for model, cache in self._vectors.items()
            if model in keep
        }
        return before - sum(self.models().values())

    def forget_surplus(self) -> int:
        used = {stored.content_key for stored in self._documents.stored_chunks()}
        known = [key for cache in self._vectors.values() for key in cache]
        in_use = sum(key in used for key in known)
        many = len(known) - in_use > max(1_000, in_use // 10)
        return self.forget_unused(list(self.models())) if many else 0

    def _missing(self, model: ModelKey) -> dict[str, StoredChunk]:
        cache = self._vectors.get(model, {})
        found: dict[str, StoredChunk] = {}
        for stored in self._documents.stored_chunks():
            if stored.content_key not in cache:
                found.setdefault(stored.content_key, stored)
        return found


class FakeLedger:
    def __init__(self) -> None:
        self._runs: dict[str, IngestRun] = {}
        self._items: dict[str, list[IngestItem]] = {}

    def begin(self, run: IngestRun) -> None:
        self._runs[run.run_id] = run

    def note(self, run_id: str, items: Sequence[IngestItem]) -> None:
        self._items.setdefault(run_id, []).extend(items)

    def finish(self, run: IngestRun) -> None:
        self._runs[run.run_id] = run

    def runs(self, limit: int = 20) -> list[IngestRun]:
        return list(reversed(self._runs.values()))[:limit]

    def running(self) -> list[IngestRun]:
        return [run for run in self.runs(len(self._runs)) if run.status is RunStatus.RUNNING]

    def items(self, run_id: str) -> list[IngestItem]:
        return list(self._items.get(run_id, []))

    def prune(self, *, keep: int) -> None:
        for run in self.runs(len(self._runs))[keep:]:
            if run.status is not RunStatus.RUNNING:
                del self._runs[run.run_id]
                self._items.pop(run.run_id, None)


class _Fields(NamedTuple):
    """What an index knows of a chunk beside its body."""

    words: frozenset[str]
    name: list[str]
    about: list[str]
    called: frozenset[str]


class FakeLexicalIndex:
    """BM25 (k1 1.2, b 0.75) over lists of terms, one chunk at a time."""

    def __init__(self, analyzer: Analyzer | None = None) -> None:
        self._analyzer: Analyzer = analyzer or FakeAnalyzer()
        self._bodies: dict[ChunkId, tuple[DocId, list[str]]] = {}
        self._fields: dict[ChunkId, _Fields] = {}
        self._checkpoint = 0
        self.applied = 0
        """How many changes it took."""
        self.damage: list[str] = []
        """What the files of this index are to suffer from until it is cleared."""
        self.lies: IndexShape | None = None
        """How it is to say that it lies on disk."""

    @property
    def version(self) -> str:
        return f"lexical:fake-1:{self._analyzer.version}"

    def checkpoint(self) -> int:
        return self._checkpoint

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        checkpoint: int,
        cut: Mapping[ChunkId, ChunkWords] = NONE_CUT,
    ) -> None:
        self.applied += 1
        gone = set(removed) | {stored.chunk.doc_id for stored in chunks}
        self._bodies = {key: body for key, body in self._bodies.items() if body[0] not in gone}
        for stored in chunks:
            words = cut.get(stored.chunk.chunk_id) or ChunkCutter(self._analyzer.index_text)(stored)
            self._bodies[stored.chunk.chunk_id] = (stored.chunk.doc_id, words.body.split())
            self._fields[stored.chunk.chunk_id] = _Fields(
                frozenset(words.exact.split()),
                words.name.split(),
                words.about.split(),
                frozenset(words.called.split()),
            )
        self._checkpoint = checkpoint

    def search(
        self, query: LexicalQuery, *, limit: int, docs: frozenset[DocId] | None = None
    ) -> list[Ranked]:
        found = [
            Ranked(chunk_id, score)
            for chunk_id, (doc_id, body) in self._bodies.items()
            if (docs is None or doc_id in docs)
            and all(_holds(body, phrase) for phrase in query.phrases)
            and not any(_holds(body, word) for word in query.excluded)
            and self._fields[chunk_id].words.issuperset(query.required)
            and (score := self._score(query, body, self._fields[chunk_id])) > 0
        ]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:limit]

    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        return {term: sum(term in body for _, body in self._bodies.values()) for term in terms}

    def chunk_ids(self) -> set[ChunkId]:
        return set(self._bodies)

    def count(self) -> int:
        return len(self._bodies)

    def faults(self) -> list[str]:
        return self.damage

    def shape(self) -> IndexShape:
        return self.lies or IndexShape(1 if self._bodies else 0, byte_len=len(self._bodies))

    def clear(self) -> None:
        self.damage, self.lies = [], None
        self._bodies, self._checkpoint = {}, 0

    def named(self, key: str, *, docs: frozenset[DocId] | None = None) -> list[ChunkId]:
        return sorted(
            chunk_id
            for chunk_id, (doc_id, _) in self._bodies.items()
            if key in self._fields[chunk_id].called and (docs is None or doc_id in docs)
        )

    def words_from(self, beginning: str) -> dict[str, int]:
        held = (word for chunk in self._bodies for word in self._fields[chunk].words)
        return dict(Counter(word for word in held if word.startswith(beginning)))

    def _score(self, query: LexicalQuery, body: list[str], fields: _Fields) -> float:
        counts = Counter(body)
        mean = sum(len(terms) for _, terms in self._bodies.values()) / len(self._bodies)
        terms = query.terms or tuple(dict.fromkeys(term for phrase in query.phrases for term in phrase))
        total = 0.0
        for term, df in self.document_frequencies(terms).items():
            tf = counts[term]
            idf = math.log(1 + (len(self._bodies) - df + 0.5) / (df + 0.5))
            share = tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * len(body) / mean))
            elsewhere = query.fields.name * (term in fields.name) + query.fields.about * (
                term in fields.about
            )
            total += query.weights.get(term, 1.0) * idf * (share + elsewhere)
        return total + query.fields.exact * len(fields.words.intersection(query.words))


def _holds(body: list[str], row: Sequence[str]) -> bool:
    return bool(row) and any(body[i : i + len(row)] == list(row) for i in range(len(body)))


class FakeVectorIndex:
    """Exact cosine over a dict of vectors."""

    def __init__(self, model: ModelKey) -> None:
        self.model = model
        self._rows: dict[ChunkId, tuple[DocId, Vectors]] = {}
        self._checkpoint = 0
        self.damage: list[str] = []
        self.lies: IndexShape | None = None
        """How it is to say that it lies on disk."""
        """What the files of this index are to suffer from until it is cleared."""

    @property
    def version(self) -> str:
        return f"vector:fake-1:{self.model.model_id}:{self.model.version}:{self.model.dimensions}"

    def checkpoint(self) -> int:
        return self._checkpoint

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        vectors: Mapping[ChunkId, Vectors],
        checkpoint: int,
    ) -> None:
        gone = set(removed) | {stored.chunk.doc_id for stored in chunks}
        self._rows = {key: row for key, row in self._rows.items() if row[0] not in gone}
        for stored in chunks:
            if stored.chunk.chunk_id in vectors:
                row = (stored.chunk.doc_id, np.asarray(vectors[stored.chunk.chunk_id]))
                self._rows[stored.chunk.chunk_id] = row
        self._checkpoint = checkpoint

    def search(self, vector: Vectors, *, limit: int, docs: frozenset[DocId] | None = None) -> list[Ranked]:
        found = [
            Ranked(chunk_id, _cosine(vector, row))
            for chunk_id, (doc_id, row) in self._rows.items()
            if (docs is None or doc_id in docs) and np.any(vector)
        ]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:limit]

    def optimize(self) -> None:
        """Nothing to compact."""

    def chunk_ids(self) -> set[ChunkId]:
        return set(self._rows)

    def count(self) -> int:
        return len(self._rows)

    def faults(self) -> list[str]:
        return self.damage

    def shape(self) -> IndexShape:
        return self.lies or IndexShape(1 if self._rows else 0, byte_len=len(self._rows))

    def clear(self) -> None:
        self.damage, self.lies = [], None
        self._rows, self._checkpoint = {}, 0


def _cosine(one: Vectors, other: Vectors) -> float:
    norm = float(np.linalg.norm(one) * np.linalg.norm(other))
    return min(1.0, max(-1.0, float(np.dot(one, other)) / norm)) if norm else 0.0
