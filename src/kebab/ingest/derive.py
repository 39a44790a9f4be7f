"""What follows the documents during a run: the words index, the vectors and the vector index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kebab.domain.ingests import IngestPhase
from kebab.errors import ModelUnavailable, Timeout
from kebab.ingest.catch_up import EmbeddingPump, catch_up_lexical, catch_up_vector, prune
from kebab.ingest.fresh import Fresh
from kebab.ingest.ledger import RunLog
from kebab.ports import DocumentStore, EmbeddingStore, LexicalIndex, ModelKey, VectorIndex

VECTORS_A_CATCH_UP = 4096


@dataclass(slots=True, kw_only=True)
class Deriver:
    """Keeps derived data close behind what one run stores.

    A model that fails is noted in the log and left alone for the rest of the run: the words are indexed all
    the same, and the next run embeds what is missing.
    """

    store: DocumentStore
    embeddings: EmbeddingStore
    lexical: LexicalIndex
    vectors: VectorIndex | None
    log: RunLog
    pump: EmbeddingPump | None
    """Embeds beside the run; None without a model, and once the model failed."""

    def words(self, fresh: Fresh) -> None:
        """Let the words index take what is stored; ``fresh`` is forgotten afterwards."""
        with self.log.stage("words"):
            catch_up_lexical(self.store, self.lexical, fresh=fresh)
            fresh.forget()

    def step(self) -> None:
        """Write the vectors that are ready; never waits for the model."""
        if self.pump is None:
            return
        try:
            self.pump.step()
        except (ModelUnavailable, Timeout) as error:
            self._without_model(self.pump, error)

    def embed(self) -> None:
        """Embed until no vector is missing."""
        if self.pump is None:
            return
        pump, embedder = self.pump, self.pump.embedder
        try:
            total = pump.done + self.embeddings.count_missing(ModelKey.of(embedder))
            if total:
                self.log.enter(IngestPhase.EMBED, total=total, message=embedder.model_id)
            with self.log.stage("embed"):
                pump.drain(self._vectors_follow())
        except (ModelUnavailable, Timeout) as error:
            self._without_model(pump, error)
        finally:
            self.log.embedded = pump.done

    def finish(self) -> None:
        """Let the vector index take the rest, and forget the part of the outbox that nobody needs."""
        indexes: list[LexicalIndex | VectorIndex] = [self.lexical]
        with self.log.stage("vectors"):
            if self.vectors is not None:
                if catch_up_vector(self.store, self.embeddings, self.vectors):
                    self.vectors.optimize()
                indexes.append(self.vectors)
            prune(self.store, indexes)

    def _vectors_follow(self) -> Callable[[int], None]:
        """Hears how many vectors there are, and lets the vector index follow while the model works."""
        applied = 0

        def heard(done: int) -> None:
            nonlocal applied
            self.log.advance(done)
            if self.vectors is not None and done - applied >= VECTORS_A_CATCH_UP:
                catch_up_vector(self.store, self.embeddings, self.vectors)
                applied = done

        return heard

    def _without_model(self, pump: EmbeddingPump, error: ModelUnavailable | Timeout) -> None:
        self.log.embedded = pump.done
        self.log.degraded.append(f"not embedded: {error.message}")
        self.pump = None
