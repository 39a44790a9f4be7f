"""Requests that search: the filters that they share, and what each of them adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any

from msgspec import Meta

from kebab.config.sections import FusionName
from kebab.domain.documents import TrustLevel
from kebab.domain.ids import DocId
from kebab.domain.queries import SearchFilters, SearchMode, SortOrder, days, utc_time
from kebab.errors import InvalidInput
from kebab.wire.requests import Budget, Count, Request, Values, checked, checked_time, not_empty, several

FILTER_NAMES = tuple(field.name for field in fields(SearchFilters))


class Filtered(Request, frozen=True, kw_only=True):
    """The filters of a search: AND across the keys, OR inside one."""

    tag: Values = ()
    lang: Values = ()
    path: Values = ()
    media: Values = ()
    source: Values = ()
    source_type: Values = ()
    trust_min: TrustLevel | None = None
    doc_id: Values = ()
    repo: Values = ()
    code_lang: Values = ()
    symbol: Values = ()
    ingested_after: str | None = None
    """ISO 8601; a time without a zone is meant in UTC."""
    title: Values = ()
    file: Values = ()
    dated_from: str | None = None
    """A day, a month or a year: the note's date is in it or later."""
    dated_before: str | None = None
    """The note's date is before the day, the month or the year."""

    def __post_init__(self) -> None:
        if self.ingested_after is not None:
            checked_time("ingested_after", self.ingested_after)
        for name in ("dated_from", "dated_before"):
            _first_day(name, getattr(self, name))

    @property
    def filters(self) -> SearchFilters:
        lists = {name: several(getattr(self, name)) for name in FILTER_NAMES if name not in _SINGLE}
        after = utc_time(self.ingested_after) if self.ingested_after else None
        doc_id = tuple(map(DocId, lists.pop("doc_id")))
        return SearchFilters(
            **lists,
            doc_id=doc_id,
            trust_min=self.trust_min,
            ingested_after=after,
            dated_from=_first_day("dated_from", self.dated_from),
            dated_before=_first_day("dated_before", self.dated_before),
        )

    @property
    def arguments(self) -> dict[str, Any]:
        own = {key: value for key, value in super().arguments.items() if key not in FILTER_NAMES}
        if "query" in own:
            own["text"] = own.pop("query")
        return {**own, "filters": self.filters}


_SINGLE = ("trust_min", "ingested_after", "dated_from", "dated_before")


def _first_day(name: str, text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return days(text)[0]
    except ValueError:
        raise InvalidInput(
            f"{text!r} is not a date",
            hint="write it as 2025, 2025-03 or 2025-03-14",
            details={"field": name},
        ) from None


class Searching(Filtered, frozen=True, kw_only=True):
    """What every search takes; the settings stand in for what is not given."""

    mode: SearchMode | None = None
    k: Count | None = None


class SearchRequest(
    Searching, frozen=True, kw_only=True, tag_field="schema_version", tag="search_request.v1"
):
    """One page of hits, best first."""

    query: str
    fusion: FusionName | None = None
    explain: bool = False
    trace: bool = False
    cursor: str | None = None
    max_tokens: Budget | None = None
    snippet_chars: Annotated[int, Meta(ge=40, le=10_000)] | None = None
    exact: bool = False
    """Search for the words as they are typed, whether or not any document holds them."""
    sort: SortOrder = SortOrder.SCORE
    """The best hits by score, by path, or the newest notes first."""
    by_document: bool = False
    """One hit a document, its best, with the number of others."""
    groups: bool = False
    """Also the first documents, each by its best hit, beside the flat list."""
    min_score: Annotated[float, Meta(ge=0, le=1)] | None = None
    """Leave out hits with a lower score; the response says how many."""

    def __post_init__(self) -> None:
        super().__post_init__()
        not_empty("query", self.query)


class WhyRequest(Searching, frozen=True, kw_only=True, tag_field="schema_version", tag="why_request.v1"):
    """Why a document or a chunk was, or was not, among the results."""

    reference: str
    query: str
    fusion: FusionName | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        not_empty("reference", self.reference)
        not_empty("query", self.query)


class AskRequest(Searching, frozen=True, kw_only=True, tag_field="schema_version", tag="ask_request.v1"):
    """A question to answer from the documents."""

    question: str
    continue_from: str | None = None
    """Trace id of the answer that this question follows."""

    def __post_init__(self) -> None:
        super().__post_init__()
        not_empty("question", self.question)


class ListDocsRequest(
    Filtered, frozen=True, kw_only=True, tag_field="schema_version", tag="list_docs_request.v1"
):
    """The documents that the filters let through."""


class ListPageRequest(
    Filtered, frozen=True, kw_only=True, tag_field="schema_version", tag="list_page_request.v1"
):
    """Some of the documents that the filters let through, by source and path."""

    limit: Count = 50
    offset: Annotated[int, Meta(ge=0, le=(1 << 31) - 1)] = 0


def filters_of(values: Mapping[str, Any]) -> SearchFilters:
    """Filters by name, as they were typed. Raises InvalidInput."""
    return checked(ListDocsRequest, values).filters


def flat(filters: SearchFilters | None) -> dict[str, Any]:
    """Filters as the keys of a request."""
    return {name: getattr(filters, name) for name in FILTER_NAMES} if filters is not None else {}


SEARCH_REQUESTS = (SearchRequest, WhyRequest, AskRequest, ListDocsRequest, ListPageRequest)
