"""What every command that stays does: it answers other commands, and follows the files where asked to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING

import click

from kebab.errors import KebabError

if TYPE_CHECKING:
    from kebab.cli.session import Session
    from kebab.ingest.watch import Heard


WATCH = click.option("--watch", is_flag=True, help="Index files as they change, too.")


@contextmanager
def staying(
    session: Session, *, watch: bool = False, heard: Heard | None = None, warm: bool = True
) -> Iterator[None]:
    """Answer searches and questions of the shell while the block runs; with ``watch`` also follow the files.

    ``heard`` says who hears of the files; without it, notes go to stderr and stdout is left to the command.
    ``warm`` makes ready for the first of them: indexes and model are loaded beside what else is done.
    """
    from kebab.cli.door import opened_door

    with ExitStack() as stack:
        if not session.kebab().settings.index.url:  # what is published elsewhere has no data folder here
            stack.enter_context(opened_door(session.kebab()))
        if watch:
            stack.enter_context(session.kebab().watch(heard or _heard(session)))
        if warm:
            Thread(target=warm_up, args=(session,), name="kebab-warm", daemon=True).start()
        yield


def warm_up(session: Session) -> None:
    """Load what a search needs."""
    # Nothing is stored yet, or a model is missing: a search will say so.
    with suppress(KebabError):
        session.kebab().search("kebab", k=1)


def _heard(session: Session) -> Heard:
    """Only what a person should know: stdout belongs to the command."""
    from kebab.ingest.watch import Heard

    return Heard(note=lambda message: session.warn([message]))
