"""Paging and budgets: which part of a result is shown, and how much of it."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import replace

from kebab.domain.hits import SearchHit
from kebab.domain.ids import digest
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.domain.tokens import estimate_tokens
from kebab.errors import InvalidInput, StaleCursor
from kebab.search.snippet import shorten

SHORTEST_SNIPPET = 60
HIT_OVERHEAD_TOKENS = 60
"""Ids, path, scores and versions of a hit on the wire, beside its snippet."""


def make_cursor(offset: int, *, revision: int, query: SearchQuery, fusion: str = "") -> str:
    """Opaque; bound to the query, to how its legs are fused, and to the corpus as it is now."""
    payload = json.dumps([offset, revision, _signature(query, fusion)], separators=(",", ":"))
    return base64.urlsafe_b64encode(payload.encode()).decode().rstrip("=")


def read_cursor(cursor: str, *, revision: int, query: SearchQuery, fusion: str = "") -> int:
    """The offset of a cursor; StaleCursor when the corpus changed, InvalidInput when it is not ours."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        offset, made_at, signature = json.loads(base64.urlsafe_b64decode(padded))
    except (binascii.Error, ValueError, TypeError) as error:
        raise InvalidInput(
            f"not a cursor: {cursor!r}", hint="use next_cursor of a search response"
        ) from error
    if signature != _signature(query, fusion):
        raise InvalidInput(
            "the cursor belongs to another query",
            hint="repeat the query, its mode, filters and fusion as they were",
        )
    if made_at != revision:
        raise StaleCursor(
            "the documents changed since this cursor was made", hint="search again from the start"
        )
    return int(offset)


def _signature(query: SearchQuery, fusion: str) -> str:
    parts = [query.text, query.mode.value, repr(query.filters), query.phrases, query.excluded]
    # Of a single leg nothing is fused, and its pages go on whatever the policy.
    if query.mode is SearchMode.HYBRID:
        parts.append(fusion)
    return digest("cursor", *parts)[:8]


def within_budget(hits: tuple[SearchHit, ...], max_tokens: int | None) -> tuple[tuple[SearchHit, ...], bool]:
    """Shorten snippets, then drop hits from the end, until they fit; the first hit always stays.

    Returns the hits and whether anything was cut.
    """
    if max_tokens is None or _cost(hits) <= max_tokens:
        return hits, False
    length = max(len(hit.snippet.text) for hit in hits)
    while length > SHORTEST_SNIPPET:
        length = max(SHORTEST_SNIPPET, length // 2)
        hits = tuple(replace(hit, snippet=shorten(hit.snippet, length)) for hit in hits)
        if _cost(hits) <= max_tokens:
            return hits, True
    while len(hits) > 1 and _cost(hits) > max_tokens:
        hits = hits[:-1]
    return hits, True


def _cost(hits: tuple[SearchHit, ...]) -> int:
    return sum(HIT_OVERHEAD_TOKENS + estimate_tokens(hit.snippet.text + hit.doc_path) for hit in hits)
