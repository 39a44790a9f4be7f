"""Looking for /patterns/: which chunks of the stored texts match, within a time that a person waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from time import monotonic

from kebab.domain.hits import Degradation
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.queries import SearchFilters
from kebab.domain.values import dataclass
from kebab.ports import DocumentStore, PatternMatcher

PATIENCE_S = 2.0
"""After so long no further texts are looked through."""
_AT_ONCE = 64
"""Documents between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class Scan:
    """The chunks in which every pattern matches, document by document in the order of their paths."""

    chunks: tuple[ChunkId, ...]
    looked_at: int
    documents: int

    def degraded(self) -> tuple[Degradation, ...]:
        """Says where the time was over before the texts were; empty where all were looked through."""
        if self.looked_at >= self.documents:
            return ()
        message = f"the pattern was looked for in {self.looked_at} of {self.documents} documents"
        return (Degradation("pattern", "time_over", message, "add a filter, such as path: or tag:"),)


@dataclass(frozen=True, slots=True)
class PatternScanner:
    """Reads the stored texts. A document matches where one of its chunks does."""

    store: DocumentStore
    matcher: PatternMatcher
    patience_s: float = PATIENCE_S
    clock: Callable[[], float] = monotonic

    def scan(self, patterns: Sequence[str], filters: SearchFilters) -> Scan:
        """Raises InvalidInput for what is no pattern."""
        for pattern in patterns:
            self.matcher.holds(pattern, [""])
        until = self.clock() + self.patience_s
        documents = [document.doc_id for document in self.store.list_documents(filters)]
        rest, found, looked_at = iter(documents), list[ChunkId](), 0
        while some := list(islice(rest, _AT_ONCE)):
            found += (
                chunk for doc_id in self._holding(patterns, some) for chunk in self._chunks(patterns, doc_id)
            )
            looked_at += len(some)
            if self.clock() >= until:
                break
        return Scan(tuple(found), looked_at, len(documents))

    def _holding(self, patterns: Sequence[str], doc_ids: Sequence[DocId]) -> list[DocId]:
        """Those of the documents in whose text every pattern matches somewhere."""
        texts = [self.store.source_text(doc_id) or "" for doc_id in doc_ids]
        held = (self.matcher.holds(pattern, texts) for pattern in patterns)
        return [doc_id for doc_id, *each in zip(doc_ids, *held, strict=True) if all(each)]

    def _chunks(self, patterns: Sequence[str], doc_id: DocId) -> list[ChunkId]:
        chunks = [stored.chunk for stored in self.store.chunks_of(doc_id)]
        held = (self.matcher.holds(pattern, [chunk.text for chunk in chunks]) for pattern in patterns)
        return [chunk.chunk_id for chunk, *each in zip(chunks, *held, strict=True) if all(each)]
