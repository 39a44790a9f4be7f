"""A vector index that changes its form with its size: that of int8 while it is fast, that of Lance above."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from kebab.domain.chunks import StoredChunk
from kebab.domain.fusion import Ranked
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.values import dataclass
from kebab.ports import IndexShape, ModelKey, VectorIndex

if TYPE_CHECKING:
    from kebab.ports import Vectors

EXACT_CHUNKS = 200_000
"""Up to this many a scan of every vector is as fast as the approximate index with its refinement."""


@dataclass(frozen=True, slots=True)
class GrowingVectorIndex:
    """VectorIndex in the form that its size calls for, and in the other one until that is complete."""

    small: VectorIndex
    large: VectorIndex
    refill: Callable[[VectorIndex], object]
    """Fills an empty index from the store; nothing is embedded for it."""
    threshold: int | None = EXACT_CHUNKS
    """Above so many chunks the form is ``large``; None where ``small`` serves any number of them."""

    @property
    def _current(self) -> VectorIndex:
        # A half-filled index stands at 0.
        return self.large if self.large.checkpoint() else self.small

    @property
    def version(self) -> str:
        return self._current.version

    @property
    def model(self) -> ModelKey:
        return self.small.model

    def checkpoint(self) -> int:
        return self._current.checkpoint()

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        vectors: Mapping[ChunkId, Vectors],
        checkpoint: int,
    ) -> None:
        self._current.apply(removed=removed, chunks=chunks, vectors=vectors, checkpoint=checkpoint)

    def search(self, vector: Vectors, *, limit: int, docs: frozenset[DocId] | None = None) -> list[Ranked]:
        return self._current.search(vector, limit=limit, docs=docs)

    def optimize(self) -> None:
        current = self._current
        if current is self.small and self.threshold is not None and self.small.count() > self.threshold:
            self._change(self.small, self.large)
        elif current is self.large and self.threshold is None:
            self._change(self.large, self.small)
        else:
            current.optimize()

    def _change(self, before: VectorIndex, after: VectorIndex) -> None:
        self.refill(after)
        after.optimize()
        before.clear()

    def chunk_ids(self) -> set[ChunkId]:
        return self._current.chunk_ids()

    def count(self) -> int:
        return self._current.count()

    def faults(self) -> list[str]:
        return self._current.faults()

    def shape(self) -> IndexShape:
        return self._current.shape()

    def clear(self) -> None:
        self.large.clear()
        self.small.clear()
