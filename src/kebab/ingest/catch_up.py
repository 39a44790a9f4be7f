"""Bringing what is derived up to date with the store: the words index, the vectors, the vector index.

Every step reads the store's outbox and may be repeated: a run that was killed is continued by the next one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from kebab.domain.chunks import StoredChunk, embedding_input
from kebab.ports import (
    DocumentStore,
    Embedder,
    EmbeddingKind,
    EmbeddingStore,
    LexicalIndex,
    ModelKey,
    VectorIndex,
)

if TYPE_CHECKING:
    from kebab.ports import Vectors

DOCS_A_BATCH = 1000
CHUNKS_A_BATCH = 8192
WINDOW = 512
"""Chunks embedded before their vectors are written."""
WINDOW_SECONDS = 10.0
"""A slow model writes what it has after this time, so that a kill loses little."""

Counted = Callable[[int], None]


def _uncounted(_: int) -> None:
    pass


def _never() -> bool:
    return False


def catch_up_lexical(store: DocumentStore, index: LexicalIndex, *, applied: Counted = _uncounted) -> int:
    """Apply what the words index lacks; returns how many chunks were added.

    ``applied`` hears the number of chunks of each batch.
    """

    def apply(removed: Sequence[str], chunks: list[StoredChunk], checkpoint: int) -> None:
        index.apply(removed=removed, chunks=chunks, checkpoint=checkpoint)  # type: ignore[arg-type]
        applied(len(chunks))

    return _catch_up(store, index, apply, model=None)


def catch_up_vector(
    store: DocumentStore, embeddings: EmbeddingStore, index: VectorIndex, *, applied: Counted = _uncounted
) -> int:
    """Apply what the vector index lacks; a chunk without a vector waits until it has one."""

    def apply(removed: Sequence[str], chunks: list[StoredChunk], checkpoint: int) -> None:
        keys = list(dict.fromkeys(stored.content_key for stored in chunks))
        vectors = embeddings.vectors(index.model, keys)
        index.apply(removed=removed, chunks=chunks, vectors=vectors, checkpoint=checkpoint)  # type: ignore[arg-type]
        applied(len(chunks))

    return _catch_up(store, index, apply, model=index.model)


_Apply = Callable[[Sequence[str], list[StoredChunk], int], None]


def _catch_up(
    store: DocumentStore, index: LexicalIndex | VectorIndex, apply: _Apply, *, model: ModelKey | None
) -> int:
    position = index.checkpoint()
    if position < store.oldest() or (position == 0 and store.latest() > 0):
        return _rebuild(store, index, apply)
    count = 0
    while change := store.pending(position, model=model, limit=DOCS_A_BATCH):
        chunks = list(store.stored_chunks(change.changed))
        # A changed document is dropped as well before it is added: applying twice is applying once.
        apply((*change.removed, *change.changed), chunks, change.upto)
        count += len(chunks)
        position = change.upto
    return count


def _rebuild(store: DocumentStore, index: LexicalIndex | VectorIndex, apply: _Apply) -> int:
    """Build anew. The position stays 0 until the last batch, so that a half-built index is begun again."""
    index.clear()
    latest, count = store.latest(), 0
    for batch in _batches(store.stored_chunks(), CHUNKS_A_BATCH):
        apply((), batch, 0)
        count += len(batch)
    apply((), [], latest)
    return count


def _batches(chunks: Iterable[StoredChunk], size: int) -> Iterator[list[StoredChunk]]:
    chunks = iter(chunks)
    while batch := list(islice(chunks, size)):
        yield batch


def prune(store: DocumentStore, indexes: Iterable[LexicalIndex | VectorIndex]) -> None:
    """Forget the part of the outbox that every index has applied."""
    upto = min((index.checkpoint() for index in indexes), default=0)
    if upto > store.oldest():
        store.prune_outbox(upto)


def model_key(embedder: Embedder) -> ModelKey:
    return ModelKey(embedder.model_id, embedder.version, embedder.dimensions)


def embed_missing(
    embeddings: EmbeddingStore,
    embedder: Embedder,
    *,
    batch_size: int = 64,
    progress: Callable[[int], None] = _uncounted,
    cancelled: Callable[[], bool] = _never,
) -> int:
    """Embed every chunk whose content lacks a vector of this model; returns how many.

    ``progress`` hears the number done so far. Raises ModelUnavailable; what was done before it is kept.
    """
    with EmbeddingPump(embeddings, embedder, batch_size=batch_size, cancelled=cancelled) as pump:
        pump.drain(progress)
        return pump.done


@dataclass(slots=True)
class EmbeddingPump:
    """Embeds in a thread of its own while its owner goes on; only the owner's thread uses the store.

    Chunks of a window are embedded in order of length, so that a batch is not padded to its longest text.
    """

    embeddings: EmbeddingStore
    embedder: Embedder
    batch_size: int = 64
    cancelled: Callable[[], bool] = _never
    done: int = 0
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "kebab-embed"))
    _flight: Future[tuple[list[str], Vectors]] | None = None

    def __enter__(self) -> EmbeddingPump:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)

    def step(self) -> None:
        """Write the vectors that are ready, and begin the next window; never waits."""
        if self._flight is None or self._flight.done():
            self._land()
            self._launch()

    def drain(self, progress: Callable[[int], None] = _uncounted) -> None:
        """Embed until nothing is missing, or until cancelled."""
        self._launch()
        while self._flight is not None:
            self._land()
            progress(self.done)
            self._launch()

    def _launch(self) -> None:
        if self._flight is None and not self.cancelled():
            window = self.embeddings.missing(model_key(self.embedder), limit=WINDOW)
            if window:
                self._flight = self._thread.submit(self._embed, window)

    def _land(self) -> None:
        if self._flight is None:
            return
        flight, self._flight = self._flight, None
        keys, vectors = flight.result()
        if keys:
            self.embeddings.put_vectors(model_key(self.embedder), keys, vectors)
            self.done += len(keys)

    def _embed(self, window: list[StoredChunk]) -> tuple[list[str], Vectors]:
        import numpy as np

        texts = {stored.content_key: _embedded_text(stored) for stored in window}
        keys = sorted(texts, key=lambda key: (len(texts[key]), key))
        rows: list[Vectors] = []
        deadline = time.monotonic() + WINDOW_SECONDS
        for start in range(0, len(keys), self.batch_size):
            if rows and (self.cancelled() or time.monotonic() > deadline):
                break
            batch = [texts[key] for key in keys[start : start + self.batch_size]]
            rows.append(self.embedder.embed(batch, EmbeddingKind.DOCUMENT))
        vectors = np.concatenate(rows)
        return keys[: len(vectors)], vectors


def _embedded_text(stored: StoredChunk) -> str:
    chunk = stored.chunk
    return embedding_input(title=stored.title, heading_path=chunk.heading_path, text=chunk.text)
