"""What a cosine means here: the similarity that unrelated questions reach in this knowledge base."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from kebab.answer.words import read_lines
from kebab.errors import EngineError
from kebab.ports import Embedder, EmbeddingKind, VectorIndex


@dataclass
class Background:
    """Looks a handful of everyday questions up, once, and takes the middle of their best cosines.

    One model calls unrelated texts 0.1 alike, another 0.8, and a larger corpus has a nearer neighbour for
    anything. The middle is not moved by the one or two probes that a vault about gardens does answer.
    """

    embedder: Embedder
    index: VectorIndex
    _known: dict[int, float | None] = field(default_factory=dict)

    def cosine(self) -> float | None:
        """None where nothing can be found by meaning. Measured anew when the index changed."""
        state = self.index.checkpoint()
        if state not in self._known:
            self._known = {state: self._measure()}
        return self._known[state]

    def _measure(self) -> float | None:
        try:
            probes = self.embedder.embed(read_lines("probes.txt"), EmbeddingKind.QUERY)
            found = [hit.score for probe in probes for hit in self.index.search(probe, limit=1)]
        except EngineError:
            return None
        return median(found) if found else None
