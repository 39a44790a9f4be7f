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
    doc_ids = store.doc_ids()
    for start in range(0, len(doc_ids), DOCS_A_TURN):
        if cancelled():
            return start
        with turns.turn():
            _add_again(store, index, doc_ids[start : start + DOCS_A_TURN])
    return len(doc_ids)


def _add_again(store: DocumentStore, index: LexicalIndex, doc_ids: Sequence[DocId]) -> None:
    """As the store has them now: what others change meanwhile stands behind the index's position."""
    chunks = list(store.stored_chunks(doc_ids))
    index.apply(removed=doc_ids, chunks=chunks, checkpoint=index.checkpoint())
