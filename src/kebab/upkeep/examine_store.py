"""Checks of the truth: the file, the documents in it, the runs that made them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from kebab.domain.chunks import StoredChunk
from kebab.domain.ids import DocId
from kebab.domain.ingests import IngestPhase, IngestRun
from kebab.domain.plurals import count_of
from kebab.domain.progress import Progress, counted, silent
from kebab.domain.reports import Check, CheckStatus
from kebab.ports import DocumentStore, EmbeddingStore, StoreFile

SAMPLES = 20
DOCUMENTS_READ = 200
"""How many documents are compared with their seals unless all are."""
_READ_AT_ONCE = 100
DOCUMENTS = "documents"
COUNTS = "counts"
STORE = "store"


@dataclass(frozen=True, slots=True)
class Sample:
    """A chunk taken at random, and how many chunks its document has."""

    stored: StoredChunk
    siblings: int


def take_samples(store: DocumentStore, *, rng: random.Random, count: int = SAMPLES) -> list[Sample]:
    """Chunks of different documents, at most ``count``; empty for an empty store."""
    documents = [document for document in store.list_documents() if document.chunk_count]
    found = []
    for document in rng.sample(documents, min(count, len(documents))):
        chunks = store.chunks_of(document.doc_id)
        if chunks:
            found.append(Sample(rng.choice(chunks), len(chunks)))
    return found


def examine_store(file: StoreFile) -> Check:
    faults = file.faults()
    if not faults:
        return Check(STORE, CheckStatus.OK, f"sound, schema {file.schema_version()}")
    return Check(
        STORE,
        CheckStatus.FAULT,
        listed(faults),
        "restore it from a bundle, or move it away and run `kebab ingest` to build it again",
    )


def listed(findings: Sequence[str]) -> str:
    """The first findings in one line, and how many more there are."""
    return "; ".join(findings[:3]) + (f"; and {len(findings) - 3} more" if len(findings) > 3 else "")


def examine_documents(
    store: DocumentStore,
    *,
    positions: Sequence[int],
    rng: random.Random,
    full: bool,
    progress: Progress = silent,
) -> Check:
    """Counts, and whether what is stored is what was put: of some documents, or of all.

    ``positions`` are those of the indexes: one beyond the outbox has seen documents that the store lost.
    """
    documents, chunks = store.counts()
    held = len(store.chunk_ids())
    if held != chunks:
        return _documents_fault(f"{held} chunks are stored where the documents have {chunks}")
    if any(position > store.latest() for position in positions):
        return _documents_fault("the store has lost its latest changes: an index has seen more of them")
    summaries = store.list_documents()
    chosen = summaries if full else rng.sample(summaries, min(DOCUMENTS_READ, documents, len(summaries)))
    if lost := documents - len(summaries):
        return _documents_fault(
            f"{count_of(lost, 'document has', 'documents have')} no record of a file any more"
        )
    if damaged := _damaged(store, [summary.doc_id for summary in chosen], progress):
        paths = [summary.path for summary in chosen if summary.doc_id in damaged]
        return _documents_fault(f"damaged: {listed(paths)}")
    looked_at = "all read" if len(chosen) == documents else f"{len(chosen)} read; --full reads all"
    return Check(DOCUMENTS, CheckStatus.OK, f"{documents} with {count_of(chunks, 'chunk')}, {looked_at}")


def _damaged(store: DocumentStore, doc_ids: Sequence[DocId], progress: Progress) -> set[DocId]:
    heard = counted(doc_ids, IngestPhase.CHECK, total=len(doc_ids), progress=progress, path=DOCUMENTS)
    found: set[DocId] = set()
    while some := list(islice(heard, _READ_AT_ONCE)):
        found.update(store.damaged(some))
    return found


def _documents_fault(detail: str) -> Check:
    hint = "run `kebab doctor --repair`: it reads the files again; so does the next `kebab ingest`"
    return Check(DOCUMENTS, CheckStatus.FAULT, detail, hint)


def examine_counts(embeddings: EmbeddingStore) -> Check:
    """Whether the counts that searches rely on are those of what is stored."""
    faults = embeddings.count_faults()
    if faults:
        return Check(COUNTS, CheckStatus.FAULT, "; ".join(faults), "kebab doctor --repair counts again")
    return Check(COUNTS, CheckStatus.OK, "the counts that searches rely on are right")


def examine_runs(runs: Sequence[IngestRun], *, writing: bool) -> Check:
    """Of the runs that say they are running: only while somebody writes can that be true of the newest."""
    killed = runs[1:] if writing else runs
    if not killed:
        return Check("ingest runs", CheckStatus.OK, "none was interrupted")
    return Check(
        "ingest runs",
        CheckStatus.WARNING,
        f"{len(killed)} did not end, the newest begun {killed[0].started_at}",
        "run `kebab ingest`: it goes on where the run was, and closes its record",
    )
