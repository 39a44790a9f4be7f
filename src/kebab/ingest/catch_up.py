"""Bringing what is derived up to date with the store: the words index, the vectors, the vector index.

Every step reads the store's outbox and may be repeated: a run that was killed is continued by the next one.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from kebab.domain.chunks import StoredChunk
from kebab.domain.ids import DocId
from kebab.domain.progress import Cancelled, never
from kebab.domain.turns import ALONE, Turns
from kebab.ingest.fresh import Fresh
from kebab.ingest.lean import leaning
from kebab.ingest.staff import EMBED
from kebab.ports import (
    DocumentStore,
    Embedder,
    EmbeddingKind,
    EmbeddingStore,
    LexicalIndex,
    ModelKey,
    VectorIndex,
    WorkerDied,
    Workers,
)

if TYPE_CHECKING:
    from kebab.ports import Vectors

DOCS_A_BATCH = 1000
CHUNKS_A_BATCH = 8192
WINDOW = 512
"""Chunks embedded before their vectors are written."""
WINDOWS_AHEAD = 4
WINDOW_SECONDS = 10.0
"""A slow model writes what it has after this time, so that a kill loses little."""

Counted = Callable[[int], None]


def _uncounted(_: int) -> None:
    pass


def catch_up_lexical(
    store: DocumentStore,
    index: LexicalIndex,
    *,
    fresh: Fresh | None = None,
    applied: Counted = _uncounted,
    turns: Turns = ALONE,
) -> int:
    """Apply what the words index lacks, a turn for each batch; returns how many chunks were added.

    ``fresh`` may hold some of them ready. ``applied`` hears the number of chunks of each batch.
    """
    fresh = fresh or Fresh()

    def apply(removed: Sequence[DocId], chunks: list[StoredChunk], checkpoint: int) -> None:
        index.apply(removed=removed, chunks=chunks, checkpoint=checkpoint, cut=fresh.cut)
        applied(len(chunks))

    return _catch_up(store, index, apply, model=None, fresh=fresh, turns=turns)


def next_words(store: DocumentStore, index: LexicalIndex, fresh: Fresh) -> Callable[[], None] | None:
    """Adds to the words index what it lacks, or the first of it, and needs no store for that.

    None where it lacks nothing, or has to be built anew. To be called, and done, inside a turn.
    """
    position = index.checkpoint()
    if _is_foreign(store, position):
        return None
    change = store.pending(position, limit=DOCS_A_BATCH)
    if not change:
        return None
    chunks, cut = list(fresh.chunks(change.changed, store)), fresh.cut
    gone = (*change.removed, *change.changed)
    return lambda: index.apply(removed=gone, chunks=chunks, checkpoint=change.upto, cut=cut)


def catch_up_vector(
    store: DocumentStore,
    embeddings: EmbeddingStore,
    index: VectorIndex,
    *,
    fresh: Fresh | None = None,
    applied: Counted = _uncounted,
    turns: Turns = ALONE,
) -> int:
    """Apply what the vector index lacks; a chunk without a vector waits until it has one.

    ``fresh`` may hold some of the chunks ready.
    """

    def apply(removed: Sequence[DocId], chunks: list[StoredChunk], checkpoint: int) -> None:
        keys = list(dict.fromkeys(stored.content_key for stored in chunks))
        vectors = leaning(chunks, embeddings.vectors(index.model, keys))
        index.apply(removed=removed, chunks=chunks, vectors=vectors, checkpoint=checkpoint)
        applied(len(chunks))

    return _catch_up(store, index, apply, model=index.model, fresh=fresh or Fresh(), turns=turns)


_Apply = Callable[[Sequence[DocId], list[StoredChunk], int], None]


def _catch_up(
    store: DocumentStore,
    index: LexicalIndex | VectorIndex,
    apply: _Apply,
    *,
    model: ModelKey | None,
    fresh: Fresh,
    turns: Turns,
) -> int:
    count = 0
    while True:
        with turns.turn():
            # Others may have applied something, or pruned, since the last turn.
            position = index.checkpoint()
            foreign = _is_foreign(store, position)
            change = None if foreign else store.pending(position, model=model, limit=DOCS_A_BATCH)
            if change:
                chunks = list(fresh.chunks(change.changed, store))
                # A changed document is dropped as well before it is added: applying twice is applying once.
                apply((*change.removed, *change.changed), chunks, change.upto)
                count += len(chunks)
        if foreign:
            count += _rebuild(store, index, apply, turns)
        elif not change:
            return count


def _is_foreign(store: DocumentStore, position: int) -> bool:
    """Whether an index that stands here cannot follow: it is new, too old, or of another store."""
    latest = store.latest()
    return not store.oldest() <= position <= latest or (position == 0 and latest > 0)


def _rebuild(store: DocumentStore, index: LexicalIndex | VectorIndex, apply: _Apply, turns: Turns) -> int:
    """Build anew. The position stays 0 until the last batch, so that a half-built index is begun again.

    What others store meanwhile stands in the outbox behind the position that is recorded at the end.
    """
    with turns.turn():
        index.clear()
        latest, count = store.latest(), 0
    for batch in _batches(store.stored_chunks(), CHUNKS_A_BATCH):
        with turns.turn():
            apply((), batch, 0)
        count += len(batch)
    with turns.turn():
        apply((), [], latest)
    return count


def _batches(chunks: Iterable[StoredChunk], size: int) -> Iterator[list[StoredChunk]]:
    """Whole documents, about ``size`` chunks together: applying part of a document would drop the rest."""
    batch: list[StoredChunk] = []
    for _, document in groupby(chunks, key=lambda stored: stored.chunk.doc_id):
        batch += document
        if len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch


def prune(
    store: DocumentStore, indexes: Iterable[LexicalIndex | VectorIndex], *, turns: Turns = ALONE
) -> None:
    """Forget the part of the outbox that every index has applied. Only whoever is in charge may."""
    with turns.turn():
        upto = min((index.checkpoint() for index in indexes), default=0)
        if upto > store.oldest():
            store.prune_outbox(upto)


def embed_missing(
    embeddings: EmbeddingStore,
    embedder: Embedder,
    *,
    batch_size: int = 64,
    progress: Callable[[int], None] = _uncounted,
    cancelled: Cancelled = never,
    turns: Turns = ALONE,
) -> int:
    """Embed every chunk whose content lacks a vector of this model; returns how many.

    ``progress`` hears the number done so far. Raises ModelUnavailable; what was done before it is kept.
    """
    pumping = EmbeddingPump(embeddings, embedder, batch_size=batch_size, cancelled=cancelled, turns=turns)
    with pumping as pump:
        pump.drain(progress)
        return pump.done


@dataclass(frozen=True, slots=True)
class _Flight:
    """A window on its way; vectors come in the order of the keys, maybe not for all."""

    keys: list[str]
    texts: list[str]
    vectors: Future[Vectors | None]


@dataclass(slots=True)
class EmbeddingPump:
    """Embeds beside its owner, who goes on; only the owner's thread uses the store.

    Chunks of a window are embedded in order of length, so that a batch is not padded to its longest text.
    """

    embeddings: EmbeddingStore
    embedder: Embedder
    batch_size: int = 64
    cancelled: Cancelled = never
    workers: Workers | None = None
    """Processes with the job EMBED, which embeds with this model; without them, a thread of this process."""
    turns: Turns = ALONE
    done: int = 0
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "kebab-embed"))
    _flights: deque[_Flight] = field(default_factory=deque)

    def __enter__(self) -> EmbeddingPump:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)

    def step(self) -> None:
        """Write the vectors that are ready, and see that the thread has work; never waits."""
        while self._flights and self._flights[0].vectors.done():
            self._land()
        self._launch()

    def drain(self, progress: Callable[[int], None] = _uncounted) -> None:
        """Embed until nothing is missing, or until cancelled."""
        self._launch()
        while self._flights:
            self._land()
            self._launch()
            progress(self.done)

    def take(self, vectors: Mapping[str, Vectors]) -> None:
        """Store vectors that were made elsewhere, by content key; those that are known already count not."""
        import numpy as np

        model = ModelKey.of(self.embedder)
        known = self.embeddings.vectors(model, list(vectors))
        new = {key: row for key, row in vectors.items() if key not in known}
        if new:
            self.embeddings.put_vectors(model, list(new), np.stack(list(new.values())))
            self.done += len(new)

    def _launch(self) -> None:
        """Keep some windows waiting: the owner may be busy for seconds, and the thread must not be idle."""
        if len(self._flights) > self._ahead // 2 or self.cancelled() or not self._lacking:
            return
        flying = {key for flight in self._flights for key in flight.keys}
        missing = self.embeddings.missing(ModelKey.of(self.embedder), limit=WINDOW * self._ahead)
        waiting = [key for key in missing if key not in flying]
        for start in range(0, len(waiting), WINDOW):
            keys = sorted(waiting[start : start + WINDOW], key=lambda key: (len(missing[key]), key))
            self._flights.append(self._sent(keys, [missing[key] for key in keys]))

    @property
    def _lacking(self) -> int:
        return self.embeddings.count_missing(ModelKey.of(self.embedder))

    @property
    def _ahead(self) -> int:
        """Windows that are kept waiting: two for each worker, so that none is ever idle."""
        return max(WINDOWS_AHEAD, 2 * len(self.workers) if self.workers is not None else 0)

    def _land(self) -> None:
        flight = self._flights.popleft()
        vectors = self._received(flight)
        if vectors is not None:
            keys = flight.keys[: len(vectors)]
            with self.turns.turn():
                self.embeddings.put_vectors(ModelKey.of(self.embedder), keys, vectors)
            self.done += len(keys)

    def _sent(self, keys: list[str], texts: list[str]) -> _Flight:
        if self.workers is None:
            return _Flight(keys, texts, self._thread.submit(self._embed, texts))
        return _Flight(keys, texts, self.workers.submit(EMBED, texts))

    def _received(self, flight: _Flight) -> Vectors | None:
        try:
            return flight.vectors.result()
        except WorkerDied:
            # Whatever is wrong with the model shows here, by its name.
            return self._embed(flight.texts)

    def _embed(self, texts: list[str]) -> Vectors | None:
        """Vectors of the texts, or of the first of them when time is up; None when there was none."""
        import numpy as np

        rows: list[Vectors] = []
        deadline = time.monotonic() + WINDOW_SECONDS
        for start in range(0, len(texts), self.batch_size):
            if self.cancelled() or (rows and time.monotonic() > deadline):
                break
            rows.append(self.embedder.embed(texts[start : start + self.batch_size], EmbeddingKind.DOCUMENT))
        return np.concatenate(rows) if rows else None
