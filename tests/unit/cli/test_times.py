"""Times as people type them: with and without a zone, for every filter alike."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kebab.cli.times import moment
from kebab.errors import InvalidInput
from kebab.wire.requests.search import filters_of


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2026-02-28", "2026-02-28T00:00:00Z"),
        ("2026-02-28T09:00:00", "2026-02-28T09:00:00Z"),
        ("2026-02-28T09:00:00+09:00", "2026-02-28T00:00:00Z"),
    ],
)
def test_a_time_without_a_zone_is_meant_in_utc(typed: str, meant: str) -> None:
    assert moment(typed) == datetime.fromisoformat(meant).astimezone(UTC)
    assert filters_of({"ingested_after": typed}).ingested_after == meant


def test_nothing_typed_is_no_time() -> None:
    assert moment(None) is moment("") is None
    assert filters_of({}).ingested_after is None


def test_a_word_is_no_time() -> None:
    with pytest.raises(InvalidInput, match="'soon' is not an ISO 8601 time"):
        moment("soon")
