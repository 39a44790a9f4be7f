"""Filters by symbol and by pattern: documents are let through as a whole, these are of single chunks."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

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
    """The first ``depth`` of a ranking that are among the chunks; ``search`` gives its first so many."""
    if chunks is None:
        return search(depth)
    if not chunks:
        return []
    return sifted(search, depth=depth, first=4 * depth, keep=partial(_among, chunks))


def sifted(
    search: Callable[[int], list[Ranked]],
    *,
    depth: int,
    first: int,
    keep: Callable[[list[Ranked]], list[Ranked]],
    deepest: int | None = None,
) -> list[Ranked]:
    """The first ``depth`` of a ranking that are kept; of the ``first`` so many, if these are enough.

    Looks deeper until there are enough or the ranking ends, so that what exists is found, but no further
    than ``deepest``.
    """
    limit = first if deepest is None else min(first, deepest)
    while True:
        ranked = search(limit)
        kept = keep(ranked)
        if len(kept) >= depth or len(ranked) < limit or limit == deepest:
            return kept[:depth]
        limit = 4 * limit if deepest is None else min(4 * limit, deepest)


def _among(chunks: Collection[str], ranked: list[Ranked]) -> list[Ranked]:
    return [item for item in ranked if item.id in chunks]
