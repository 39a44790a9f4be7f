"""Chunk vectors that lean towards their document: a section is also about what its page is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kebab.domain.chunks import StoredChunk
from kebab.domain.ids import ChunkId
from kebab.ports import Vectors

DOCUMENT_SHARE = 0.3
"""By measurement: see docs/decisions/0007-fusion.md."""


def leaning(chunks: Sequence[StoredChunk], vectors: Mapping[str, Vectors]) -> dict[ChunkId, Vectors]:
    """For each chunk with a vector (by content key), its vector mixed with the mean of its document's.

    Done where the index is filled: a search costs nothing more, and the cache keeps the model's own vectors.
    The chunks of a document must come together.
    """
    import numpy as np

    by_document: dict[str, list[StoredChunk]] = {}
    for stored in chunks:
        if stored.content_key in vectors:
            by_document.setdefault(stored.chunk.doc_id, []).append(stored)
    leant: dict[ChunkId, Vectors] = {}
    for members in by_document.values():
        rows = np.stack([vectors[stored.content_key] for stored in members])
        if len(members) > 1:
            rows = _unit(
                (1 - DOCUMENT_SHARE) * rows + DOCUMENT_SHARE * _unit(rows.sum(axis=0, keepdims=True))
            )
        leant |= {s.chunk.chunk_id: row for s, row in zip(members, rows, strict=True)}
    return leant


def _unit(rows: Vectors) -> Vectors:
    import numpy as np

    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)
