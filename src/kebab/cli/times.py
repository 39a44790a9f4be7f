"""Times as people type them."""

from __future__ import annotations

from datetime import UTC, datetime

from kebab.errors import InvalidInput


def moment(value: str | None) -> datetime | None:
    """A time as typed; one without a zone is meant in UTC, a bare date means its midnight.

    None for nothing typed. Raises InvalidInput.
    """
    if not value:
        return None
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError as error:
        raise InvalidInput(
            f"{value!r} is not an ISO 8601 time", hint="such as 2026-02-28 or 2026-02-28T09:00:00+09:00"
        ) from error
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed
