"""Paging and budgets: which part of a result is shown, and how much of it."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace

from kebab.domain.hits import SearchHit
from kebab.domain.ids import digest
from kebab.domain.queries import SearchMode, SearchQuery, SortOrder
from kebab.domain.tokens import estimate_tokens
from kebab.errors import InvalidInput, StaleCursor
from kebab.search.snippet import shorten

DEEPEST_HIT = 100_000
"""How far pages go: what is asked of the engines grows with where a page begins."""
SHORTEST_SNIPPET = 60
HIT_OVERHEAD_TOKENS = 60
"""Ids, path, scores and versions of a hit on the wire, beside its snippet."""


# A cursor holds where the page begins, the corpus and the query it is for, and a digest over the three. It is
# not signed with a secret: who computes a digest asks for a page that paging reaches too, since the offset is
# bounded, and equal searches keep giving equal bytes on every machine.
_CURSOR = re.compile(r"[A-Za-z0-9_-]{1,200}")


def make_cursor(offset: int, *, revision: int, query: SearchQuery, fusion: str = "") -> str:
    """Opaque; bound to the query, to how its legs are fused, and to the corpus as it is now."""
    content: list[int | str] = [offset, revision, _signature(query, fusion)]
    payload = json.dumps([*content, _seal(content)], separators=(",", ":"))
    return base64.urlsafe_b64encode(payload.encode()).decode().rstrip("=")


def read_cursor(cursor: str, *, revision: int, query: SearchQuery, fusion: str = "") -> int:
    """The offset of a cursor, at least 1; StaleCursor when the corpus changed, InvalidInput when not ours."""
    content = _opened(cursor)
    if content is None:
        shown = repr(cursor) if isinstance(cursor, str) and len(cursor) <= 80 else "it is too long"
        raise InvalidInput(f"not a cursor: {shown}", hint="use next_cursor of a search response")
    offset, made_at, signature = content
    if signature != _signature(query, fusion):
        raise InvalidInput(
            "the cursor belongs to another query",
            hint="repeat the query, its mode, filters and fusion as they were",
        )
    if made_at != revision:
        raise StaleCursor(
            "the documents changed since this cursor was made", hint="search again from the start"
        )
    return offset


def _opened(cursor: str) -> tuple[int, int, str] | None:
    """What a cursor holds; None where it is not whole, or says what none of ours would."""
    if not isinstance(cursor, str) or not _CURSOR.fullmatch(cursor):
        return None
    try:
        content = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError:
        return None
    if not isinstance(content, list) or [type(part) for part in content] != [int, int, str, str]:
        return None
    offset, made_at, signature, seal = content
    if seal != _seal(content[:3]) or not 1 <= offset <= DEEPEST_HIT:
        return None
    return offset, made_at, signature


def _seal(content: list[int | str]) -> str:
    return digest("sealed cursor", *content)[:16]


def _signature(query: SearchQuery, fusion: str) -> str:
    parts = [
        query.text,
        query.mode.value,
        repr(query.filters),
        query.phrases,
        query.excluded,
        *query.prefixes,
        *(f"/{pattern}/" for pattern in query.patterns),
        *(f"either {group}" for group in query.either),
        *([query.sort.value] if query.sort is not SortOrder.SCORE else []),
    ]
    parts += [name for name in ("by_document", "exact") if getattr(query, name)]
    # Of a single leg nothing is fused, and its pages go on whatever the policy.
    if query.mode is SearchMode.HYBRID:
        parts.append(fusion)
    return digest("cursor", *parts)[:8]


def within_budget(hits: tuple[SearchHit, ...], max_tokens: int | None) -> tuple[tuple[SearchHit, ...], bool]:
    """Leave out readable forms, shorten snippets, then drop hits from the end, until they fit.

    The first hit always stays. Returns the hits and whether anything was cut.
    """
    if max_tokens is None or _cost(hits) <= max_tokens:
        return hits, False
    hits = tuple(replace(hit, readable=None) for hit in hits)
    if _cost(hits) <= max_tokens:
        return hits, True
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
    return sum(HIT_OVERHEAD_TOKENS + estimate_tokens(_told(hit)) for hit in hits)


def _told(hit: SearchHit) -> str:
    return hit.snippet.text + hit.doc_path + (hit.readable.text if hit.readable else "")
