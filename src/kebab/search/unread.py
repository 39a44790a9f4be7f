"""Filters that no document passes, and what could have been asked for instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import PurePosixPath

from kebab.domain.documents import DocumentSummary, TrustLevel
from kebab.domain.hits import Degradation
from kebab.domain.names import dated, folded
from kebab.domain.queries import SearchFilters
from kebab.ports import DocumentStore

UNREAD = {"repo": "repository", "code_lang": "programming language", "symbol": "symbol"}
"""What no note has, by filter."""
LISTED = {
    "tag": "tags",
    "lang": "lang",
    "media": "media",
    "source": "source_id",
    "source_type": "source_type",
}
"""Filters whose values can be listed, by the column that holds them."""
NAMES = {"lang": "language", "media": "format", "source_type": "source type", "doc_id": "id", "path": "path"}
_MEANT = dict.fromkeys(("after", "before", "on"), "a date is written 2024-12-24, 2024-12 or 2024") | {
    "trust": f"there are: {', '.join(TrustLevel)}"
}
MOST_VALUES = 20
"""How many values are named where the one given passes nothing."""


def unread(filters: SearchFilters, store: DocumentStore) -> tuple[Degradation, ...]:
    """A note for each filter that lets no document through by itself, with the values that there are."""
    given = {field.name: getattr(filters, field.name) for field in fields(filters)}
    return tuple(
        _note(name, values, store)
        for name, values in given.items()
        if values and not store.matching(SearchFilters(**{name: values}))
    )


def misread(texts: Sequence[str]) -> tuple[Degradation, ...]:
    """A note for each part of a query that looks like a filter and was searched for as text."""
    return tuple(
        Degradation(
            "filter", "not_understood", f"{text} was searched for as text", _MEANT[text.split(":")[0]]
        )
        for text in texts
    )


def _note(name: str, values: str | Sequence[str], store: DocumentStore) -> Degradation:
    asked = values if isinstance(values, str) else ", ".join(values)
    if name in UNREAD:
        hint = "source code needs the extra `code` and ingest.code: see docs/formats.md"
        return Degradation("filter", "not_read", f"no document has the {UNREAD[name]} {asked}", hint)
    there_are = _there_are(name, values, store.list_documents())
    return Degradation("filter", "no_such_value", f"no document {_lacks(name)} {asked}", there_are or None)


def _lacks(name: str) -> str:
    if name in ("title", "file"):
        return f"has a {name if name == 'title' else 'file name'} with"
    if name in ("dated_from", "dated_before", "ingested_after"):
        return {"dated_from": "is of a day from", "dated_before": "is of a day before"}.get(
            name, "was indexed after"
        )
    return f"has the {NAMES.get(name, name.replace('_', ' '))}"


def _there_are(name: str, asked: str | Sequence[str], documents: Sequence[DocumentSummary]) -> str:
    """The values that a filter could have; empty where they are too many to tell."""
    if name in LISTED:
        found = (getattr(document, LISTED[name]) for document in documents)
        return _named(value for own in found for value in (own if isinstance(own, tuple) else (own,)))
    if name == "path":
        return _folders(asked, documents)
    if name in ("dated_from", "dated_before"):
        days = sorted(
            filter(None, (dated(d.path, created=d.created_at, updated=d.updated_at) for d in documents))
        )
        return f"days go from {days[0]} to {days[-1]}" if days else ""
    return ""


def _named(values: Iterable[str]) -> str:
    """The most frequent ones first."""
    counts = Counter(values)
    shown = ", ".join(value for value, _ in counts.most_common(MOST_VALUES))
    return f"there are: {shown}{', …' if len(counts) > MOST_VALUES else ''}" if shown else ""


def _folders(asked: str | Sequence[str], documents: Sequence[DocumentSummary]) -> str:
    """Folders whose names hold what was asked for; without one, those that no other folder holds."""
    wanted = [folded(value).strip("/*") for value in ([asked] if isinstance(asked, str) else asked)]
    every = Counter(str(up) for document in documents for up in PurePosixPath(document.path).parents)
    every.pop(".", None)
    near = {path: n for path, n in every.items() if any(one in folded(path) for one in wanted if one)}
    shown = near or {path: n for path, n in every.items() if "/" not in path}
    return _named(Counter(shown).elements())
