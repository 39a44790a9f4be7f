"""Filters by symbol: documents are let through as a whole, a symbol is one chunk's."""

from __future__ import annotations

from collections.abc import Callable, Collection

from kebab.domain.fusion import Ranked


def within(
    search: Callable[[int], list[Ranked]], *, depth: int, chunks: Collection[str] | None
) -> list[Ranked]:
    """The first ``depth`` of a ranking that are among the chunks; ``search`` gives its first so many.

    Looks deeper until there are enough or the ranking ends, so that what exists is found.
    """
    if chunks is None:
        return search(depth)
    if not chunks:
        return []
    limit = 4 * depth
    while True:
        ranked = search(limit)
        kept = [item for item in ranked if item.id in chunks]
        if len(kept) >= depth or len(ranked) < limit:
            return kept[:depth]
        limit *= 4
