"""Every port on one page: what we ask of the outside, and nothing more.

A *store* is truth. An *index* is derived from it: it may be deleted at any time and is built again. Adapters
do not inherit from these Protocols; the type checker compares them where ``engines`` joins the two.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kebab.domain.chunks import Chunk, StoredChunk
    from kebab.domain.documents import Document, DocumentSummary
    from kebab.domain.executions import Execution, ExecutionFilters, MemoryStats, Outcome, TaskRecord
    from kebab.domain.fusion import Ranked
    from kebab.domain.hits import Retrieval
    from kebab.domain.ids import ChunkId, DocId
    from kebab.domain.ingests import FileState, IngestItem, IngestRun
    from kebab.domain.queries import SearchFilters, SearchQuery

    Vectors = NDArray[np.float32]
else:  # numpy is loaded by the adapters that need it
    Vectors = object


# --- text and models -------------------------------------------------------------------------------


class Analyzer(Protocol):
    """Turns text and queries into the same terms, so that they meet."""

    @property
    def version(self) -> str: ...

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order. They hold no white space."""
        ...

    def index_text(self, text: str) -> str:
        """The terms joined by single spaces, as an index with a white-space tokenizer takes them."""
        ...

    def phrase_terms(self, text: str) -> list[str]:
        """The terms that stand in a row wherever the text stands as a phrase."""
        ...

    def query_terms(self, text: str) -> list[str]:
        """The distinct terms of a query, in order."""
        ...

    def query_weights(self, text: str) -> dict[str, float]:
        """The same terms in the same order, each with what it counts, above 0 and at most 1."""
        ...

    def held(self, text: str, terms: Collection[str]) -> set[str]:
        """Which of these terms are among the terms of the text."""
        ...

    def matches(self, text: str, terms: Collection[str]) -> list[tuple[int, int]]:
        """Character ranges of the original text whose analysis meets a term; sorted, not overlapping."""
        ...


class EmbeddingKind(StrEnum):
    DOCUMENT = "document"
    QUERY = "query"


class Embedder(Protocol):
    """Texts in, unit vectors out. The same text gives the same vector, whatever stands beside it."""

    @property
    def model_id(self) -> str: ...

    @property
    def version(self) -> str:
        """Changes whenever the same text would give another vector."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> Vectors:
        """One row a text, in order, each of length 1. Raises ModelUnavailable, ModelMismatch, Timeout."""
        ...


class Reranker(Protocol):
    """Reads query and text together: how well do they fit? A text's score does not depend on the others."""

    @property
    def model_id(self) -> str: ...

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One number a text, in order, larger is better, of any scale. Raises ModelUnavailable."""
        ...


# --- truth -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PendingChange:
    """Documents whose derived data is behind; ``upto`` is what an index records once it has applied them."""

    upto: int
    changed: tuple[DocId, ...]
    removed: tuple[DocId, ...]


@dataclass(frozen=True, slots=True)
class ModelKey:
    """Names the vectors of one model; those of two models are never mixed."""

    model_id: str
    version: str
    dimensions: int

    @classmethod
    def of(cls, embedder: Embedder) -> ModelKey:
        return cls(embedder.model_id, embedder.version, embedder.dimensions)


class StoreFile(Protocol):
    """The file that holds the truth, as its engine sees it."""

    def faults(self) -> list[str]:
        """What the engine finds wrong with the file, in words; empty when it is sound."""
        ...

    def schema_version(self) -> int: ...


class DocumentStore(Protocol):
    """The documents, their chunks, and what the indexes still have to do about them.

    Each write is one transaction and also appends to the outbox, so that no index can miss it.
    """

    def file_states(self, source_id: str) -> dict[str, FileState]:
        """What is known of each path of a source."""
        ...

    def file_state(self, source_id: str, path: str) -> FileState | None:
        """What is known of one path."""
        ...

    def together(self) -> AbstractContextManager[None]:
        """Make the writes inside one transaction: all of them are seen at once, or none after an error."""
        ...

    def put(self, document: Document, chunks: Sequence[Chunk], state: FileState) -> list[StoredChunk]:
        """Store a document in place of whatever stood at its path; returns what ``chunks_of`` would."""
        ...

    def touch(self, source_id: str, states: Sequence[FileState]) -> None:
        """Record new sizes and times of files whose content did not change."""
        ...

    def remove(self, doc_ids: Sequence[DocId]) -> None: ...

    def revision(self) -> int:
        """Grows with every change to the documents; cursors are bound to it."""
        ...

    def list_documents(self, filters: SearchFilters | None = None) -> list[DocumentSummary]:
        """Summaries in order of source and path."""
        ...

    def document(self, doc_id: DocId) -> DocumentSummary | None: ...

    def find_documents(self, reference: str) -> list[DocumentSummary]:
        """Documents whose id starts with, or whose path equals or ends with, the reference."""
        ...

    def source_text(self, doc_id: DocId) -> str | None:
        """The document's text as it was indexed, line for line; None if there is no such document."""
        ...

    def chunks_of(self, doc_id: DocId) -> list[StoredChunk]:
        """In document order."""
        ...

    def find_chunks(self, beginning: str) -> list[ChunkId]:
        """The ids that start like this, sorted; some of them where there are many, none for an empty text."""
        ...

    def hydrate(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, StoredChunk]:
        """The chunks that exist, in one query; an id of a removed chunk is left out."""
        ...

    def languages(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, str]:
        """The language of each chunk's document; an id of a removed chunk is left out."""
        ...

    def matching(self, filters: SearchFilters) -> frozenset[DocId] | None:
        """The documents a filter lets through; None when the filter is empty."""
        ...

    def stored_chunks(self, doc_ids: Sequence[DocId] | None = None) -> Iterator[StoredChunk]:
        """The chunks of these documents, or of all, document by document."""
        ...

    def chunk_ids(self) -> set[ChunkId]:
        """All of them, for the doctor."""
        ...

    def counts(self) -> tuple[int, int]:
        """How many documents and how many chunks there are."""
        ...

    def source_counts(self) -> dict[str, int]:
        """How many documents each source has, by its id, sorted; one without documents is not there."""
        ...

    # The outbox.

    def pending(
        self, after: int, *, model: ModelKey | None = None, limit: int = 1000
    ) -> PendingChange | None:
        """The next documents changed after this position, each once; None when there is nothing to do.

        With ``model``, documents that got new vectors of that model count as changed too.
        """
        ...

    def behind(self, after: int, *, model: ModelKey | None = None) -> int:
        """How many documents an index that stands at this position still has to apply."""
        ...

    def latest(self) -> int:
        """The newest position of the outbox; a new store need not begin at 0."""
        ...

    def oldest(self) -> int:
        """Positions at or below this one were pruned: an index that stands before it is built anew."""
        ...

    def prune_outbox(self, upto: int) -> None: ...


