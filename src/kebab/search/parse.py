"""Reading what a person typed: phrases, exclusions, /patterns/, ``field:value`` filters; the rest is data.

No input is a syntax error. A quote that never closes, a lone dash, a URL or an unknown field is text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import chain

from kebab.domain.documents import TrustLevel
from kebab.domain.ids import encodable, nfc
from kebab.domain.queries import SearchFilters, SearchMode, SearchQuery, days, utc_time

# What stands before the quotes, with no space between, says what they are for: -"a b", tag:"a b".
_QUOTED = re.compile(r'(?P<lead>(?<!\S)(?:-|NOT |[a-z_]+:))?"(?P<inside>[^"]*)"')
# A dash excludes only at the start of a word and only before a letter: -5, --flag and a-b are text. A
# single Latin letter behind it is an option of a command, as in git rebase -i.
_EXCLUDED = re.compile(r"(?<!\S)(?:-(?![a-zA-Z](?!\S))|NOT )([^\W\d_][^\s\"]*)")
# Words are alternatives anyway; in capitals between two of them it is the operator and no word.
_OR = re.compile(r"(?<=\S )OR(?= \S)")
_OR_BETWEEN_FILTERS = re.compile(r"(?<=\x00)\s+OR\s+(?=\x00)")
# A slash inside must be escaped, so that /usr/bin/ and 1/2 stay text, as does a slash with a space behind it.
_PATTERN = re.compile(r"(?<!\S)/(?!\s)((?:[^/\\\n]|\\.)+)(?<!\s)/(?!\S)")
# Alternatives in which something is quoted; others are words, of which a hit holds some anyway.
_EITHER = re.compile(r'(?<!\S)(?:"[^"]*"|[^\s"]+)(?:\s+OR\s+(?:"[^"]*"|[^\s"]+))+(?!\S)')
_OPERAND = re.compile(r'"([^"]*)"|([^\s"]+)')
_PREFIX = re.compile(r"(?<!\S)([^\W_]{2,40})\*(?!\S)")
_FIELD = re.compile(r"(?<!\S)([a-z_]+):(\S+)")

_MOST_TYPED = 60
"""What has more words, or several lines, was pasted."""

_ALIASES = {"type": "source_type", "trust": "trust_min", "after": "ingested_after", "doc": "doc_id"}
_FIELDS = {field.name for field in fields(SearchFilters)}

Taken = dict[str, list[str]]
"""The values of filters by the name of their field."""


def parse_query(
    text: str,
    *,
    mode: SearchMode = SearchMode.HYBRID,
    k: int = 10,
    filters: SearchFilters | None = None,
    patterns: bool = True,
) -> SearchQuery:
    """The query a text stands for. Filters in the text add to ``filters``.

    Without ``patterns``, what stands between slashes is text. In what was pasted, such as a stack trace or a
    paragraph, quotes, dashes and colons are the text's own: nobody asked for them.
    """
    taken: Taken = defaultdict(list)
    text = nfc(encodable(text)).strip()
    if _is_pasted(text):
        return SearchQuery(text=" ".join(text.split()), mode=mode, k=k, filters=filters or SearchFilters())
    found, text = _take_patterns(text) if patterns else ((), text)
    either, text = _take_either(text)
    phrases, excluded, outside = _take_quoted(text, taken)
    outside = _take_filters(outside, taken)
    excluded += _EXCLUDED.findall(outside)
    outside = _OR.sub(" ", " ".join(_EXCLUDED.sub(" ", outside).split()))
    prefixes = _PREFIX.findall(outside)
    words = " ".join([_PREFIX.sub(r"\1", outside), *phrases, *chain.from_iterable(either)])
    return SearchQuery(
        text=" ".join(words.split()),
        mode=mode,
        k=k,
        filters=_merged(filters or SearchFilters(), taken),
        phrases=tuple(phrases),
        prefixes=tuple(prefixes),
        patterns=tuple(found),
        either=tuple(either),
        excluded=tuple(excluded),
        misread=tuple(match[0] for match in _FIELD.finditer(outside) if _is_misread(match[1], match[2])),
    )


def _is_pasted(text: str) -> bool:
    return "\n" in text or len(text.split()) > _MOST_TYPED


def _take_either(text: str) -> tuple[list[tuple[str, ...]], str]:
    """The groups of alternatives, and the text without them; filters and exclusions make no group."""
    groups: list[tuple[str, ...]] = []

    def take(match: re.Match[str]) -> str:
        found = [quoted or bare for quoted, bare in _OPERAND.findall(match[0]) if (quoted or bare) != "OR"]
        bare = [word for quoted, word in _OPERAND.findall(match[0]) if not quoted]
        if '"' not in match[0] or any(":" in word or word.startswith("-") for word in bare):
            return match[0]
        groups.append(tuple(part for part in (text.strip() for text in found) if part))
        return " "

    return groups, _EITHER.sub(take, text)


def _take_patterns(text: str) -> tuple[Sequence[str], str]:
    """The regular expressions, and the text without them; what stands in quotes is none."""
    parts = text.split('"')
    # Between two quotes stands every second part; behind an unclosed one everything is text again.
    outside = [at for at in range(len(parts)) if at % 2 == 0 or at == len(parts) - 1]
    patterns = [found for at in outside for found in _PATTERN.findall(parts[at])]
    for at in outside:
        parts[at] = _PATTERN.sub(" ", parts[at])
    return [pattern.replace("\\/", "/") for pattern in patterns], '"'.join(parts)


def _take_quoted(text: str, taken: Taken) -> tuple[list[str], list[str], str]:
    """The phrases, those that are excluded, and the text without them; filters go into ``taken``."""
    phrases: list[str] = []
    excluded: list[str] = []

    def take(match: re.Match[str]) -> str:
        lead, inside = match["lead"] or "", match["inside"].strip()
        if lead in ("-", "NOT "):
            excluded.extend([inside] if inside else [])
            return " "
        if inside and lead and _take_filter(lead[:-1], inside, taken):
            return " "
        phrases.extend([inside] if inside else [])
        return f"{lead} "

    outside = _QUOTED.sub(take, text)
    return phrases, excluded, outside


def _take_filters(text: str, taken: Taken) -> str:
    """The text without them, and without an OR between two: values of one filter are alternatives anyway."""
    left = _FIELD.sub(
        lambda match: "\x00" if _take_filter(match[1], match[2], taken) else match[0],
        text.replace("\x00", " "),
    )
    return _OR_BETWEEN_FILTERS.sub(" ", left).replace("\x00", " ")


def _take_filter(field: str, value: str, taken: Taken) -> bool:
    """Whether ``field:value`` is a filter; what only looks like one, such as after:lunch, stays text."""
    if field in _DATES and _take_days(field, value, taken):
        return True
    name = _ALIASES.get(field, field)
    if name in ("dated_from", "dated_before"):
        return False
    if name not in _FIELDS or (name == "trust_min" and value not in list(TrustLevel)):
        return False
    if name == "ingested_after":
        try:
            value = utc_time(value)
        except ValueError:
            return False
    taken[name].append(value)
    return True


def _take_days(field: str, value: str, taken: Taken) -> bool:
    """Whether after:, before: or on: is followed by a day, a month or a year."""
    try:
        first, behind = days(value)
    except ValueError:
        return False
    if field in ("after", "on"):
        taken["dated_from"].append(first)
    if field in ("before", "on"):
        taken["dated_before"].append(behind if field == "on" else first)
    return True


def _is_misread(field: str, value: str) -> bool:
    """Whether a value that was left as text was meant for a filter: a date of figures, a level of trust."""
    return (field in _DATES and value[0].isdigit()) or (field == "trust" and value.isalpha())


_DATES = ("after", "before", "on")


def _merged(filters: SearchFilters, taken: Taken) -> SearchFilters:
    changes: dict[str, object] = {}
    for name, values in taken.items():
        if name == "trust_min":
            changes[name] = TrustLevel(values[-1])
        elif name in ("ingested_after", "dated_from", "dated_before"):
            changes[name] = values[-1]
        else:
            changes[name] = (*getattr(filters, name), *values)
    return replace(filters, **changes) if changes else filters  # type: ignore[arg-type]
