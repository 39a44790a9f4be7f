"""What can be asked of a knowledge base: one struct for each operation.

The command line, ``--bulk``, the Python API, MCP and HTTP all come through ``checked`` or ``decoded``, which
keeps bounds, defaults and error texts the same everywhere. A request only ever gains optional keys.

``requests.SearchRequest`` imports its module when it is first used: a search does not pay for the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

import msgspec
from msgspec import Meta

from kebab.domain.queries import utc_time
from kebab.errors import InvalidInput
from kebab.validation import Unfit, fitted

if TYPE_CHECKING:
    from kebab.wire.requests.connections import BriefRequest, LinksRequest, RelatedRequest
    from kebab.wire.requests.library import (
        FetchChunkRequest,
        FetchDocRequest,
        FetchRequest,
        FetchSpanRequest,
        IndexRequest,
        IngestRequest,
        IngestTextRequest,
        InspectChunkRequest,
        InspectDocRequest,
        ListRunsRequest,
    )
    from kebab.wire.requests.publishing import PublishRequest
    from kebab.wire.requests.search import AskRequest, ListDocsRequest, SearchRequest, WhyRequest, flat

__all__ = [
    "AskRequest",
    "BriefRequest",
    "FetchChunkRequest",
    "FetchDocRequest",
    "FetchRequest",
    "FetchSpanRequest",
    "IndexRequest",
    "IngestRequest",
    "IngestTextRequest",
    "InspectChunkRequest",
    "InspectDocRequest",
    "LinksRequest",
    "ListDocsRequest",
    "ListRunsRequest",
    "PublishRequest",
    "RelatedRequest",
    "SearchRequest",
    "WhyRequest",
    "flat",
]
_HOMES = {
    **dict.fromkeys(("AskRequest", "ListDocsRequest", "SearchRequest", "WhyRequest", "flat"), "search"),
    **dict.fromkeys(("BriefRequest", "LinksRequest", "RelatedRequest"), "connections"),
    "PublishRequest": "publishing",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'library')}"), name)


R = TypeVar("R", bound="Request")

Count = Annotated[int, Meta(ge=1, le=1000)]
"""How many of something."""
Budget = Annotated[int, Meta(ge=1, le=(1 << 31) - 1)]
"""Tokens that an answer may cost."""

Values = str | tuple[str, ...]
"""One value, or several of which any will do."""


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request; a key that it does not know is an error, so that a slip of the keys is noticed."""

    @classmethod
    def of(cls, **values: Any) -> Self:
        """The request that these values make; None stands for what was not given. Raises InvalidInput."""
        return checked(cls, values)

    @property
    def arguments(self) -> dict[str, Any]:
        """What the method of ``Kebab`` that answers the request takes, by parameter."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


def checked(kind: type[R], values: Mapping[str, Any], *, hint: str | None = None) -> R:
    """The request that these values make; None stands for a key that was not given. Raises InvalidInput."""
    given = {key: value for key, value in values.items() if value is not None}
    try:
        return fitted(given, kind)
    except Unfit as unfit:
        raise InvalidInput(_told(unfit), hint=hint, details={"key": unfit.key}) from unfit


def decoded(
    kind: type[R], text: str | bytes, *, defaults: Mapping[str, Any] | None = None, hint: str | None = None
) -> R:
    """The request that a JSON object makes, over ``defaults``. Raises InvalidInput."""
    import json

    try:
        # Not msgspec's decoder: it refuses the lone surrogates that JSON allows.
        asked = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"this is not JSON: {error}", hint=hint) from error
    if not isinstance(asked, dict):
        raise InvalidInput("this is not a JSON object", hint=hint)
    return checked(kind, {**(defaults or {}), **asked}, hint=hint)


def not_empty(key: str, text: str) -> None:
    """Raises ValueError, which a request turns into its own error."""
    if not text.strip():
        raise ValueError(f"the {key} is empty")


def checked_time(key: str, text: str) -> None:
    """Raises ValueError for what is no ISO 8601 time."""
    try:
        utc_time(text)
    except ValueError as error:
        example = "such as 2026-02-28 or 2026-02-28T09:00:00+09:00"
        raise ValueError(f"{key}: {text!r} is not an ISO 8601 time, {example}") from error


def several(values: Values) -> tuple[str, ...]:
    """A value as the list of one that it stands for."""
    return (values,) if isinstance(values, str) else values


def _told(unfit: Unfit) -> str:
    if unfit.unknown:
        return f"there is no option {unfit.key!r}"
    if unfit.value:
        return f"{unfit.key} is {unfit.value}; {unfit.problem}"
    return f"{unfit.key}: {unfit.problem}" if unfit.key else unfit.problem
