"""``kebab tui``: the terminal screen."""

from __future__ import annotations

import sys

from kebab.cli.session import INDEX, Session, command
from kebab.cli.staying import WATCH, staying
from kebab.errors import InvalidInput


@command("tui")
@INDEX
@WATCH
def tui(session: Session, watch: bool) -> int:
    """Search, read and ask on a terminal screen.

    Type to search; Enter opens the note in $EDITOR at the line; F1 shows the keys.
    """
    kebab = session.kebab()
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInput("the screen needs a terminal", hint="in a pipe use: kebab search")
    from kebab.ingest.watch import Heard
    from kebab.tui.app import KebabTui

    kebab.revision()  # a place without a knowledge base is told now, not on a screen
    # The screen is the application's: nothing else may write on it.
    with staying(session, watch=watch, heard=Heard()):
        KebabTui(kebab).run()
    return 0
