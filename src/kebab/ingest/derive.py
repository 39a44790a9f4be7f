"""What follows the documents during a run: the words index, the vectors and the vector index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kebab.domain.ingests import IngestPhase
from kebab.domain.progress import Cancelled
from kebab.domain.turns import ALONE, Turns
from kebab.errors import EngineUnavailable, ModelUnavailable, StorageError, Timeout
from kebab.ingest.allocator import give_back
from kebab.ingest.beside import Beside
from kebab.ingest.catch_up import EmbeddingPump, catch_up_lexical, catch_up_vector, next_words, prune
from kebab.ingest.fresh import Fresh
from kebab.ingest.ledger import RunLog
from kebab.ingest.wear import write_sums_anew, write_worn_anew
from kebab.ports import DocumentStore, EmbeddingStore, LexicalIndex, ModelKey, VectorIndex

VECTORS_A_CATCH_UP = 4096
FEW_DOCUMENTS = 100
"""So many are indexed by a run that is not in charge."""
ROUNDS = 20
"""How often the run that is in charge looks for what others stored while it finished."""


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
    beside: Beside
    turns: Turns = ALONE
    embeds_on_the_way: bool = False
    """Vectors come along with the documents."""

    def words(self, fresh: Fresh) -> None:
        """Let the words index take what is stored; ``fresh`` is forgotten afterwards."""
        with self.log.stage("words"):
            self.beside.settle()
            if self.turns.take_charge():
                catch_up_lexical(self.store, self.lexical, fresh=fresh, turns=self.turns)
            else:
                self._few_words(fresh)
        self._vectors_of(fresh)
        fresh.forget()

    def words_beside(self, fresh: Fresh) -> Fresh:
        """The same, while the run goes on. Returns what is to hold what is stored from now on."""
        with self.log.stage("words"):
            begun = self.turns.take_charge() and self.beside.start(
                lambda: next_words(self.store, self.lexical, fresh)
            )
        if not begun:
            self.words(fresh)
            return fresh
        self._vectors_of(fresh)
        give_back()
        return Fresh()

    def settle(self) -> None:
        """End what goes on beside the run, before the run waits for something else."""
        with self.log.stage("words"):
            self.beside.settle()

    def _vectors_of(self, fresh: Fresh) -> None:
        """Let the vector index follow while the chunks are at hand, and need not be read back."""
        if self.embeds_on_the_way and self.vectors is not None and self.turns.take_charge():
            with self.log.stage("vectors"):
                catch_up_vector(self.store, self.embeddings, self.vectors, fresh=fresh, turns=self.turns)

    def take_vectors(self, fresh: Fresh) -> None:
        """Store what was embedded on the way, in the transaction of its documents."""
        if self.pump is not None and fresh.vectors:
            self.pump.take(fresh.vectors)
            fresh.vectors.clear()

    def _few_words(self, fresh: Fresh) -> None:
        """While another run is in charge, a few documents are indexed all the same: a note is found at once.

        More are left to that run, and so is an index that is being built.
        """
        with self.turns.turn():
            position = self.lexical.checkpoint()
            if position and self.store.behind(position) <= FEW_DOCUMENTS:
                catch_up_lexical(self.store, self.lexical, fresh=fresh, turns=self.turns)

    def step(self) -> None:
        """Write the vectors that are ready; never waits for the model."""
        self.beside.settle(wait=False)
        if self.pump is None or not self.turns.take_charge():
            return
        try:
            self.pump.step()
        except (ModelUnavailable, Timeout) as error:
            self._without_model(self.pump, error)

    def embed(self) -> None:
        """Embed until no vector is missing, unless another run does."""
        if self.pump is None or not self.turns.take_charge():
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

    def finish(self, cancelled: Cancelled) -> None:
        """Let the indexes take the rest, also of what others store meanwhile, and leave the charge.

        Whoever stores something while this run is in charge leaves the indexes to it. So the charge is left
        in a turn that finds nothing to do: what comes later finds nobody in charge.
        """
        if not self.turns.take_charge():
            self.log.degraded.append(
                f"the indexes follow when {self.turns.in_charge() or 'another run'} gets to it"
            )
            return
        for _ in range(ROUNDS):
            self._follow_vectors()
            with self.turns.turn():
                if cancelled() or self._is_done():
                    self._leave()
                    return
            self.words(Fresh())
            self.embed()
        with self.turns.turn():
            self._leave()

    def tidy(self, cancelled: Cancelled) -> None:
        """Write a worn words index anew, which may take as long as the ingest of everything did.

        Nothing depends on it but speed: where there is no room for it, the log says so and the run goes on.
        """
        if not self.turns.take_charge():
            return
        with self.log.stage("words"):
            try:
                write_worn_anew(self.store, self.lexical, turns=self.turns, cancelled=cancelled)
            except (StorageError, EngineUnavailable) as error:
                self.log.degraded.append(f"the words index keeps removed rows: {error.message}")

    def mend(self) -> None:
        """Put right what a run may have left that was killed while it changed nothing but how indexes lie."""
        if self.log.after_killed and self.turns.take_charge():
            write_sums_anew(self.lexical, turns=self.turns)

    def _follow_vectors(self) -> None:
        if self.vectors is not None:
            with self.log.stage("vectors"):
                applied = catch_up_vector(self.store, self.embeddings, self.vectors, turns=self.turns)
                # While the model worked, the index took what was ready, piece by piece.
                if applied or self.log.embedded:
                    with self.turns.turn():
                        self.vectors.optimize()

    def _is_done(self) -> bool:
        if self.store.behind(self.lexical.checkpoint()):
            return False
        if self.vectors is None:
            return True
        model = self.vectors.model
        missing = self.pump is not None and self.embeddings.count_missing(model)
        return not missing and not self.store.behind(self.vectors.checkpoint(), model=model)

    def _leave(self) -> None:
        """Forget what nobody needs of the outbox and of the vectors, and let another run be in charge."""
        prune(self.store, [self.lexical, *([self.vectors] if self.vectors else [])], turns=self.turns)
        with self.turns.turn():
            self.embeddings.forget_surplus()
        self.turns.leave_charge()

    def _vectors_follow(self) -> Callable[[int], None]:
        """Hears how many vectors there are, and lets both indexes follow while the model works.

        A model may take hours: what others store meanwhile is found by its words long before.
        """
        applied = 0

        def heard(done: int) -> None:
            nonlocal applied
            self.log.advance(done)
            if self.store.behind(self.lexical.checkpoint()):
                self.words(Fresh())
            if self.vectors is not None and done - applied >= VECTORS_A_CATCH_UP:
                catch_up_vector(self.store, self.embeddings, self.vectors, turns=self.turns)
                applied = done

        return heard

    def _without_model(self, pump: EmbeddingPump, error: ModelUnavailable | Timeout) -> None:
        self.log.embedded = pump.done
        self.log.degraded.append(f"not embedded: {error.message}")
        self.pump = None
