"""What a run has just stored, kept until the words index has taken it.

Reading the chunks back from the store and cutting them into terms once more would take longer than storing
them did. What is not here is read and cut: nothing depends on it but speed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kebab.domain.chunks import StoredChunk
from kebab.domain.ids import ChunkId, DocId
from kebab.ports import DocumentStore


class Fresh:
    """Chunks by document, and the terms of some of them as the words index stores them."""

    def __init__(self) -> None:
        self.terms: dict[ChunkId, str] = {}
        self._chunks: dict[DocId, Sequence[StoredChunk]] = {}

    def keep(self, doc_id: DocId, chunks: Sequence[StoredChunk], terms: Sequence[str]) -> None:
        """``terms`` is empty where nobody has made them yet."""
        self._chunks[doc_id] = chunks
        if terms:
            self.terms.update(zip((stored.chunk.chunk_id for stored in chunks), terms, strict=True))

    def chunks(self, doc_ids: Sequence[DocId], store: DocumentStore) -> Iterator[StoredChunk]:
        """The chunks of these documents, document by document, from the store where they are not here."""
        for doc_id in doc_ids:
            yield from self._chunks.get(doc_id, ())
        unknown = [doc_id for doc_id in doc_ids if doc_id not in self._chunks]
        if unknown:
            yield from store.stored_chunks(unknown)

    def forget(self) -> None:
        self.terms.clear()
        self._chunks.clear()
