"""Keeping a page from saying the same thing twice: which hits repeat one above them?

Neighbouring chunks share whole blocks, and some documents repeat a section. A hit most of whose text stands
in a better one of the same document costs a place and tells nothing; docs/decisions/0008-page-diversity.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from kebab.domain.chunks import Chunk
from kebab.domain.ids import ChunkId, DocId

T = TypeVar("T")

WINDOW = 20
"""The first hits that are looked at, whatever k: what stands in them never depends on how many are shown."""
MOST = 0.6
"""The share of a chunk's characters from which on it counts as a repetition."""


def spread(items: Sequence[T], chunks: Sequence[Chunk]) -> list[tuple[T, ChunkId | None]]:
    """Every item once: those that say something new in their order, then the others in theirs.

    Each comes with the chunk above it that it repeats, or None. ``chunks`` are the items' own, best first.
    """
    sources = repetitions(chunks)
    named = [
        (item, None if source is None else chunks[source].chunk_id)
        for item, source in zip(items, sources, strict=True)
    ]
    return sorted(named, key=lambda pair: pair[1] is not None)


def any_repeats(chunks: Sequence[Chunk]) -> bool:
    """Whether one of them repeats a better one."""
    return any(source is not None for source in repetitions(chunks))


def repetitions(chunks: Sequence[Chunk]) -> list[int | None]:
    """For each chunk the place of the first kept one before it that holds most of its text, or None.

    Only chunks of one document are compared, line by line; a chunk that repeats another is compared with
    nothing further, so that the two ends of a chain are not taken for the same.
    """
    found: list[int | None] = []
    kept: dict[DocId, list[tuple[int, frozenset[str]]]] = {}
    of_document = Counter(chunk.doc_id for chunk in chunks)
    for place, chunk in enumerate(chunks):
        if of_document[chunk.doc_id] == 1:  # as most are
            found.append(None)
            continue
        lines = _lines(chunk.text)
        before = kept.setdefault(chunk.doc_id, [])
        source = next((at for at, held in before if _share(lines, held) > MOST), None)
        found.append(source)
        if source is None:
            before.append((place, frozenset(lines)))
    return found


def _lines(text: str) -> list[str]:
    return [stripped for line in text.splitlines() if (stripped := line.strip())]


def _share(lines: Sequence[str], held: frozenset[str]) -> float:
    """How much of the lines, by characters, is among those held; nothing of an empty text."""
    total = sum(map(len, lines))
    return sum(len(line) for line in lines if line in held) / total if total else 0.0
