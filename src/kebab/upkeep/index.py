"""Bringing derived data up to date with the store, or building it anew."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from kebab.domain.ingests import IngestPhase, IngestProgress
from kebab.domain.progress import Cancelled, Progress, Teller, never, silent
from kebab.domain.reports import IndexReport
from kebab.domain.turns import ALONE, Turns
from kebab.errors import EngineError, KebabError
from kebab.ingest.catch_up import catch_up_lexical, catch_up_vector, embed_missing, prune
from kebab.ingest.derive import ROUNDS
from kebab.ports import (
    DocumentStore,
    Embedder,
    EmbeddingStore,
    Indexes,
    LexicalIndex,
    ModelKey,
    StoreAccess,
    Stores,
    VectorIndex,
)
from kebab.upkeep.model_shelf import ModelShelf


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexer:
    """Lets the indexes follow the store. Killed at any moment, the next run goes on where it was."""

    store: DocumentStore
    embeddings: EmbeddingStore
    lexical: LexicalIndex
    embedder: Embedder | None
    vectors: VectorIndex | None
    """The index of the embedder's vectors; None together with it."""
    followers: tuple[VectorIndex, ...] = ()
    """Indexes that are not touched and still need the outbox: those of the model that answers."""
    batch_size: int = 64
    notes: tuple[str, ...] = ()
    """What the report is to say could not be done, such as loading the model."""
    turns: Turns = ALONE
    """Every change is made inside a turn; whoever runs this is in charge."""

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
        # Others may store something meanwhile and leave the indexes to this run, which ends when there is
        # nothing left: see Deriver.finish.
        for once in range(ROUNDS):
            if words:
                self._follow_words(rebuild and not once, progress)
            if meaning and self.embedder and self.vectors:
                embedded += self._embed(self.embedder, progress, cancelled)
                self._follow_vectors(self.vectors, rebuild and not once, progress)
            with self.turns.turn():
                if cancelled() or not self._is_behind(words, meaning):
                    self._leave()
                    break
        return embedded

    def _is_behind(self, words: bool, meaning: bool) -> bool:
        if words and self.store.behind(self.lexical.checkpoint()):
            return True
        index = self.vectors
        if not meaning or index is None:
            return False
        missing = self.embeddings.count_missing(index.model)
        return bool(missing or self.store.behind(index.checkpoint(), model=index.model))

    def _leave(self) -> None:
        own = (self.vectors,) if self.vectors else ()
        prune(self.store, [self.lexical, *own, *self.followers], turns=self.turns)
        self.turns.leave_charge()

    def _follow_words(self, rebuild: bool, progress: Progress) -> None:
        if rebuild:
            with self.turns.turn():
                self.lexical.clear()
        taken = self._taken(IngestPhase.WORDS, self.lexical.checkpoint(), progress)
        catch_up_lexical(self.store, self.lexical, applied=taken, turns=self.turns)

    def _follow_vectors(self, index: VectorIndex, rebuild: bool, progress: Progress) -> None:
        if rebuild:
            with self.turns.turn():
                index.clear()
        taken = self._taken(IngestPhase.VECTORS, index.checkpoint(), progress)
        if catch_up_vector(self.store, self.embeddings, index, applied=taken, turns=self.turns):
            progress(IngestProgress("progress", IngestPhase.FINISH))
        # Also where nothing was missing: an earlier version may have left another form.
        with self.turns.turn():
            index.optimize()

    def _taken(self, phase: IngestPhase, position: int, progress: Progress) -> Callable[[int], None]:
        """Hears how many chunks more an index has taken; of how many is known where it is built anew."""
        return Teller(phase, progress, total=self.store.counts()[1] if not position else 0).add

    def _embed(self, embedder: Embedder, progress: Progress, cancelled: Cancelled) -> int:
        missing = self.embeddings.count_missing(ModelKey.of(embedder))
        teller = Teller(IngestPhase.EMBED, progress, total=missing)
        teller.tell()
        return embed_missing(
            self.embeddings,
            embedder,
            batch_size=self.batch_size,
            progress=teller.reach,
            cancelled=cancelled,
            turns=self.turns,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexBuilder:
    """Makes indexers for the stores that are open, with the configured model or another one."""

    access: StoreAccess
    indexes: Indexes
    shelf: ModelShelf
    batch_size: int = 64

    def run(
        self,
        *,
        embeddings: bool,
        lexical: bool,
        rebuild: bool,
        model: str | None,
        batch_size: int | None,
        progress: Progress,
        cancelled: Cancelled,
    ) -> IndexReport:
        """Bring up to date what the flags name, or all of it. Raises NotIndexed, Locked, ModelUnavailable."""
        meaning = embeddings or model is not None
        self.access.require()
        with self.access.session("index", in_charge=True) as (stores, turns):
            indexer = self.indexer(stores, model=model, batch_size=batch_size, required=meaning, turns=turns)
            return indexer.run(
                words=lexical or not meaning,
                meaning=meaning or not lexical,
                rebuild=rebuild,
                progress=progress,
                cancelled=cancelled,
            )

    def indexer(
        self,
        stores: Stores,
        *,
        model: str | None = None,
        batch_size: int | None = None,
        required: bool = False,
        turns: Turns = ALONE,
    ) -> Indexer:
        """With ``required`` a model that cannot be loaded is raised; otherwise the report says so."""
        notes: tuple[str, ...] = ()
        embedder, vectors = None, None
        try:
            embedder, vectors = self.meaning(model)
        except EngineError as error:
            if required:
                raise
            notes = (f"not embedded: {error.message}",)
        return Indexer(
            store=stores.documents,
            embeddings=stores.embeddings,
            lexical=self.indexes.lexical_index,
            embedder=embedder,
            vectors=vectors,
            followers=self._answering() if model else (),
            batch_size=batch_size or self.batch_size,
            notes=notes,
            turns=turns,
        )

    def meaning(self, model: str | None = None) -> tuple[Embedder | None, VectorIndex | None]:
        """The named model, or the configured one, with its index. Raises ModelUnavailable, Timeout."""
        shelf = self.shelf
        embedder = shelf.available.embedder if model is None else shelf.build(shelf.choice(model))
        return embedder, self.indexes.vector_index(ModelKey.of(embedder)) if embedder else None

    def _answering(self) -> tuple[VectorIndex, ...]:
        """The vector index that searches use; none where its model cannot be loaded."""
        embedder = self.shelf.available.embedder_or_none
        return (self.indexes.vector_index(ModelKey.of(embedder)),) if embedder else ()
