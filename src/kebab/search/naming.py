"""Documents by what people call them: title, file or path in any spelling, and names almost right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from kebab.domain.documents import DocumentSummary
from kebab.domain.names import name_key, name_keys

SUGGESTIONS = 3
COMPARED = 20_000
"""No more documents are compared: a miss must not cost more than a find."""
_LONGEST = 200


def called(documents: Iterable[DocumentSummary], name: str) -> list[DocumentSummary]:
    """The documents whose title, file or path this is, in their order: `react hooks` is `React-Hooks.md`."""
    wanted = name_key(name)
    return [doc for doc in documents if wanted and wanted in _keys(doc)]


def nearest(documents: Sequence[DocumentSummary], name: str) -> list[str]:
    """A few paths: of documents in whose name this one stands, or else whose names are spelled like it."""
    some = documents[:COMPARED]
    wanted = name_key(name.partition("#")[0])
    holding = [doc.path for doc in some if wanted and any(wanted in key for key in _keys(doc))]
    return holding[:SUGGESTIONS] or _alike(some, name)


def close(wanted: str, known: Iterable[str]) -> list[str]:
    """The few of these that are spelled most like it, best first."""
    return difflib.get_close_matches(wanted[:_LONGEST], list(known), n=SUGGESTIONS, cutoff=0.6)


def _keys(doc: DocumentSummary) -> tuple[str, ...]:
    return name_keys(path=doc.path, title=doc.title, aliases=())


def _alike(documents: Sequence[DocumentSummary], name: str) -> list[str]:
    names: dict[str, str] = {}
    for doc in documents:
        for each in (doc.path, doc.path.rpartition("/")[2], doc.title):
            names.setdefault(each.casefold(), doc.path)
    wanted = name.partition("#")[0].casefold()
    found = close(wanted, names) or close(wanted.rpartition("/")[2], names)
    return list(dict.fromkeys(names[each] for each in found))
