"""What is stored, shown as it is: documents, chunks and verbatim text."""

from __future__ import annotations

from kebab.domain.chunks import StoredChunk
from kebab.domain.citations import Citation, SourceState
from kebab.domain.documents import DocumentSummary
from kebab.domain.ids import DocId
from kebab.domain.values import dataclass


@dataclass(frozen=True, slots=True)
class DocumentInspection:
    document: DocumentSummary
    chunks: tuple[StoredChunk, ...]
    source_state: SourceState | None

    @property
    def stale(self) -> bool:
        """Whether the file changed or is gone since it was indexed."""
        return self.source_state in (SourceState.CHANGED, SourceState.GONE)


@dataclass(frozen=True, slots=True)
class ChunkInspection:
    stored: StoredChunk
    citation: Citation
    embeddings: tuple[str, ...]
    """Models that have a vector of this chunk."""


@dataclass(frozen=True, slots=True)
class FetchResult:
    """Verbatim text with the lines it stands at. ``kind`` is chunk, doc or span."""

    kind: str
    doc_id: DocId
    doc_path: str
    text: str
    line_start: int
    line_end: int
    citation: Citation
    indexed_at: str
    truncated: bool = False
    context_before: str | None = None
    context_after: str | None = None

    @property
    def stale(self) -> bool:
        return self.citation.stale
