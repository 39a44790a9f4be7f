"""Checks of the truth: the file, the documents in it, the runs that made them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from kebab.domain.chunks import StoredChunk
from kebab.domain.documents import DocumentSummary
from kebab.domain.ingests import IngestRun, RunStatus
from kebab.domain.reports import Check, CheckStatus
from kebab.errors import Corrupt
from kebab.ports import DocumentStore, Ledger, StoreFile

SAMPLES = 20
_RUNS = 200


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
        return Check("store", CheckStatus.OK, f"sound, schema {file.schema_version()}")
    return Check(
        "store",
        CheckStatus.FAULT,
        "; ".join(faults[:3]) + (f"; and {len(faults) - 3} more" if len(faults) > 3 else ""),
        "restore it from a bundle, or move it away and run `kebab ingest` to build it again",
    )


def examine_documents(store: DocumentStore, *, rng: random.Random) -> Check:
    """Counts, and a look into some documents: their text must be readable, each chunk a part of it."""
    documents, chunks = store.counts()
    held = len(store.chunk_ids())
    if held != chunks:
        return _documents_fault(f"{held} chunks are stored where the documents have {chunks}")
    summaries = store.list_documents()
    for summary in rng.sample(summaries, min(SAMPLES, len(summaries))):
        if fault := _document_fault(store, summary):
            return _documents_fault(fault)
    return Check("documents", CheckStatus.OK, f"{documents} with {chunks} chunks")


def _document_fault(store: DocumentStore, summary: DocumentSummary) -> str | None:
    try:
        text = store.source_text(summary.doc_id)
    except Corrupt as error:
        return error.message
    chunks = store.chunks_of(summary.doc_id)
    if text is None or len(chunks) != summary.chunk_count:
        return f"{summary.path} has lost its text or some of its chunks"
    return None


def _documents_fault(detail: str) -> Check:
    return Check("documents", CheckStatus.FAULT, detail, "run `kebab ingest --force` to read the files again")


def interrupted(ledger: Ledger) -> list[IngestRun]:
    """Runs that say they are running. Only while somebody writes can that be true of the newest one."""
    return [run for run in ledger.runs(_RUNS) if run.status is RunStatus.RUNNING]


def examine_runs(runs: Sequence[IngestRun], *, writing: bool) -> Check:
    killed = runs[1:] if writing else runs
    if not killed:
        return Check("ingest runs", CheckStatus.OK, "none was interrupted")
    return Check(
        "ingest runs",
        CheckStatus.WARNING,
        f"{len(killed)} did not end, the newest begun {killed[0].started_at}",
        "run `kebab ingest`: it goes on where the run was, and closes its record",
    )
