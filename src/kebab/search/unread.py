"""Filters by what kebab does not read from files yet."""

from __future__ import annotations

from kebab.domain.hits import Degradation
from kebab.domain.queries import SearchFilters
from kebab.ports import DocumentStore

UNREAD = {"repo": "repository", "code_lang": "programming language"}
"""What only source code has, by filter."""


def unread(filters: SearchFilters, store: DocumentStore) -> tuple[Degradation, ...]:
    """A note for each of these filters that is asked for and lets no document through."""
    given = {name: getattr(filters, name) for name in UNREAD if getattr(filters, name)}
    return tuple(
        Degradation(
            "filter",
            "not_read",
            f"no document has the {UNREAD[name]} {', '.join(values)}: kebab does not read source code yet",
            f"leave out the filter {name}",
        )
        for name, values in given.items()
        if not store.matching(SearchFilters(**{name: values}))
    )
