"""Documents inside walls."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from threading import Lock

from kebab.domain.chunks import Chunk, StoredChunk
from kebab.domain.documents import Document, DocumentSummary
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.ingests import FileState
from kebab.domain.queries import SearchFilters
from kebab.domain.walls import Walls
from kebab.errors import OutsideWalls
from kebab.ports import ChunkOwner, DocumentStore, ModelKey, PendingChange, StoreState

_REMEMBERED = 64
_MANY = 1000


class WalledDocumentStore:
    """DocumentStore for reading what is inside; it refuses to write.

    ``revision`` and ``state`` are those of the whole store: a cursor must end with any change.
    """

    def __init__(self, inner: DocumentStore, walls: Walls) -> None:
        self._inner = inner
        self._walls = walls
        self._lock = Lock()
        self._joined: dict[tuple[int, int], tuple[frozenset[DocId], ...]] = {}

    def inside(self) -> frozenset[DocId]:
        """The documents that exist here."""
        found = self._inner.matching(self._walls.documents)
        return frozenset() if found is None else found

    # --- reading -----------------------------------------------------------------------------------

    def matching(self, filters: SearchFilters) -> frozenset[DocId] | None:
        """Never None: also a search without filters looks at these documents alone."""
        inside, wanted = self.inside(), self._inner.matching(filters)
        return inside if wanted is None else self._both(inside, wanted)

    def _both(self, inside: frozenset[DocId], wanted: frozenset[DocId]) -> frozenset[DocId]:
        """The same set for the same two, so that the indexes can remember what they made of it."""
        key = (id(inside), id(wanted))
        with self._lock:
            known = self._joined.get(key)
            # The sets are kept beside their ids, which another set may have once they are gone.
            if known is None or known[0] is not inside or known[1] is not wanted:
                if len(self._joined) >= _REMEMBERED:
                    self._joined.clear()
                known = self._joined[key] = (inside, wanted, inside & wanted)
            return known[2]

    def list_documents(self, filters: SearchFilters | None = None) -> list[DocumentSummary]:
        inside = self.inside()
        return [doc for doc in self._inner.list_documents(filters) if doc.doc_id in inside]

    def document(self, doc_id: DocId) -> DocumentSummary | None:
        return self._inner.document(doc_id) if doc_id in self.inside() else None

    def find_documents(self, reference: str) -> list[DocumentSummary]:
        """An exact name outside must not hide a near one inside, so nearness is looked for here."""
        inside = self.inside()
        exact = [doc for doc in self._inner.find_documents(reference) if doc.doc_id in inside]
        if exact or not reference:
            return exact
        ending = f"/{reference}"
        return [
            doc
            for doc in self.list_documents()
            if doc.doc_id.startswith(reference) or doc.path.endswith(ending)
        ]

    def source_text(self, doc_id: DocId) -> str | None:
        return self._inner.source_text(doc_id) if doc_id in self.inside() else None

    def chunks_of(self, doc_id: DocId) -> list[StoredChunk]:
        return self._inner.chunks_of(doc_id) if doc_id in self.inside() else []

    def find_chunks(self, beginning: str) -> list[ChunkId]:
        found = self._inner.find_chunks(beginning)
        kept = self.hydrate(found)
        return [chunk for chunk in found if chunk in kept]

    def hydrate(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, StoredChunk]:
        inside = self.inside()
        found = self._inner.hydrate(chunk_ids)
        return {key: stored for key, stored in found.items() if stored.chunk.doc_id in inside}

    def owners(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, ChunkOwner]:
        inside = self.inside()
        found = self._inner.owners(chunk_ids)
        return {key: owner for key, owner in found.items() if owner.doc_id in inside}

    def unsketched(self, *, limit: int) -> list[DocId]:
        """None: nothing is written here."""
        return []

    def languages(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, str]:
        kept = self.hydrate(chunk_ids)
        return {key: lang for key, lang in self._inner.languages(chunk_ids).items() if key in kept}

    def defining(self, symbols: Sequence[str]) -> frozenset[ChunkId] | None:
        found = self._inner.defining(symbols)
        return None if found is None else frozenset(self.hydrate(sorted(found)))

    def stored_chunks(self, doc_ids: Sequence[DocId] | None = None) -> Iterator[StoredChunk]:
        inside = self.inside()
        wanted = sorted(inside) if doc_ids is None else [doc for doc in doc_ids if doc in inside]
        return self._inner.stored_chunks(wanted)

    def doc_ids(self) -> list[DocId]:
        return sorted(self.inside())

    def chunk_ids(self) -> set[ChunkId]:
        return {stored.chunk.chunk_id for stored in self.stored_chunks()}

    def counts(self) -> tuple[int, int]:
        documents = self.list_documents()
        return len(documents), sum(doc.chunk_count for doc in documents)

    def source_counts(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for doc in self.list_documents():
            found[doc.source_id] = found.get(doc.source_id, 0) + 1
        return found

    def file_states(self, source_id: str, under: Collection[str] = ()) -> dict[str, FileState]:
        states = self._inner.file_states(source_id, under)
        return {path: state for path, state in states.items() if self._walls.admits(source_id, path)}

    def file_state(self, source_id: str, path: str) -> FileState | None:
        return self._inner.file_state(source_id, path) if self._walls.admits(source_id, path) else None

    def states_of(self, places: Collection[tuple[str, str]]) -> dict[tuple[str, str], FileState]:
        return self._inner.states_of([place for place in places if self._walls.admits(*place)])

    def damaged(self, doc_ids: Sequence[DocId] | None = None) -> list[DocId]:
        inside = self.inside()
        return self._inner.damaged(sorted(inside) if doc_ids is None else [d for d in doc_ids if d in inside])

    def at_one_moment(self) -> AbstractContextManager[None]:
        return self._inner.at_one_moment()

    def state(self) -> StoreState:
        return self._inner.state()

    def revision(self) -> int:
        return self._inner.revision()

    # --- the outbox --------------------------------------------------------------------------------

    def pending(
        self, after: int, *, model: ModelKey | None = None, limit: int = 1000
    ) -> PendingChange | None:
        """Removed documents are left out: nobody knows any more where they lay."""
        found = self._inner.pending(after, model=model, limit=limit)
        if found is None:
            return None
        inside = self.inside()
        return PendingChange(found.upto, tuple(doc for doc in found.changed if doc in inside), ())

    def behind(self, after: int, *, model: ModelKey | None = None, at_most: int | None = None) -> int:
        """At most a thousand are looked at."""
        found = self.pending(after, model=model, limit=at_most or _MANY)
        return len(found.changed) if found else 0

    def latest(self) -> int:
        return self._inner.latest()

    def oldest(self) -> int:
        return self._inner.oldest()

    # --- writing -----------------------------------------------------------------------------------

    def together(self) -> AbstractContextManager[None]:
        raise _refused()

    def put(self, document: Document, chunks: Sequence[Chunk], state: FileState) -> list[StoredChunk]:
        raise _refused()

    def touch(self, source_id: str, states: Sequence[FileState]) -> None:
        raise _refused()

    def remove(self, doc_ids: Sequence[DocId]) -> None:
        raise _refused()

    def forget_times(self, *, except_source: str) -> None:
        raise _refused()

    def distrust(self, doc_ids: Sequence[DocId]) -> None:
        raise _refused()

    def put_sketches(self, sketches: Mapping[DocId, bytes]) -> None:
        raise _refused()

    def prune_outbox(self, upto: int) -> None:
        raise _refused()


def _refused() -> OutsideWalls:
    return OutsideWalls("documents inside walls are read, not written")
