"""How the pages begin that were found: a page says first what it is about."""

from __future__ import annotations

from collections.abc import Sequence

from kebab.answer.kinds import Kind, kind_of
from kebab.answer.question import Question
from kebab.domain.chunks import StoredChunk
from kebab.domain.ids import ChunkId
from kebab.ports import DocumentStore

PAGES = 6
"""Pages of which the beginning is read."""


def opening(
    store: DocumentStore, question: Question, chunks: Sequence[StoredChunk]
) -> list[tuple[int, StoredChunk]]:
    """For a definition, the first chunks of the pages found, each with the place of the hit that led to it;
    else none.
    """
    if kind_of(question.text) is not Kind.DEFINITION:
        return []
    known = {stored.chunk.chunk_id for stored in chunks}
    found: dict[ChunkId, tuple[int, StoredChunk]] = {}
    for place, stored in enumerate(chunks[:PAGES]):
        for lead in store.chunks_of(stored.chunk.doc_id)[:2]:
            if lead.chunk.chunk_id not in known:
                found.setdefault(lead.chunk.chunk_id, (place, lead))
    return list(found.values())
