"""The filters of the execution memory as options."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

import click

from kebab.domain.executions import Scalar
from kebab.errors import InvalidInput

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--agent", multiple=True, help="Only this agent; may be repeated."),
    click.option("--role", multiple=True, help="Only this role."),
    click.option("--type", "task_type", metavar="TYPE", multiple=True, help="Only this type of task."),
    click.option("--provider", multiple=True, help="Only this provider."),
    click.option("--success/--failure", default=None, help="Only runs that ended so."),
    click.option("--after", metavar="TIME", help="Finished at this ISO 8601 time or later."),
    click.option("--before", metavar="TIME", help="Finished before this time."),
    click.option("--max-cost-cents", type=click.IntRange(0), help="Cost no more than this."),
    click.option("--tag", multiple=True, help="Only with this tag; may be repeated."),
    click.option("--scope", multiple=True, metavar="NAME=VALUE", help="project=, user= or session=."),
    click.option("--meta", "metadata", multiple=True, metavar="NAME=VALUE", help="Only with this metadata."),
)


def pairs_of(given: Iterable[str], *, option: str) -> dict[str, str]:
    """What NAME=VALUE options say. Raises InvalidInput for one without a name or a sign."""
    found: dict[str, str] = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not name.strip() or not sign:
            raise InvalidInput(f"{option} {each!r} is not NAME=VALUE", hint=f"such as {option} project=kebab")
        found[name.strip()] = value
    return found


def scalars_of(given: Iterable[str], *, option: str) -> dict[str, Scalar]:
    """The same with values typed: true and false, whole numbers, numbers, else text."""
    return {name: _scalar(value) for name, value in pairs_of(given, option=option).items()}


def counts_of(given: Iterable[str], *, option: str) -> dict[str, int]:
    """The same with whole numbers. Raises InvalidInput for another value."""
    try:
        return {name: int(value) for name, value in pairs_of(given, option=option).items()}
    except ValueError as error:
        raise InvalidInput(f"{option} needs whole numbers: {error}") from error


def _scalar(value: str) -> Scalar:
    if value in ("true", "false"):
        return value == "true"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def execution_filters(function: F) -> F:
    """Add the filters as options; the function receives them as one ``filters`` argument."""

    @wraps(function)
    def gathered(*args: Any, **given: Any) -> Any:
        from kebab.wire.requests.memory import RunFilters

        given["scope"] = pairs_of(given["scope"], option="--scope")
        given["metadata"] = pairs_of(given["metadata"], option="--meta")
        values = {name: given.pop(name) for name in RunFilters.__struct_fields__}
        return function(*args, filters=RunFilters.of(**values).filters, **given)

    decorated: Any = gathered
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]
