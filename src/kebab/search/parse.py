"""Reading what a person typed: phrases, excluded words and ``field:value`` filters; the rest is data.

No input is a syntax error. A quote that never closes, a lone dash, a URL or an unknown field is text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import fields, replace

from kebab.domain.documents import TrustLevel
from kebab.domain.ids import nfc
from kebab.domain.queries import SearchFilters, SearchMode, SearchQuery

_PHRASE = re.compile(r'"([^"]*)"')
# A dash excludes only at the start of a word and only before a letter: -5, --flag and a-b are text.
_EXCLUDED = re.compile(r"(?<!\S)-([^\W\d_][^\s\"]*)")
_FIELD = re.compile(r"(?<!\S)([a-z_]+):(\S+)")

_ALIASES = {"type": "source_type", "trust": "trust_min", "after": "ingested_after", "doc": "doc_id"}
_FIELDS = {field.name for field in fields(SearchFilters)}


def parse_query(
    text: str, *, mode: SearchMode = SearchMode.HYBRID, k: int = 10, filters: SearchFilters | None = None
) -> SearchQuery:
    """The query a text stands for. Filters in the text add to ``filters``."""
    text = nfc(text)
    phrases = tuple(phrase for phrase in (m.strip() for m in _PHRASE.findall(text)) if phrase)
    outside = _PHRASE.sub(" ", text)
    taken, outside = _take_filters(outside)
    excluded = tuple(_EXCLUDED.findall(outside))
    words = " ".join([_EXCLUDED.sub(" ", outside), *phrases])
    return SearchQuery(
        text=" ".join(words.split()),
        mode=mode,
        k=k,
        filters=_merged(filters or SearchFilters(), taken),
        phrases=phrases,
        excluded=excluded,
    )


def _take_filters(text: str) -> tuple[dict[str, list[str]], str]:
    taken: dict[str, list[str]] = defaultdict(list)

    def take(match: re.Match[str]) -> str:
        name = _ALIASES.get(match[1], match[1])
        if name not in _FIELDS or (name == "trust_min" and match[2] not in list(TrustLevel)):
            return match[0]
        taken[name].append(match[2])
        return " "

    return taken, _FIELD.sub(take, text)


def _merged(filters: SearchFilters, taken: dict[str, list[str]]) -> SearchFilters:
    changes: dict[str, object] = {}
    for name, values in taken.items():
        if name == "trust_min":
            changes[name] = TrustLevel(values[-1])
        elif name == "ingested_after":
            changes[name] = values[-1]
        else:
            changes[name] = (*getattr(filters, name), *values)
    return replace(filters, **changes) if changes else filters  # type: ignore[arg-type]
