"""Search, as the rooms that build on it see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kebab.domain.hits import Retrieval
    from kebab.domain.queries import SearchQuery


class Retriever(Protocol):
    """Finds chunks for a query: lexical, vector and hybrid search are all of this kind."""

    @property
    def index_version(self) -> str: ...

    def search(self, query: SearchQuery) -> Retrieval:
        """At most ``query.k`` hits, best first, ranks from 1."""
        ...
