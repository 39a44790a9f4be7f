"""What a run has just stored, kept until the words index has taken it.

Reading the chunks back from the store and cutting them into words once more would take longer than storing
them did. What is not here is read and cut: nothing depends on it but speed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kebab.domain.chunk_words import ChunkWords
from kebab.domain.chunks import StoredChunk
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.ingests import FileState
from kebab.ingest.prepare import Prepared
from kebab.ports import DocumentStore

if TYPE_CHECKING:
    from kebab.ports import Vectors


class Fresh:
    """Chunks by document, and the words of some of them as the words index stores them."""

    def __init__(self) -> None:
        self.cut: dict[ChunkId, ChunkWords] = {}
        self.vectors: dict[str, Vectors] = {}
        """What was embedded on the way and is not stored yet, by content key."""
        self._chunks: dict[DocId, tuple[FileState, str, Sequence[StoredChunk]]] = {}

    def keep(self, prepared: Prepared, chunks: Sequence[StoredChunk]) -> None:
        """The chunks of a document as they were stored, with what else was made of them on the way."""
        state = prepared.state
        self._chunks[state.doc_id] = (state, prepared.document.source_id, chunks)
        if prepared.words:
            self.cut.update(zip((stored.chunk.chunk_id for stored in chunks), prepared.words, strict=True))
        if prepared.vectors is not None:
            self.vectors.update(zip((stored.content_key for stored in chunks), prepared.vectors, strict=True))

    def chunks(self, doc_ids: Sequence[DocId], store: DocumentStore) -> Iterator[StoredChunk]:
        """The chunks of these documents, document by document, from the store where they are not here."""
        unknown = []
        for doc_id in doc_ids:
            chunks = self._current(doc_id, store)
            if chunks is None:
                unknown.append(doc_id)
            else:
                yield from chunks
        if unknown:
            yield from store.stored_chunks(unknown)

    def _current(self, doc_id: DocId, store: DocumentStore) -> Sequence[StoredChunk] | None:
        """The document's chunks; None where a writer with other settings has cut it anew since."""
        if doc_id not in self._chunks:
            return None
        state, source_id, chunks = self._chunks[doc_id]
        now = store.file_state(source_id, state.path)
        if now is not None and now.fingerprint == state.fingerprint:
            return chunks
        # Other settings may give a chunk of the same id another text.
        for stored in chunks:
            self.cut.pop(stored.chunk.chunk_id, None)
        return None

    def forget(self) -> None:
        self.cut.clear()
        self.vectors.clear()
        self._chunks.clear()
