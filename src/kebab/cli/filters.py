"""The filters of a search as options, shared by every command that searches."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from kebab.cli.session import OneOf
from kebab.domain.documents import TrustLevel

F = TypeVar("F", bound=Callable[..., Any])

REPEATABLE = {
    "tag": "Only documents with this tag.",
    "lang": "Only this language, such as en or ko.",
    "path": "Only paths that match this glob; ** crosses folders.",
    "media": "Only this format, such as markdown or text.",
    "source": "Only this source, by its id.",
    "source_type": "Only this source type, such as note.",
    "doc_id": "Only this document, by its id or the start of it.",
    "repo": "Only this repository, such as owner/name or name.",
    "code_lang": "Only this programming language, such as python or c++.",
    "symbol": "Only this function, class or the like, such as Ship.speed, speed or 'Ship.*'.",
    "title": "Only titles that hold this text.",
    "file": "Only file names that hold this text, or match this glob.",
}
"""Each may be given several times: OR inside one filter, AND across filters."""

FILTER_NAMES = (*REPEATABLE, "trust_min", "ingested_after", "dated_from", "dated_before")


def filter_options(function: F) -> F:
    """Add the filters as options; the function receives them as one ``filters`` argument."""

    @wraps(function)
    def gathered(*args: Any, **values: Any) -> Any:
        from kebab.wire.requests.search import filters_of

        taken = {name: values.pop(name) for name in FILTER_NAMES}
        return function(*args, filters=filters_of(taken), **values)

    decorated: Any = gathered
    for name, text in reversed(REPEATABLE.items()):
        decorated = click.option(f"--{name.replace('_', '-')}", name, multiple=True, help=text)(decorated)
    trust = click.option(
        "--trust-min", type=OneOf(TrustLevel), help="Only documents with this trust level or higher."
    )
    after = click.option(
        "--ingested-after", metavar="TIME", help="Only documents indexed after this ISO 8601 time."
    )
    since = click.option(
        "--after", "dated_from", metavar="DATE", help="Only notes of this day, month or year, or later."
    )
    before = click.option(
        "--before", "dated_before", metavar="DATE", help="Only notes from before this date."
    )
    return trust(since(before(after(decorated))))  # type: ignore[no-any-return]