class EmbeddingStore(Protocol):
    """The cache of vectors by content and model: truth, because computing them again is slow."""

    def missing(self, model: ModelKey, *, limit: int) -> dict[str, str]:
        """What is still to embed with this model, by content key, as a model reads it; oldest first."""
        ...

    def count_missing(self, model: ModelKey) -> int: ...

    def put_vectors(self, model: ModelKey, keys: Sequence[str], vectors: Vectors) -> None:
        """Store vectors by content key and tell the outbox which documents they complete."""
        ...

    def vectors(self, model: ModelKey, keys: Sequence[str]) -> dict[str, Vectors]:
        """The cached vectors among these content keys."""
        ...

    def models(self) -> dict[ModelKey, int]:
        """Each model with the number of its vectors."""
        ...

    def forget_unused(self, keep: Sequence[ModelKey]) -> int:
        """Drop vectors that no chunk uses, and all of models not named; returns how many."""
        ...


class Ledger(Protocol):
    """What each ingest run did with each file."""

    def begin(self, run: IngestRun) -> None: ...

    def note(self, run_id: str, items: Sequence[IngestItem]) -> None: ...

    def finish(self, run: IngestRun) -> None: ...

    def runs(self, limit: int = 20) -> list[IngestRun]:
        """Newest first."""
        ...

    def items(self, run_id: str) -> list[IngestItem]: ...


class SourceFiles(Protocol):
    """The files that documents came from, as they are now."""

    def changed(self, source_id: str, path: str) -> bool:
        """True when the file is gone or no longer has the content it was indexed with.

        False while nothing can be known of it: its source's folder is not here, or it came with a bundle.
        """
        ...


