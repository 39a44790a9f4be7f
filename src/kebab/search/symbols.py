"""Filters by symbol and by pattern: documents are let through as a whole, these are of single chunks."""

from __future__ import annotations

from collections.abc import Callable, Collection

from kebab.domain.fusion import Ranked
from kebab.domain.ids import ChunkId
from kebab.domain.queries import SearchQuery
from kebab.ports import DocumentStore


def narrow(query: SearchQuery, store: DocumentStore) -> frozenset[ChunkId] | None:
    """The chunks that the query's symbols and patterns leave; None where it has neither."""
    units = store.defining(query.filters.symbol)
    if query.only is None:
        return units
    return frozenset(query.only) if units is None else units & frozenset(query.only)


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
