"""Examining a knowledge base, and mending what is derived."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kebab.domain.ingests import IngestPhase, IngestProgress
from kebab.domain.progress import Progress, inside, silent
from kebab.domain.reports import Check, CheckStatus
from kebab.errors import Corrupt, EngineError, EngineUnavailable, KebabError
from kebab.ports import Analyzer, DocumentStore, EmbeddingStore, Ledger, ModelKey, StoreFile
from kebab.upkeep.examine_indexes import (
    MISSING,
    MODEL,
    VECTORS,
    WORDS,
    examine_lexical,
    examine_missing,
    examine_model,
    examine_vectors,
    is_worn,
)
from kebab.upkeep.examine_store import (
    COUNTS,
    DOCUMENTS,
    STORE,
    Sample,
    examine_counts,
    examine_documents,
    examine_runs,
    examine_store,
    take_samples,
)
from kebab.upkeep.index import Indexer

_SICK = (CheckStatus.WARNING, CheckStatus.FAULT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doctor:
    """Looks at the stores and at everything derived from them; ``mend`` repairs the latter.

    A check that cannot be made because its engine fails is a fault, and does not keep the others from
    being made.
    """

    file: StoreFile
    store: DocumentStore
    embeddings: EmbeddingStore
    ledger: Ledger
    analyzer: Analyzer
    indexer: Indexer
    """Holds the indexes and the model, and brings them up to date when something is mended."""
    model_error: EngineError | None = None
    """Why the configured model cannot be used; the indexer then has none."""
    writing: bool = False
    """Whether another process writes now."""
    full: bool = False
    """Whether everything is read, not samples."""
    progress: Progress = silent
    """Hears which check is made, and how far it is."""
    read_again: Callable[[], object] | None = None
    """Brings the store up to date with its sources; what was damaged is read from them."""
    rng: random.Random = field(default_factory=random.Random)

    def examine(self) -> list[Check]:
        """Every check, in a fixed order."""
        store = self._made(STORE, lambda: examine_store(self.file))
        if store.status is CheckStatus.FAULT:
            return [store]  # what a damaged file says of the rest is not worth hearing
        documents = self._made(DOCUMENTS, self._documents)
        runs = guarded("ingest runs", lambda: examine_runs(self.ledger.running(), writing=self.writing))
        try:
            samples = take_samples(self.store, rng=self.rng)
        except EngineError:
            samples = []  # the documents' own check has told of it
        return [
            store,
            documents,
            self._made(COUNTS, lambda: examine_counts(self.embeddings)),
            runs,
            self._made(WORDS, lambda: self._words(samples)),
            *self._meaning(samples),
        ]

    def _made(self, name: str, check: Callable[[], Check]) -> Check:
        self.progress(IngestProgress("progress", IngestPhase.CHECK, path=name))
        return guarded(name, check)

    def mend(self) -> list[Check]:
        """Repair what can be and examine again; what was mended says so."""
        before = self.examine()
        sick = {check.name: check for check in before if check.status in _SICK}
        if not sick.keys() & {STORE, DOCUMENTS, COUNTS, WORDS, VECTORS, MODEL, MISSING, "ingest runs"}:
            with self.indexer.turns.turn():
                self._prune()
            return before
        turns = self.indexer.turns
        with turns.turn():
            if STORE in sick and not self._reindexed():
                return before
        self._mend_truth()
        with turns.turn():
            self._clear(sick)
        self._follow()
        with turns.turn():
            self._prune()
            self._close_runs()
        after = {check.name: check for check in self.examine()}
        known = {check.name for check in before}
        seen_now = [check for name, check in after.items() if name not in known]
        return [*(_mended(check, after.get(check.name, check)) for check in before), *seen_now]

    def _reindexed(self) -> bool:
        """Whether the damage was in the file's own indexes alone, which are made of its tables."""
        if not all("index" in fault for fault in self.file.faults()):
            return False
        try:
            self.file.reindex()
        except EngineError:
            return False
        return not self.file.faults()

    def _mend_truth(self) -> None:
        """Drop damaged vectors, and read damaged documents again from where they came."""
        with self.indexer.turns.turn():
            self.embeddings.drop_damaged()
            self.embeddings.recount()
        documents = guarded(DOCUMENTS, self._documents)
        if documents.status is CheckStatus.OK or self.read_again is None:
            return
        with self.indexer.turns.turn():
            self.store.distrust(self.store.damaged())
        try:
            self.read_again()
        except KebabError:
            return  # what is still damaged is found, and said, by the examination that follows

    def _follow(self) -> None:
        try:
            self.indexer.run(progress=inside(self.progress))
        except (Corrupt, EngineUnavailable):
            # What looked only behind cannot follow any more: everything derived is built anew.
            self.indexer.run(rebuild=True, progress=inside(self.progress))

    def _documents(self) -> Check:
        positions = [self.indexer.lexical.checkpoint()]
        if self.indexer.vectors is not None:
            positions.append(self.indexer.vectors.checkpoint())
        return examine_documents(
            self.store, positions=positions, rng=self.rng, full=self.full, progress=self.progress
        )

    def _words(self, samples: Sequence[Sample]) -> Check:
        return examine_lexical(self.indexer.lexical, self.store, self.analyzer, samples=samples)

    def _meaning(self, samples: Sequence[Sample]) -> list[Check]:
        embedder, vectors = self.indexer.embedder, self.indexer.vectors
        if self.model_error is not None:
            error = self.model_error
            return [Check(MODEL, CheckStatus.FAULT, error.message, error.hint)]
        checks = [self._made(MODEL, lambda: examine_model(embedder, self.embeddings, samples=samples))]
        if embedder is None or vectors is None:
            return checks
        return [
            *checks,
            self._made(
                MISSING,
                lambda: examine_missing(ModelKey.of(embedder), self.embeddings, full=self.full),
            ),
            self._made(
                VECTORS,
                lambda: examine_vectors(vectors, self.store, self.embeddings, samples=samples),
            ),
        ]

    def _clear(self, sick: dict[str, Check]) -> None:
        """Empty what is wrong or worn; what is only behind catches up without that."""
        faults = {name for name, check in sick.items() if check.status is CheckStatus.FAULT or is_worn(check)}
        embedder, vectors = self.indexer.embedder, self.indexer.vectors
        if WORDS in faults:
            self.indexer.lexical.clear()
        if MODEL in faults and embedder is not None:
            others = [model for model in self.embeddings.models() if model != ModelKey.of(embedder)]
            self.embeddings.forget_unused(others)
        if vectors is not None and faults & {MODEL, VECTORS}:
            vectors.clear()

    def _prune(self) -> None:
        """Drop vectors that no chunk uses; those of other models stay, for switching back."""
        self.embeddings.forget_unused(list(self.embeddings.models()))

    def _close_runs(self) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        for run in self.ledger.running():
            self.ledger.finish(run.cut_off(now))


def guarded(name: str, check: Callable[[], Check]) -> Check:
    """The check, or a fault with what its engine said."""
    try:
        return check()
    except EngineError as error:
        return Check(name, CheckStatus.FAULT, error.message, error.hint)


def _mended(before: Check, after: Check) -> Check:
    if before.status in _SICK and after.status is CheckStatus.OK:
        return Check(before.name, CheckStatus.REPAIRED, f"{after.detail}; was: {before.detail}")
    return after
