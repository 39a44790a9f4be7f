"""What is asked of a search."""

from __future__ import annotations

import re
from dataclasses import field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from kebab.domain.documents import TrustLevel
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.values import dataclass


class SearchMode(StrEnum):
    LEXICAL = "lexical"
    VECTOR = "vector"
    HYBRID = "hybrid"


class SortOrder(StrEnum):
    SCORE = "score"
    DATE = "date"
    """The newest notes first."""
    PATH = "path"


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """AND across the fields, OR inside one; an empty field does not filter."""

    tag: tuple[str, ...] = ()
    lang: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    """Globs over the document's path: ``*`` stays inside a folder, ``**`` crosses folders."""
    media: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    source_type: tuple[str, ...] = ()
    trust_min: TrustLevel | None = None
    doc_id: tuple[DocId, ...] = ()
    """Whole ids or beginnings of them."""
    repo: tuple[str, ...] = ()
    """``owner/name``, or the end of it after a slash."""
    code_lang: tuple[str, ...] = ()
    symbol: tuple[str, ...] = ()
    """Functions, classes and the like by their whole symbol or its end after a dot; ``*`` is any text."""
    ingested_after: str | None = None
    """ISO 8601 in UTC."""
    title: tuple[str, ...] = ()
    """Texts that the title holds, whatever their case."""
    file: tuple[str, ...] = ()
    """Texts that the name of the file holds, whatever their case; or globs over it."""
    dated_from: str | None = None
    """The first day of the note's date, as YYYY-MM-DD; see ``domain.names.dated``."""
    dated_before: str | None = None
    """The day before which the note's date lies."""

    def __bool__(self) -> bool:
        return self != SearchFilters()


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One search. ``text`` is what the person typed, minus the ``field:value`` filters taken out of it."""

    text: str
    mode: SearchMode = SearchMode.HYBRID
    k: int = 10
    filters: SearchFilters = field(default_factory=SearchFilters)
    phrases: tuple[str, ...] = ()
    """Texts in double quotes: every hit contains each of them. They are part of ``text`` as well."""
    prefixes: tuple[str, ...] = ()
    """Beginnings of words, written ``word*``. They are part of ``text`` as well."""
    patterns: tuple[str, ...] = ()
    """Regular expressions, written ``/pattern/``: every hit matches each of them. No part of ``text``."""
    either: tuple[tuple[str, ...], ...] = ()
    """Groups of alternatives, ``"a b" OR c``: every hit holds one of each. They are part of ``text``, too."""
    only: tuple[ChunkId, ...] | None = None
    """The chunks that patterns and alternatives leave, once they were looked for; None without any."""
    excluded: tuple[str, ...] = ()
    """Words written ``-word``: no hit contains one. They are not part of ``text``."""
    explain: bool = False
    """Also say which words of the query each hit holds."""
    snippet_chars: int | None = None
    """How long a snippet may be; None means as configured."""
    exact: bool = False
    """Look for the words as they are typed, whether or not any document holds them."""
    corrected: bool = False
    """Some words of ``text`` stand in the place of what was typed."""
    sort: SortOrder = SortOrder.SCORE
    by_document: bool = False
    """One hit a document, its best; the others are counted in it."""
    misread: tuple[str, ...] = ()
    """What looks like a filter and says nothing, such as after:2024-13-45: it is searched for as text."""
    read: tuple[int, int] | None = None
    """Of the hits in order, the first that is shown and the one after the last: only these need snippets.

    None means all.
    """


def days(text: str) -> tuple[str, str]:
    """The first day that a date, a month or a year means, and the first day after it, as YYYY-MM-DD.

    Raises ValueError for any other text.
    """
    numbers = [int(part) for part in text.split("-")] if _DAYS.fullmatch(text) else []
    if not numbers:
        raise ValueError(f"{text!r} is no date")
    first = date(*[*numbers, 1, 1][:3])
    if len(numbers) == 3:
        return first.isoformat(), (first + timedelta(days=1)).isoformat()
    year, month = (first.year, first.month + 1) if len(numbers) == 2 else (first.year + 1, 1)
    return first.isoformat(), date(year + month // 13, (month - 1) % 12 + 1, 1).isoformat()


_DAYS = re.compile(r"[12]\d{3}(?:-\d{1,2}){0,2}")


def utc_time(text: str) -> str:
    """An ISO 8601 time as ``ingested_after`` holds it; raises ValueError for any other text.

    A time without a zone is meant in UTC, a bare date means its midnight.
    """
    moment = datetime.fromisoformat(text)
    try:
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:  # the first day of the year 1 or the last of 9999, beyond UTC's
        raise ValueError(f"{text} does not lie within the calendar") from error
    return moment.isoformat().replace("+00:00", "Z")
