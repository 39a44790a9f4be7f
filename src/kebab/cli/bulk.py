"""``kebab search --bulk``: one JSON object a line in, one a line out."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from kebab.cli.session import Session
from kebab.domain.ids import encodable
from kebab.errors import InvalidInput, KebabError

SHAPE = '{"query": "seat hold", "mode": "hybrid", "k": 5, "tag": ["tidepool"], "lang": ["en"]}'
HINT = f"write one object per line, such as {SHAPE}"


def search_all(session: Session, *, defaults: Mapping[str, Any]) -> int:
    """Answer every line of stdin with a ``bulk_search_item.v1``; a bad line does not stop the others.

    Options of the command line hold for each line that does not say otherwise. Exits with status 1 if a line
    failed or found nothing.
    """
    items = (
        _item(session, line, number, defaults) for number, line in enumerate(sys.stdin, 1) if line.strip()
    )
    complete = True
    for item in items:
        session.put_json(item)
        complete = complete and bool(item.response and item.response.hits)
    return 0 if complete else 1


def _item(session: Session, line: str, number: int, defaults: Mapping[str, Any]) -> Any:
    """The answer to one line: a response, or the error that it met."""
    from kebab import wire
    from kebab.wire.requests import decoded
    from kebab.wire.requests.search import SearchRequest

    query: str | None = None
    try:
        asked = decoded(SearchRequest, line, defaults=defaults, hint=HINT)
        query = encodable(asked.query)
        found = session.kebab().search(**asked.arguments)
        response = wire.search_response(found, explain=asked.explain)
        return wire.BulkSearchItem(query=query, response=response, error=None)
    except InvalidInput as error:
        numbered = InvalidInput(f"line {number}: {error.message}", hint=error.hint, details=error.details)
        return wire.BulkSearchItem(query=query, response=None, error=wire.error(numbered))
    except KebabError as error:
        return wire.BulkSearchItem(query=query, response=None, error=wire.error(error))
