"""``kebab search --bulk``: one JSON object a line in, one a line out."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kebab.cli.filters import FILTER_NAMES, filters_of
from kebab.cli.session import Session
from kebab.domain.ids import encodable
from kebab.domain.queries import SearchFilters, SearchMode
from kebab.errors import InvalidInput, KebabError

SHAPE = '{"query": "seat hold", "mode": "hybrid", "k": 5, "tag": ["tidepool"], "lang": ["en"]}'
OPTIONS = ("mode", "k", "fusion", "explain", "trace", "cursor", "max_tokens", "snippet_chars")


def search_all(session: Session, *, explain: bool, defaults: Mapping[str, Any]) -> int:
    """Answer every line of stdin with a ``bulk_search_item.v1``; a bad line does not stop the others.

    Options of the command line hold for each line that does not say otherwise. Leaves with 1 when a line
    failed or found nothing.
    """
    from kebab import wire

    complete = True
    for number, line in enumerate(sys.stdin, start=1):
        if not line.strip():
            continue
        query: str | None = None
        try:
            asked = _read(line, number=number)
            query = encodable(asked["query"])
            response = _search(session, asked, explain=explain, defaults=defaults)
            item = wire.BulkSearchItem(query=query, response=response, error=None)
            complete = complete and bool(response.hits)
        except KebabError as error:
            item = wire.BulkSearchItem(query=query, response=None, error=wire.error(error))
            complete = False
        session.put_json(item)
    return 0 if complete else 1


def _search(session: Session, asked: dict[str, Any], *, explain: bool, defaults: Mapping[str, Any]) -> Any:
    from kebab import wire

    options = {**defaults, **{name: asked[name] for name in OPTIONS if name in asked}}
    options["explain"] = bool(asked.get("explain", explain))
    if options.get("mode"):
        options["mode"] = _mode(options["mode"])
    options["filters"] = _filters(asked, defaults["filters"])
    response = session.kebab().search(asked["query"], **options)
    return wire.search_response(response, explain=options["explain"])


def _read(line: str, *, number: int) -> dict[str, Any]:
    try:
        asked = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _wrong(f"line {number} is not JSON: {error}") from error
    if not isinstance(asked, dict) or not isinstance(asked.get("query"), str) or not asked["query"].strip():
        raise _wrong(f'line {number} is not an object with a text under "query"')
    if unknown := sorted(set(asked) - {"query", *OPTIONS, *FILTER_NAMES}):
        raise _wrong(f"line {number}: there is no option {unknown[0]!r}")
    for name, kinds in _KINDS.items():
        if name in asked and not isinstance(asked[name], kinds):
            raise _wrong(f"line {number}: {name} is {asked[name]!r}")
    for name, allowed in _RANGES.items():
        # True would pass for 1.
        if name in asked and (isinstance(asked[name], bool) or asked[name] not in allowed):
            between = f"it must lie between {allowed.start} and {allowed.stop - 1}"
            raise _wrong(f"line {number}: {name} is {asked[name]!r}; {between}")
    return asked


_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(FILTER_NAMES, (str, list)),
    **dict.fromkeys(("mode", "fusion", "cursor", "trust_min", "ingested_after"), (str,)),
    **dict.fromkeys(("k", "max_tokens", "snippet_chars"), (int,)),
    **dict.fromkeys(("explain", "trace"), (bool,)),
}
_RANGES = {"k": range(1, 1001), "max_tokens": range(1, 1 << 31), "snippet_chars": range(40, 10_001)}
"""What the options of the command line allow as well."""


def _mode(value: str) -> SearchMode:
    if value not in list(SearchMode):
        raise _wrong(f"there is no mode {value!r}")
    return SearchMode(value)


def _filters(asked: dict[str, Any], defaults: SearchFilters) -> SearchFilters:
    own = filters_of(asked)
    return replace(defaults, **{name: getattr(own, name) for name in FILTER_NAMES if name in asked})


def _wrong(message: str) -> InvalidInput:
    return InvalidInput(message, hint=f"one object a line, such as {SHAPE}")
