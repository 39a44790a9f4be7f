"""Analysis ahead of time: parser processes cut chunks into terms while the main process writes.

Cutting text into terms is the costliest step of an ingest without embedding, and the index does it inside
``apply``, in the main process. So the index is given an analyzer that may know the answer already.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from kebab.domain.chunks import Chunk, StoredChunk, searchable_text
from kebab.domain.documents import Document
from kebab.ports import Analyzer


class ReadyTerms:
    """An analyzer that answers from what was prepared for it, once, and asks another one otherwise."""

    def __init__(self, analyzer: Analyzer, *, make: Callable[[], Analyzer]) -> None:
        """``make`` gives an analyzer of the same version; it travels to other processes by its name."""
        self.make = make
        self._analyzer = analyzer
        self._ready: dict[str, str] = {}

    @property
    def version(self) -> str:
        return self._analyzer.version

    def prepare(self, document: Document, chunks: Sequence[Chunk], terms: Sequence[str]) -> None:
        """Keep the terms of a document's chunks until the index asks for them; none is no terms at all."""
        if terms:
            texts = (searchable_text(_unstored(document, chunk)) for chunk in chunks)
            self._ready.update(zip(texts, terms, strict=True))

    def forget(self) -> None:
        """Drop what nobody asked for."""
        self._ready.clear()

    def index_text(self, text: str) -> str:
        ready = self._ready.pop(text, None)
        return self._analyzer.index_text(text) if ready is None else ready

    def terms(self, text: str) -> list[str]:
        return self._analyzer.terms(text)

    def phrase_terms(self, text: str) -> list[str]:
        return self._analyzer.phrase_terms(text)

    def query_terms(self, text: str) -> list[str]:
        return self._analyzer.query_terms(text)

    def matches(self, text: str, terms: Collection[str]) -> list[tuple[int, int]]:
        return self._analyzer.matches(text, terms)


def terms_of(document: Document, chunks: Sequence[Chunk], analyzer: Analyzer) -> tuple[str, ...]:
    """What the index will ask for: the terms of each chunk, as the index stores them."""
    return tuple(analyzer.index_text(searchable_text(_unstored(document, chunk))) for chunk in chunks)


def _unstored(document: Document, chunk: Chunk) -> StoredChunk:
    """The chunk as the store will give it back, as far as its searchable text goes."""
    metadata = document.metadata
    return StoredChunk(
        chunk=chunk,
        source_id=document.source_id,
        path=document.path,
        title=document.title,
        lang=document.lang,
        tags=metadata.tags,
        trust_level=metadata.trust_level,
        repo=metadata.repo,
        code_lang=metadata.code_lang,
        indexed_at="",
        content_key="",
    )
