"""The filters of the execution memory as options."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from kebab.cli.times import moment
from kebab.domain.executions import ExecutionFilters

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
    def gathered(
        *args: Any, after: str | None, before: str | None, agent: Any, role: Any, task_type: Any, **rest: Any
    ) -> Any:
        filters = ExecutionFilters(
            agent=agent,
            role=role,
            task_type=task_type,
            provider=rest.pop("provider"),
            success=rest.pop("success"),
            after=moment(after),
            before=moment(before),
            max_cost_cents=rest.pop("max_cost_cents"),
        )
        return function(*args, filters=filters, **rest)

    decorated: Any = gathered
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]
