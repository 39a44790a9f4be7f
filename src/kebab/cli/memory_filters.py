"""The filters of the execution memory as options."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

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
)


def execution_filters(function: F) -> F:
    """Add the filters as options; the function receives them as one ``filters`` argument."""

    @wraps(function)
    def gathered(*args: Any, **given: Any) -> Any:
        from kebab.wire.requests.memory import RunFilters

        values = {name: given.pop(name) for name in RunFilters.__struct_fields__}
        return function(*args, filters=RunFilters.of(**values).filters, **given)

    decorated: Any = gathered
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]
