"""Bringing derived data up to date with the store, or building it anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from kebab.domain.ingests import IngestPhase, IngestProgress
from kebab.domain.progress import Cancelled, Progress, never, silent
from kebab.domain.reports import IndexReport
from kebab.errors import KebabError
from kebab.ports import DocumentStore, Embedder, EmbeddingStore, LexicalIndex, ModelKey, VectorIndex


class CatchUp(Protocol):
    """The steps that ingest ends with too; ``kebab.ingest.catch_up`` is one."""

    def catch_up_lexical(self, store: DocumentStore, index: LexicalIndex) -> int: ...

    def catch_up_vector(
        self, store: DocumentStore, embeddings: EmbeddingStore, index: VectorIndex
    ) -> int: ...

    def embed_missing(
        self,
        embeddings: EmbeddingStore,
        embedder: Embedder,
        *,
        batch_size: int,
        progress: Callable[[int], None],
        cancelled: Cancelled,
    ) -> int: ...

    def prune(self, store: DocumentStore, indexes: Iterable[LexicalIndex | VectorIndex]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexer:
    """Lets the indexes follow the store. Killed at any moment, the next run goes on where it was."""

    store: DocumentStore
    embeddings: EmbeddingStore
    lexical: LexicalIndex
    embedder: Embedder | None
    vectors: VectorIndex | None
    """The index of the embedder's vectors; None together with it."""
    catch_up: CatchUp
    followers: tuple[VectorIndex, ...] = ()
    """Indexes that are not touched and still need the outbox: those of the model that answers."""
    batch_size: int = 64
    notes: tuple[str, ...] = ()
    """What the report is to say could not be done, such as loading the model."""

    def run(
        self,
        *,
        words: bool = True,
        meaning: bool = True,
        rebuild: bool = False,
        progress: Progress = silent,
        cancelled: Cancelled = never,
    ) -> IndexReport:
        """Bring the words index, the vectors and their index up to date; ``rebuild`` empties them first.

        Vectors are kept by content and survive a rebuild. One terminal event ends the progress.
        """
        began = time.perf_counter()
        progress(IngestProgress("started", IngestPhase.INDEX))
        try:
            embedded = self._follow(words, meaning, rebuild, progress, cancelled)
        except KebabError as error:
            progress(IngestProgress("failed", IngestPhase.FINISH, message=error.message))
            raise
        stopped = cancelled()
        progress(IngestProgress("cancelled" if stopped else "completed", IngestPhase.FINISH))
        return self._report(embedded, rebuild, stopped, round((time.perf_counter() - began) * 1000))

    def _follow(
        self, words: bool, meaning: bool, rebuild: bool, progress: Progress, cancelled: Cancelled
    ) -> int:
        embedded = 0
        if words:
            self._follow_words(rebuild)
        if meaning and self.embedder and self.vectors:
            embedded = self._embed(self.embedder, progress, cancelled)
            progress(IngestProgress("progress", IngestPhase.FINISH))
            self._follow_vectors(self.vectors, rebuild)
        own = (self.vectors,) if self.vectors else ()
        self.catch_up.prune(self.store, [self.lexical, *own, *self.followers])
        return embedded

    def _follow_words(self, rebuild: bool) -> None:
        if rebuild:
            self.lexical.clear()
        self.catch_up.catch_up_lexical(self.store, self.lexical)

    def _follow_vectors(self, index: VectorIndex, rebuild: bool) -> None:
        if rebuild:
            index.clear()
        if self.catch_up.catch_up_vector(self.store, self.embeddings, index):
            index.optimize()

    def _embed(self, embedder: Embedder, progress: Progress, cancelled: Cancelled) -> int:
        total = self.embeddings.count_missing(ModelKey.of(embedder))
        began = time.perf_counter()

        def advanced(done: int) -> None:
            spent = max(time.perf_counter() - began, 1e-9)
            rate = done / spent if done else None
            left = max(total - done, 0) / rate if rate else None
            progress(IngestProgress("progress", IngestPhase.EMBED, done, total, rate=rate, eta_s=left))

        advanced(0)
        return self.catch_up.embed_missing(
            self.embeddings, embedder, batch_size=self.batch_size, progress=advanced, cancelled=cancelled
        )

    def _report(self, embedded: int, rebuilt: bool, cancelled: bool, duration_ms: int) -> IndexReport:
        missing = self.embeddings.count_missing(ModelKey.of(self.embedder)) if self.embedder else 0
        return IndexReport(
            lexical_chunks=self.lexical.count(),
            vector_chunks=self.vectors.count() if self.vectors else 0,
            embedded=embedded,
            missing=missing,
            model=self.embedder.model_id if self.embedder else None,
            rebuilt=rebuilt,
            cancelled=cancelled,
            duration_ms=duration_ms,
            degraded=self.notes,
        )
