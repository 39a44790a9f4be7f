"""The group ``kebab memory``, and the options that several of its commands take."""

from __future__ import annotations

from collections.abc import Sized

import click

from kebab.cli.session import Session, group
from kebab.domain.recalls import Prefer

LIMIT = click.option("-k", "--limit", default=10, show_default=True, type=int, help="How many, up to 1000.")
PREFER = click.option(
    "--prefer",
    type=click.Choice([Prefer.SUCCESS.value]),
    help="Let the outcome weigh: a failed run counts half.",
)
TYPE = click.option("--type", "task_type", metavar="TYPE", help="Only this type of task.")

MIN_SCORE = click.option(
    "--min-score",
    type=float,
    help="Least relevance, 0 to 1; 0 shows everything that is near.  [default: 0.5]",
)
HALF_LIFE = click.option(
    "--recency",
    "half_life_days",
    type=float,
    metavar="DAYS",
    help="Let age weigh: half of the weight by then.",
)

memory = group("memory", help="Record what agents did, and find it again by words and by meaning.")


def found_or_say(session: Session, found: Sized, otherwise: str) -> int:
    """The exit status; an empty result is never met by silence."""
    if not found:
        session.say(otherwise)
    return 0 if found else 1
