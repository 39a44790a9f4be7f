"""Storing what was read of the files, batch by batch, and removing what is gone."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kebab.domain.progress import Cancelled
from kebab.domain.turns import Turns
from kebab.errors import InvalidInput
from kebab.ingest.changes import Changes
from kebab.ingest.derive import Deriver
from kebab.ingest.fresh import Fresh
from kebab.ingest.ledger import RunLog
from kebab.ingest.outcomes import record, removed, unstorable
from kebab.ingest.overtaken import Seen
from kebab.ingest.prepare import Prepared, Result, SameContent
from kebab.ports import DocumentStore

CHUNKS_A_CATCH_UP = 3000
CHUNKS_A_TURN = 1500
TURN_S = 1.0
"""So many are stored in one transaction, of batches that come within this time. Their names are hashes: each
changes a page of its own in every index of a large table, and a commit writes all of them."""
DOCS_A_STEP = 20
"""How often the embedding beside the run is looked after."""
DOCS_A_REMOVAL = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Storing:
    """Writes what one run found, turn by turn, with what is derived close behind."""

    store: DocumentStore
    turns: Turns
    seen: Seen
    log: RunLog
    derived: Deriver

    def all(self, batches: Iterator[list[Result]], cancelled: Cancelled) -> None:
        """Store what was read as it comes."""
        fresh = Fresh()
        unstepped = unindexed = 0
        while not cancelled():
            with self.log.stage("parse"):
                results = _some(batches)
            if not results:
                break
            self._keep_all(results, fresh)
            written = _chunks(results)
            unstepped += len(written)
            unindexed += sum(written)
            if unstepped >= DOCS_A_STEP:
                unstepped = 0
                self.derived.step()
            if unindexed >= CHUNKS_A_CATCH_UP:
                unindexed = 0
                fresh = self.derived.words_beside(fresh)
        self.derived.words(fresh)

    def remove(self, change: Changes) -> None:
        """Remove what is gone from a source."""
        for start in range(0, len(change.gone), DOCS_A_REMOVAL):
            with self.turns.turn(), self.log.stage("store"):
                some = change.gone[start : start + DOCS_A_REMOVAL]
                gone = self.seen.still_gone(change.source.id, some)
                self.store.remove([state.doc_id for state in gone])
            self.log.skipped(removed(change.source.id, state) for state in gone)

    def _keep_all(self, results: Sequence[Result], fresh: Fresh) -> None:
        """Store the results in one transaction; where one of them cannot be stored, each in its own."""
        try:
            with self.turns.turn(), self.log.stage("store"), self.store.together():
                fresh.vectors.clear()  # of documents whose transaction failed
                kept = [self._keep(result, fresh) for result in results]
                self.derived.take_vectors(fresh)
        except InvalidInput as error:
            if len(results) > 1:
                for result in results:
                    self._keep_all([result], fresh)
                return
            kept = [unstorable(result, error) for result in results]
        for result in kept:
            record(result, self.log)

    def _keep(self, result: Result, fresh: Fresh) -> Result:
        """Store a result; returns what became of it."""
        match result:
            case Prepared(document, chunks, state):
                if self.seen.is_overtaken(document.source_id, state):
                    return SameContent(document.source_id, state)
                fresh.keep(result, self.store.put(document, chunks, state))
            case SameContent(source_id, state) if not self.seen.is_overtaken(source_id, state):
                self.store.touch(source_id, [state])
        return result


def _some(batches: Iterator[list[Result]]) -> list[Result]:
    """The next results, of several batches where they come fast; none at the end.

    A file that was read here, alone, is stored at once.
    """
    results = list(next(batches, ()))
    deadline = time.monotonic() + TURN_S
    while len(results) > 1 and sum(_chunks(results)) < CHUNKS_A_TURN and time.monotonic() < deadline:
        more = next(batches, None)
        if more is None:
            break
        results += more
    return results


def _chunks(results: Sequence[Result]) -> list[int]:
    """How many chunks each document has that was read."""
    return [len(result.chunks) for result in results if isinstance(result, Prepared)]
