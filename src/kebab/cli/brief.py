"""``kebab brief``: what an agent should know before it starts."""

from __future__ import annotations

import click

from kebab.cli import render
from kebab.cli.filters import filter_options
from kebab.cli.memory_filters import pairs_of
from kebab.cli.session import INDEX, Session, command
from kebab.domain.controls import harmless
from kebab.domain.queries import SearchFilters


@command("brief")
@INDEX
@click.argument("task", nargs=-1, required=True)
@click.option("--max-tokens", type=int, help="How much may be said; default 1500.")
@click.option(
    "--scope", multiple=True, metavar="NAME=VALUE", help="Runs of this project=, user= or session=."
)
@filter_options
def brief(
    session: Session,
    task: tuple[str, ...],
    max_tokens: int | None,
    scope: tuple[str, ...],
    filters: SearchFilters,
) -> int:
    """Tell what to know before a task: documents and past runs.

    Prints the lines of documents that matter, what worked before and what failed, each with its citation or
    the id of the run. The filters bind the documents. Exits with status 1 if nothing is known.
    """
    from kebab import wire

    kebab = session.kebab()
    found = kebab.brief(
        " ".join(task), max_tokens=max_tokens, filters=filters, scope=pairs_of(scope, option="--scope")
    )
    session.warn(map(render.degradation, found.degraded))
    session.put(lambda: wire.brief(found), lambda: harmless(found.text))
    more = f", {found.left_out} more did not fit" if found.left_out else ""
    session.say(f"{found.tokens} of {found.max_tokens} tokens{more}")
    return 1 if found.is_empty else 0