# --- derived ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """Terms as the analyzer gave them. A hit meets at least one term, every phrase and no excluded one."""

    terms: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()
    """Each a word of one or several terms; a chunk that holds all of them in a row is left out."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """What a term counts; 1 where nothing is said. An engine that cannot weigh counts all alike."""


NO_TERMS: Mapping[ChunkId, str] = {}


class LexicalIndex(Protocol):
    """BM25 over analysed chunks. Applying the same change twice is applying it once."""

    @property
    def version(self) -> str:
        """Engine, layout and analyzer, such as ``lexical:tantivy-1:words-bigrams-v3``."""
        ...

    def checkpoint(self) -> int:
        """The outbox position up to which everything is searchable; 0 for a new index."""
        ...

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        checkpoint: int,
        terms: Mapping[ChunkId, str] = NO_TERMS,
    ) -> None:
        """Drop these documents' chunks, add these chunks, then record the position; searchable on return.

        ``terms`` holds what the index's analyzer gives for some of the chunks, where that is known already.
        """
        ...

    def search(
        self, query: LexicalQuery, *, limit: int, docs: frozenset[DocId] | None = None
    ) -> list[Ranked]:
        """Chunk ids by BM25, best first, ties by id. Only chunks that match something; maybe none."""
        ...

    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many chunks each term stands; 0 for an unknown one."""
        ...

    def chunk_ids(self) -> set[ChunkId]:
        """All of them, for the doctor."""
        ...

    def count(self) -> int: ...

    def clear(self) -> None:
        """Back to an empty index at checkpoint 0."""
        ...


class VectorIndex(Protocol):
    """Nearest neighbours by cosine over one model's vectors; otherwise like LexicalIndex."""

    @property
    def version(self) -> str:
        """Engine, layout, model and dimensions."""
        ...

    @property
    def model(self) -> ModelKey: ...

    def checkpoint(self) -> int: ...

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        vectors: Mapping[ChunkId, Vectors],
        checkpoint: int,
    ) -> None:
        """Like LexicalIndex.apply; a chunk without a vector is left out."""
        ...

    def search(self, vector: Vectors, *, limit: int, docs: frozenset[DocId] | None = None) -> list[Ranked]:
        """Chunk ids by cosine, best first, ties by id. A query of length 0 finds nothing."""
        ...

    def optimize(self) -> None:
        """Compact the files and build or refresh the approximate index where the size pays for it."""
        ...

    def chunk_ids(self) -> set[ChunkId]: ...

    def count(self) -> int: ...

    def clear(self) -> None: ...


# --- search as a service ---------------------------------------------------------------------------


class Retriever(Protocol):
    """Finds chunks for a query: lexical, vector and hybrid search are all of this kind."""

    @property
    def index_version(self) -> str: ...

    def search(self, query: SearchQuery) -> Retrieval:
        """At most ``query.k`` hits, best first, ranks from 1."""
        ...


# --- execution memory ------------------------------------------------------------------------------


class MemoryKind(StrEnum):
    """The two kinds of records; each has its own revision and its own index."""

    EXECUTIONS = "executions"
    TASKS = "tasks"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEntry:
    """What an index needs of a record. A task record leaves the fields that filters look at empty."""

    id: str
    text: str
    embedding: tuple[float, ...] | None = None
    embedding_model: str | None = None
    agent_id: str = ""
    agent_role: str | None = None
    task_type: str = ""
    provider: str = ""
    success: bool = False
    cost_cents: int = 0
    finished_at: datetime

    @classmethod
    def of(cls, record: Execution | TaskRecord) -> MemoryEntry:
        from kebab.domain.executions import TaskRecord

        if isinstance(record, TaskRecord):
            return cls(
                id=record.id,
                text=record.description,
                embedding=record.embedding,
                embedding_model=record.embedding_model,
                finished_at=record.recorded_at,
            )
        return cls(
            id=record.id,
            text=record.task_description,
            embedding=record.embedding,
            embedding_model=record.embedding_model,
            agent_id=record.agent_id,
            agent_role=record.agent_role,
            task_type=record.task_type,
            provider=record.provider,
            success=record.success,
            cost_cents=record.cost_cents,
            finished_at=record.finished_at,
        )


@dataclass(frozen=True, slots=True)
class MemoryChanges:
    """What happened up to the revision ``upto``: first forget ``removed``, then take ``entries``."""

    upto: int
    entries: tuple[MemoryEntry, ...]
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Saved:
    """A write took the store from one revision to another, with nothing in between."""

    before: int
    upto: int


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """Vectors that can be compared: those of one model and one length."""

    model: str
    dimensions: int


