"""Times as people type them."""

from __future__ import annotations

from datetime import datetime

from kebab.domain.queries import utc_time
from kebab.errors import InvalidInput


def typed_time(value: str | None) -> str | None:
    """A typed time in UTC, as filters compare it; one without a zone is meant in UTC.

    None for nothing typed. Raises InvalidInput.
    """
    if not value:
        return None
    try:
        return utc_time(value)
    except ValueError as error:
        raise InvalidInput(
            f"{value!r} is not an ISO 8601 time", hint="such as 2026-02-28 or 2026-02-28T09:00:00+09:00"
        ) from error


def moment(value: str | None) -> datetime | None:
    """The same as a moment that can be reckoned with."""
    typed = typed_time(value)
    return datetime.fromisoformat(typed) if typed else None
