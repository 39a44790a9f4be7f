"""What a run has just stored, kept until the words index has taken it.

Reading the chunks back from the store and cutting them into terms once more would take longer than storing
them did. What is not here is read and cut: nothing depends on it but speed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kebab.domain.chunks import StoredChunk
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.ingests import FileState
from kebab.ports import DocumentStore


class Fresh:
    """Chunks by document, and the terms of some of them as the words index stores them."""

    def __init__(self) -> None:
        self.terms: dict[ChunkId, str] = {}
        self._chunks: dict[DocId, tuple[FileState, str, Sequence[StoredChunk]]] = {}

    def keep(
        self, source_id: str, state: FileState, chunks: Sequence[StoredChunk], terms: Sequence[str]
    ) -> None:
        """The chunks of the document of a file; ``terms`` is empty where nobody has made them yet."""
        self._chunks[state.doc_id] = (state, source_id, chunks)
        if terms:
            self.terms.update(zip((stored.chunk.chunk_id for stored in chunks), terms, strict=True))

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
        return chunks if now is not None and now.fingerprint == state.fingerprint else None

    def forget(self) -> None:
        self.terms.clear()
        self._chunks.clear()
