"""The chunks that were read last, kept until the documents change.

A search weighs the best chunks, then shows them, and who types or pages asks for the same ones again. Reading
one unpacks the text of its whole document, which is most of what showing a hit costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock

from kebab.domain.chunks import StoredChunk
from kebab.domain.ids import ChunkId

KEPT = 256
"""Some hundred kilobytes of text."""


class ReadLately:
    """Chunks of one state of the documents, for any number of threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._at: tuple[int, int] | None = None
        self._chunks: dict[ChunkId, StoredChunk] = {}

    def known(self, chunk_ids: Iterable[ChunkId], *, at: tuple[int, int]) -> dict[ChunkId, StoredChunk]:
        """Those of the chunks that were read in the state that ``at`` names."""
        with self._lock:
            if self._at != at:
                return {}
            return {key: self._chunks[key] for key in chunk_ids if key in self._chunks}

    def keep(self, read: Mapping[ChunkId, StoredChunk], *, at: tuple[int, int]) -> None:
        """Remember what was read, and forget what was read longest ago."""
        with self._lock:
            if self._at != at:
                self._at, self._chunks = at, {}
            for key, stored in read.items():
                self._chunks[key] = stored
            while len(self._chunks) > KEPT:
                del self._chunks[next(iter(self._chunks))]
