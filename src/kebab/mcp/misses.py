"""What helps after a miss: the nearest names, and which filter let nothing through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from msgspec.structs import replace

from kebab.app import Kebab
from kebab.domain.documents import DocumentSummary
from kebab.domain.queries import SearchFilters
from kebab.errors import InvalidInput, KebabError
from kebab.search.naming import COMPARED, SUGGESTIONS, close, nearest
from kebab.wire.requests.search import SearchRequest
from kebab.wire.search import Degradation, SearchResponse

_ATTRIBUTES = {
    "tag": "tags", "lang": "lang", "path": "path", "media": "media", "source": "source_id",
    "source_type": "source_type",
}  # fmt: skip
"""The attribute of a document that each of these filters looks at."""


def emptied(kebab: Kebab, asked: SearchRequest, found: SearchResponse) -> SearchResponse:
    """An empty response with the reason, where one can be named, and what to try next."""
    told = list(_emptying(kebab, asked.filters)) or _near_names(kebab, asked)
    # The search names an empty filter too; here the nearest values stand beside it.
    said = tuple(note.message for note in told)
    kept = (note for note in found.degraded if not note.message.startswith(said))
    return replace(found, degraded=(*kept, *told))


def no_filter_matches(kebab: Kebab, filters: SearchFilters) -> None:
    """Raises InvalidInput where one of the filters alone lets no document through, naming what is near."""
    for note in _emptying(kebab, filters):
        raise InvalidInput(note.message, hint=note.hint)


def _emptying(kebab: Kebab, filters: SearchFilters) -> Iterator[Degradation]:
    for field in fields(filters):
        value = getattr(filters, field.name)
        if value and not kebab.list_docs(SearchFilters(**{field.name: value})):
            yield _note(kebab, field.name, value)


def _note(kebab: Kebab, name: str, value: Any) -> Degradation:
    values = value if isinstance(value, tuple) else (value,)
    known = _known(kebab, name)
    near = [each for wanted in values for each in close(str(wanted).casefold(), known)]
    shown = [known[each] for each in near] or sorted(known.values())[:SUGGESTIONS]
    hint = f"did you mean: {', '.join(shown)}" if near else f"there is: {', '.join(shown)}" if shown else None
    written = ", ".join(map(str, values))
    return Degradation(
        part="filter", code="filter_empty", message=f"no document has the {name} {written}", hint=hint
    )


def _known(kebab: Kebab, name: str) -> dict[str, str]:
    """The values that documents have of what a filter looks at, by how they are compared."""
    attribute = _ATTRIBUTES.get(name)
    if attribute is None:
        return {}
    values: set[str] = set()
    for doc in _documents(kebab):
        found = getattr(doc, attribute)
        values.update(found if isinstance(found, tuple) else (str(found),))
    return {value.casefold(): value for value in values}


def _near_names(kebab: Kebab, asked: SearchRequest) -> list[Degradation]:
    near = nearest(_documents(kebab), asked.query)
    hint = f"documents with a name like it: {', '.join(near)}" if near else "try other or fewer words"
    message = "no stored text matches the query" + (" and the filters" if asked.filters else "")
    return [Degradation(part="query", code="no_match", message=message, hint=hint)]


def _documents(kebab: Kebab) -> list[DocumentSummary]:
    try:
        return kebab.list_docs()[:COMPARED]
    except KebabError:
        return []
