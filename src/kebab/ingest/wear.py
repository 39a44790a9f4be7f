"""When much of the words index is removed rows, it is written anew, part by part, while searches go on.

Engines drop removed rows when they merge pieces of like size, so that rows of a large piece may stay for
very long: each search reads them, and they take up disk.
"""

from __future__ import annotations

from collections.abc import Sequence

from kebab.domain.ids import DocId
from kebab.domain.progress import Cancelled, never
from kebab.domain.turns import ALONE, Turns
from kebab.ports import DocumentStore, IndexShape, LexicalIndex

WORN = 0.3
"""Of all rows. What is written anew is then at most two and a half times what was removed since."""
WORTH_IT = 1000
"""A smaller index is fast however it lies."""
DOCS_A_TURN = 500
CHUNKS_A_TURN = 4000
"""Whoever has something to save waits for a turn, and a batch is held in memory."""


def mostly_removed(shape: IndexShape, count: int) -> bool:
    """Whether removed rows are so many, beside ``count`` that stand, that it is worth the work."""
    rows = count + shape.removed
    return rows >= WORTH_IT and shape.removed > WORN * rows


def write_worn_anew(
    store: DocumentStore, index: LexicalIndex, *, turns: Turns = ALONE, cancelled: Cancelled = never
) -> int:
    """Add every document again, a turn for each batch, if the index is worn; returns how many.

    A piece whose rows are all removed is dropped by the engine. Stopped halfway, the next run begins anew.
    """
    shape = index.shape()
    # Counting reads every document's row, and hardly any run has a reason to.
    if shape.removed <= WORN * WORTH_IT or not mostly_removed(shape, store.counts()[1]):
        return 0
    doc_ids, size = store.doc_ids(), _docs_a_turn(store)
    for start in range(0, len(doc_ids), size):
        if cancelled():
            return start
        with turns.turn():
            _add_again(store, index, doc_ids[start : start + size])
    return len(doc_ids)


def write_sums_anew(index: LexicalIndex, *, turns: Turns = ALONE) -> None:
    """Let the index note anew which files it has, as a run that was killed may have left an older note.

    Whoever brings an index up to date does so anyway; what is written here is up to date before and after.
    """
    with turns.turn():
        if position := index.checkpoint():
            index.apply(removed=(), chunks=(), checkpoint=position)


def _docs_a_turn(store: DocumentStore) -> int:
    """By the mean: documents come in order of their hashes, so that books do not come together."""
    docs, chunks = store.counts()
    return max(1, min(DOCS_A_TURN, CHUNKS_A_TURN * docs // max(chunks, 1)))


def _add_again(store: DocumentStore, index: LexicalIndex, doc_ids: Sequence[DocId]) -> None:
    """As the store has them now: what others change meanwhile stands behind the index's position."""
    chunks = list(store.stored_chunks(doc_ids))
    index.apply(removed=doc_ids, chunks=chunks, checkpoint=index.checkpoint())
