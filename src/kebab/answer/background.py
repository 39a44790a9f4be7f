"""What a cosine means here: the similarity that unrelated questions reach in this knowledge base."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from kebab.answer.words import read_lines
from kebab.domain.hits import Leg
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.errors import EngineError
from kebab.ports import Retriever


@dataclass
class Background:
    """Asks the vector leg a handful of everyday questions, once, and takes the middle of their best cosines.

    One model calls unrelated texts 0.1 alike, another 0.8, and a larger corpus has a nearer neighbour for
    anything. The middle is not moved by the one or two probes that a vault about gardens does answer.
    """

    retriever: Retriever
    _known: dict[str, float | None] = field(default_factory=dict)

    def cosine(self) -> float | None:
        """None where nothing can be found by meaning."""
        version = self.retriever.index_version
        if version not in self._known:
            self._known[version] = self._measure()
        return self._known[version]

    def _measure(self) -> float | None:
        found: list[float] = []
        try:
            for probe in read_lines("probes.txt"):
                hits = self.retriever.search(SearchQuery(probe, mode=SearchMode.VECTOR, k=1)).hits
                found += [e.raw_score for hit in hits for e in hit.evidence if e.leg is Leg.VECTOR]
        except EngineError:
            return None
        return median(found) if found else None
