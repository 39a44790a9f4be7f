"""Looking for /patterns/: which chunks of the stored texts match, within a time that a person waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from kebab.domain.hits import Degradation
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.queries import SearchFilters
from kebab.domain.values import dataclass
from kebab.ports import DocumentStore, PatternMatcher

PATIENCE_S = 2.0
"""After so long no further texts are looked through."""
_SHORT = 16_384
"""A text of no more letters is looked through at once, whatever the pattern."""
_SAMPLES, _SAMPLE = 4, 1024
"""Pieces of a longer one, and their letters, that tell how long all of it would take."""
_QUICK_S = 0.1


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
        found, looked_at = list[ChunkId](), 0
        for doc_id in documents:
            if looked_at and self.clock() >= until:
                break
            chunks, whole = self._look(patterns, doc_id, until)
            found += chunks
            if not whole:
                break
            looked_at += 1
        return Scan(tuple(found), looked_at, len(documents))

    def _look(self, patterns: Sequence[str], doc_id: DocId, until: float) -> tuple[list[ChunkId], bool]:
        """The chunks of a document in which every pattern matches, and whether the time was enough."""
        text = self.store.source_text(doc_id) or ""
        quick = self._is_quick(patterns, text)
        if quick and not self._matches(patterns, text):
            return [], True
        found = list[ChunkId]()
        for stored in self.store.chunks_of(doc_id):
            if not quick and self.clock() >= until:
                return found, False
            if self._matches(patterns, stored.chunk.text):
                found.append(stored.chunk.chunk_id)
        return found, True

    def _matches(self, patterns: Sequence[str], text: str) -> bool:
        return all(self.matcher.holds(pattern, [text])[0] for pattern in patterns)

    def _is_quick(self, patterns: Sequence[str], text: str) -> bool:
        """Whether the text can be looked through at once, judged by pieces of it.

        The time grows with the text, but by a pattern of many repeats some kilobytes take a second.
        """
        if len(text) <= _SHORT:
            return True
        pieces = [text[at : at + _SAMPLE] for at in range(0, len(text), len(text) // _SAMPLES)]
        began = self.clock()
        for pattern in patterns:
            self.matcher.holds(pattern, pieces)
        return (self.clock() - began) * len(text) < _QUICK_S * sum(map(len, pieces))
