"""Stores: what is true of the documents and the vectors. It is never derived from anything here."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from kebab.domain.progress import Progress, silent
from kebab.domain.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from kebab.domain.chunks import Chunk, StoredChunk
    from kebab.domain.documents import Document, DocumentSummary
    from kebab.domain.ids import ChunkId, DocId
    from kebab.domain.ingests import FileState
    from kebab.domain.links import NoteNames, PlacedLink
    from kebab.domain.queries import SearchFilters
    from kebab.domain.turns import Turns
    from kebab.ports.history import Ledger
    from kebab.ports.models import ModelKey, Vectors


@dataclass(frozen=True, slots=True)
class PendingChange:
    """Documents whose derived data is behind; ``upto`` is what an index records once it has applied them."""

    upto: int
    changed: tuple[DocId, ...]
    removed: tuple[DocId, ...]


@dataclass(frozen=True, slots=True)
class StoreState:
    """Equal to an earlier one where no document and no vector changed, and no other store took its place."""

    identity: str
    position: int


class StoreFile(Protocol):
    """The file that holds the truth, as its engine sees it."""

    def faults(self) -> list[str]:
        """What the engine finds wrong with the file, in words; empty when it is sound."""
        ...

    def reindex(self) -> None:
        """Make the file's own indexes anew from its tables. Raises Corrupt where those are damaged too."""
        ...

    def schema_version(self) -> int: ...

    def back_up(self, target: Path, progress: Progress = silent) -> None:
        """Write a whole copy into a new file, as of one moment, while others may write."""
        ...

    def require_whole(self, progress: Progress = silent) -> None:
        """Read every row. Raises Corrupt, naming the first that kebab would not have written."""
        ...


@dataclass(frozen=True, slots=True)
class ChunkOwner:
    """Whose a chunk is. Chunks that share one of the two keys hold the same text."""

    doc_id: DocId
    path: str
    content_key: str
    """The text with its title and headings."""
    text_key: str
    """The text's place in its file's content."""
    sketch: bytes = b""
    """Of the whole document's text, see ``domain.sketches``; empty where it has none yet."""


class DocumentStore(Protocol):
    """The documents, their chunks, and what the indexes still have to do about them.

    Each write is one transaction and also appends to the outbox, so that no index can miss it.
    """

    def file_states(self, source_id: str, under: Collection[str] = ()) -> dict[str, FileState]:
        """What is known of each path of a source, by path; with ``under`` of those paths and below them."""
        ...

    def file_state(self, source_id: str, path: str) -> FileState | None:
        """What is known of one path."""
        ...

    def states_of(self, places: Collection[tuple[str, str]]) -> dict[tuple[str, str], FileState]:
        """What is known of many paths, each given with its source before it; without those not known."""
        ...

    def at_one_moment(self) -> AbstractContextManager[None]:
        """Let everything that this thread reads inside be of one moment, whatever others write meanwhile.

        What is written through this object itself is seen.
        """
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

    def forget_times(self, *, except_source: str) -> None:
        """Note that the files of other sources were indexed elsewhere: their times are those of NO_TIME."""
        ...

    def state(self) -> StoreState:
        """What the store stands at; one small question, asked around every search."""
        ...

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

    def owners(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, ChunkOwner]:
        """The document of each chunk, and what its text is known by; an id of a removed one is left out."""
        ...

    def unsketched(self, *, limit: int) -> list[DocId]:
        """Some documents whose text has no sketch yet; none when all have one."""
        ...

    def put_sketches(self, sketches: Mapping[DocId, bytes]) -> None:
        """Store the sketches of these documents' texts. No change to the documents: no index hears of it."""
        ...

    def languages(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, str]:
        """The language of each chunk's document; an id of a removed chunk is left out."""
        ...

    def matching(self, filters: SearchFilters) -> frozenset[DocId] | None:
        """The documents a filter lets through; None when the filter is empty."""
        ...

    def defining(self, symbols: Sequence[str]) -> frozenset[ChunkId] | None:
        """The chunks that one of these patterns names; see ``domain.code``. None without a pattern."""
        ...

    def stored_chunks(self, doc_ids: Sequence[DocId] | None = None) -> Iterator[StoredChunk]:
        """The chunks of these documents, or of all, document by document."""
        ...

    def doc_ids(self) -> list[DocId]:
        """Of all documents, sorted."""
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

    def damaged(self, doc_ids: Sequence[DocId] | None = None) -> list[DocId]:
        """Those of the documents, or of all, whose rows or text are not what was put."""
        ...

    def distrust(self, doc_ids: Sequence[DocId]) -> None:
        """Let the next run read the files of these documents again, whatever their size and time."""
        ...

    # The outbox.

    def pending(
        self, after: int, *, model: ModelKey | None = None, limit: int = 1000
    ) -> PendingChange | None:
        """The next documents changed after this position, each once; None when there is nothing to do.

        With ``model``, documents that got new vectors of that model count as changed too.
        """
        ...

    def behind(self, after: int, *, model: ModelKey | None = None, at_most: int | None = None) -> int:
        """How many documents an index that stands at this position still has to apply.

        Counting ends at ``at_most``: a search needs to know that they are many, not how many.
        """
        ...

    def latest(self) -> int:
        """The newest position of the outbox; a new store need not begin at 0."""
        ...

    def oldest(self) -> int:
        """Positions at or below this one were pruned: an index that stands before it is built anew."""
        ...

    def prune_outbox(self, upto: int) -> None: ...


