"""Folders as people name them in a query: by their own name, wherever they lie."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath

from kebab.domain.documents import DocumentSummary
from kebab.domain.names import folded
from kebab.domain.queries import SearchFilters
from kebab.ports import DocumentStore

_WILDCARDS = frozenset("*?[")


def found_anywhere(filters: SearchFilters, given: SearchFilters, store: DocumentStore) -> SearchFilters:
    """The filters with each ``path:`` of the text that leads nowhere as the folders of that name.

    What is in ``given`` came from outside the text and stays as it is: programs mean the path that they name.
    """
    typed = filters.path[len(given.path) :]
    lost = [value for value in typed if _leads_nowhere(value, store)]
    if not lost:
        return filters
    documents = store.list_documents()
    paths = [at for value in filters.path for at in (_named(value, documents) if value in lost else [value])]
    return replace(filters, path=tuple(dict.fromkeys(paths)))


def _leads_nowhere(value: str, store: DocumentStore) -> bool:
    return _WILDCARDS.isdisjoint(value) and not store.matching(SearchFilters(path=(value,)))


def _named(value: str, documents: Iterable[DocumentSummary]) -> list[str]:
    """The folders whose last names are these, whatever their case; the value itself where there are none."""
    wanted = tuple(folded(part) for part in PurePosixPath(value).parts)
    folders = {up for document in documents for up in PurePosixPath(document.path).parents}
    found = [str(up) for up in folders if wanted and _tail(up, len(wanted)) == wanted]
    return sorted(found) or [value]


def _tail(folder: PurePosixPath, size: int) -> tuple[str, ...]:
    return tuple(folded(part) for part in folder.parts[-size:])
