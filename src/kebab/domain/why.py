"""Why a document was, or was not, among the results."""

from __future__ import annotations

from kebab.domain.hits import FusionNote, Leg
from kebab.domain.ids import ChunkId
from kebab.domain.queries import SearchMode
from kebab.domain.values import dataclass


@dataclass(frozen=True, slots=True)
class LegPlace:
    """Where one leg put a chunk. ``rank`` is None when the leg did not find it; ``note`` says why."""

    leg: Leg
    rank: int | None
    raw_score: float | None
    contribution: float | None
    matched_terms: tuple[str, ...]
    missing_terms: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    chunk_id: ChunkId
    citation: str
    heading_path: tuple[str, ...]
    rank: int | None
    """Place in the result, counted as far as the candidates reach; None when it is not among them.

    Where a filter removes the document, its place in the result without filters.
    """
    score: float | None
    shown: bool
    legs: tuple[LegPlace, ...]
    verdict: str
    repeats: ChunkId | None = None
    """A hit above, of the same document, that holds most of this chunk's text: why it stands so low."""


@dataclass(frozen=True, slots=True)
class WhyReport:
    """The chunks of one document, best placed first, and one sentence for the whole."""

    query: str
    mode: SearchMode
    k: int
    doc_path: str
    removed_by: tuple[str, ...]
    """The filters that keep the document out; empty when none does."""
    chunks: tuple[ChunkPlace, ...]
    fusion: FusionNote | None
    verdict: str
    page: int | None = None
    """The document's place where each is shown once, as on screens; None beyond the first hundred."""

    @property
    def shown(self) -> bool:
        """Whether the document is among the first: one of its chunks, or it as a whole."""
        on_page = self.page is not None and self.page <= self.k and not self.removed_by
        return on_page or any(chunk.shown for chunk in self.chunks)
