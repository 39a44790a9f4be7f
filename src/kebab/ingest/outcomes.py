"""What became of one file, as an item of the run's record."""

from __future__ import annotations

from kebab.domain.ingests import FileState, IngestItem, Outcome
from kebab.errors import InvalidInput
from kebab.ingest.ledger import RunLog
from kebab.ingest.prepare import Prepared, Result, SameContent


def unstorable(result: Result, error: InvalidInput) -> IngestItem:
    """What one file holds can fail only that file."""
    reason = f"cannot be stored: {error.message}"
    match result:
        case Prepared(document, _, state):
            return IngestItem(document.source_id, document.path, Outcome.FAILED, reason, byte_len=state.size)
        case SameContent(source_id, state):
            return IngestItem(source_id, state.path, Outcome.FAILED, reason, byte_len=state.size)
        case IngestItem():
            return result


def record(result: Result, log: RunLog) -> None:
    match result:
        case Prepared(document, chunks, state):
            log.item(
                IngestItem(
                    document.source_id,
                    document.path,
                    Outcome.INDEXED,
                    doc_id=document.doc_id,
                    chunks=len(chunks),
                    byte_len=state.size,
                    warnings=document.warnings,
                )
            )
        case SameContent():
            log.unchanged(1, of_phase=True)
        case IngestItem():
            log.item(result)


def removed(source_id: str, state: FileState) -> IngestItem:
    return IngestItem(source_id, state.path, Outcome.REMOVED, "no longer there", doc_id=state.doc_id)