class LinkStore(Protocol):
    """The links that stand in the documents, as written, and what the documents are called.

    ``DocumentStore.put`` writes them with their document.
    """

    def names(self) -> list[NoteNames]:
        """Of every document, by source and path."""
        ...

    def links_from(self, doc_ids: Sequence[DocId]) -> list[PlacedLink]:
        """The links that stand in these documents, in order within each."""
        ...

    def links_called(self, keys: Sequence[str]) -> list[PlacedLink]:
        """The links of all documents whose key is one of these, in order within each document."""
        ...

    def unread(self) -> int:
        """How many documents were stored before links were kept, and wait to be read again."""
        ...


class EmbeddingStore(Protocol):
    """The cache of vectors by content and model: truth, because computing them again is slow."""

    def missing(self, model: ModelKey, *, limit: int) -> dict[str, str]:
        """What is still to embed with this model, by content key, as a model reads it; oldest first."""
        ...

    def count_missing(self, model: ModelKey) -> int:
        """How many texts have no vector of this model. Kept, not counted: every search asks."""
        ...

    def count_faults(self) -> list[str]:
        """Where the counts that are kept are wrong, in words; empty when they are right."""
        ...

    def recount(self) -> None:
        """Count anew what is kept."""
        ...

    def put_vectors(self, model: ModelKey, keys: Sequence[str], vectors: Vectors) -> None:
        """Store vectors by content key and tell the outbox which documents they complete."""
        ...

    def vectors(self, model: ModelKey, keys: Sequence[str]) -> dict[str, Vectors]:
        """The cached vectors among these content keys."""
        ...

    def drop_damaged(self, *, dry_run: bool = False, sample: int | None = None) -> int:
        """Remove the vectors that are not what was put; returns how many. ``sample`` looks at some only."""
        ...

    def models(self) -> dict[ModelKey, int]:
        """Each model with the number of its vectors."""
        ...

    def forget_unused(self, keep: Sequence[ModelKey]) -> int:
        """Drop vectors that no chunk uses, and all of models not named; returns how many."""
        ...

    def forget_surplus(self) -> int:
        """Drop vectors that no chunk uses where they have become many, and say how many; cheap otherwise."""
        ...


class Stores(Protocol):
    """The stores of one knowledge base."""

    @property
    def database(self) -> StoreFile: ...

    @property
    def documents(self) -> DocumentStore: ...

    @property
    def embeddings(self) -> EmbeddingStore: ...

    @property
    def ledger(self) -> Ledger: ...


class StoreAccess(Protocol):
    """Opens the stores: for reading at any time, for writing while nobody else writes."""

    @property
    def readonly(self) -> bool: ...

    def require(self) -> None:
        """Raises NotIndexed where there is no knowledge base, without opening one that is there."""
        ...

    @property
    def reading(self) -> Stores:
        """Raises NotIndexed where there is no knowledge base."""
        ...

    @property
    def reading_or_none(self) -> Stores | None: ...

    def session(
        self, command: str, *, in_charge: bool = False
    ) -> AbstractContextManager[tuple[Stores, Turns]]:
        """The stores, for writing turn by turn while others do too; created where they are missing.

        With ``in_charge`` it begins when no other run brings derived data up to date. Raises ReadOnly and
        Locked.
        """
        ...

    def writing(self, command: str) -> AbstractContextManager[Stores]:
        """The stores, for writing while nobody else does, created where they are missing.

        Raises ReadOnly, and Locked where others have not ended in time.
        """
        ...

    def locked(self, command: str) -> AbstractContextManager[None]:
        """Keep other writers out without opening the stores. Raises like ``writing``."""
        ...

    def lock_owner(self) -> str | None:
        """Who writes now, in words; None when nobody does."""
        ...

    def opened_copy(self, file: Path) -> AbstractContextManager[Stores]:
        """The stores of a copy, for reading, once it is known to be sound. Raises Corrupt."""
        ...

    def forbid_readonly(self, command: str) -> None:
        """Raises ReadOnly in read-only mode."""
        ...

    def close(self) -> None:
        """Let go of the files. The next use opens them again."""
        ...
