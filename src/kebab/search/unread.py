"""Filters by what only source code has, where no document has it."""

from __future__ import annotations

from kebab.domain.hits import Degradation
from kebab.domain.queries import SearchFilters
from kebab.ports import DocumentStore

UNREAD = {"repo": "repository", "code_lang": "programming language", "symbol": "symbol"}
"""What no note has, by filter."""


def unread(filters: SearchFilters, store: DocumentStore) -> tuple[Degradation, ...]:
    """A note for each of these filters that is asked for and lets no document through."""
    given = {name: getattr(filters, name) for name in UNREAD if getattr(filters, name)}
    return tuple(
        Degradation(
            "filter",
            "not_read",
            f"no document has the {UNREAD[name]} {', '.join(values)}",
            "source code needs the extra `code` and ingest.code: see docs/formats.md",
        )
        for name, values in given.items()
        if not store.matching(SearchFilters(**{name: values}))
    )
