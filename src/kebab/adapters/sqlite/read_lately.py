"""What was read of chunks last, kept until the documents change.

A search weighs the best chunks, then shows them, and who types or pages asks for the same ones again. Reading
one unpacks the text of its whole document, which is most of what showing a hit costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from threading import Lock
from typing import Generic, TypeVar

from kebab.domain.ids import ChunkId

V = TypeVar("V")

TEXTS = 256
"""So many chunks with their texts are some hundred kilobytes."""
LANGUAGES = 16_384
"""Of so many chunks the languages are some three megabytes. A search asks for a hundred."""


class ReadLately(Generic[V]):
    """What was read of so many chunks of one state of the documents, for any number of threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._at: tuple[int, int] | None = None
        self._read: dict[ChunkId, V] = {}

    def known(self, chunk_ids: Iterable[ChunkId], *, at: tuple[int, int]) -> dict[ChunkId, V]:
        """Of those of the chunks that were read in the state that ``at`` names."""
        with self._lock:
            if self._at != at:
                return {}
            return {key: self._read[key] for key in chunk_ids if key in self._read}

    def keep(self, read: Mapping[ChunkId, V], *, at: tuple[int, int]) -> None:
        """Remember what was read, and forget what was read longest ago."""
        with self._lock:
            if self._at != at:
                self._at, self._read = at, {}
            self._read.update(read)
            for key in list(islice(self._read, max(0, len(self._read) - self._most))):
                del self._read[key]