class ExecutionStore(Protocol):
    """The truth about what agents did: records and the graph between them.

    Each write is one transaction that also moves the revision, so that no index can miss it. A record with a
    known id replaces the old one. Raises EngineUnavailable, Locked, StorageError; Corrupt for a row or a
    schema that does not fit the types, naming the field.
    """

    def identity(self) -> str:
        """Tells this store from any other; made with the store and never changed."""
        ...

    def save(self, executions: Sequence[Execution]) -> Saved: ...

    def save_tasks(self, tasks: Sequence[TaskRecord]) -> Saved: ...

    def load(self, ids: Sequence[str]) -> dict[str, Execution]:
        """Those that exist, in one query."""
        ...

    def load_tasks(self, ids: Sequence[str]) -> dict[str, TaskRecord]: ...

    def select(self, filters: ExecutionFilters, *, limit: int | None) -> list[Execution]:
        """Newest first by finished_at, then by id."""
        ...

    def every(self) -> Iterator[Execution]:
        """All executions in order of id."""
        ...

    def every_task(self) -> Iterator[TaskRecord]: ...

    def outcomes(self, filters: ExecutionFilters) -> list[Outcome]:
        """In no particular order."""
        ...

    def link(self, cause: str, effect: str) -> None:
        """State that one execution led to another. Linking twice is linking once."""
        ...

    def causes(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """For each id the executions that led to it directly, known to the store or not, sorted."""
        ...

    def effects(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]: ...

    def documents_of(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """For each id the documents it used, sorted."""
        ...

    def users_of(self, document: str) -> tuple[str, ...]:
        """The executions that used a document, sorted."""
        ...

    def prune(self, *, before: datetime, dry_run: bool) -> int:
        """Remove what finished earlier, edges included; returns how many executions that is."""
        ...

    def stats(self) -> MemoryStats: ...

    def revision(self, kind: MemoryKind) -> int: ...

    def changes(self, kind: MemoryKind, *, after: int, limit: int) -> MemoryChanges:
        """What changed since a revision, at most ``limit`` entries; ``upto`` says how far that reaches."""
        ...

    def close(self) -> None:
        """Let go of the engine. The next use opens it again."""
        ...


class ExecutionIndex(Protocol):
    """Words and vectors over one kind of record. Applying the same change twice is applying it once."""

    @property
    def version(self) -> str:
        """Engine, layout and analyzer."""
        ...

    def position(self) -> int:
        """The revision up to which everything is searchable; 0 for a new index."""
        ...

    def apply(self, changes: MemoryChanges) -> None:
        """Take the changes in; searchable on return."""
        ...

    def words(self, text: str, *, filters: ExecutionFilters, limit: int) -> list[Ranked]:
        """Ids by BM25, best first, ties by id. Only records that share a term with the text; maybe none."""
        ...

    def nearest(
        self, vector: Sequence[float], *, space: VectorSpace, filters: ExecutionFilters, limit: int
    ) -> list[Ranked]:
        """Ids by cosine, best first, ties by id."""
        ...

    def spaces(self) -> dict[VectorSpace, int]:
        """The kinds of vectors there are, with the number of each."""
        ...

    def clear(self) -> None:
        """Back to an empty index at position 0."""
        ...


# --- answers ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a language model reads: the rules, and the question with its evidence."""

    system: str
    user: str


class LanguageModel(Protocol):
    """Writes text from a prompt, piece by piece."""

    @property
    def name(self) -> str:
        """Provider and model, such as ``ollama:qwen3:4b``."""
        ...

    @property
    def context_tokens(self) -> int:
        """How many tokens prompt and answer may have together."""
        ...

    def stream(self, prompt: Prompt, *, max_tokens: int) -> Generator[str, None, None]:
        """The answer as it is written; closing the iterator stops the model.

        Raises ModelUnavailable (no server, no such model, a key refused, the stream breaks) or Timeout.
        """
        ...


class AnswerStore(Protocol):
    """The answers given, refusals included, as JSON that the answer room alone reads."""

    def put(self, trace_id: str, *, created_at: str, question: str, answer_json: str) -> None:
        """Store an answer in place of an earlier one with this trace id."""
        ...

    def get(self, trace_id: str) -> str | None: ...

    def recent(self, limit: int = 20) -> list[str]:
        """Newest first."""
        ...


# --- evaluation ------------------------------------------------------------------------------------


class EvalStore(Protocol):
    """The evaluation runs kept, as JSON that the evaluate room alone reads."""

    def put(self, run_id: str, *, created_at: str, report_json: str) -> None:
        """Store a report in place of an earlier one with this run id."""
        ...

    def get(self, run_id: str) -> str | None: ...

    def recent(self, limit: int = 20) -> list[str]:
        """Newest first."""
        ...
