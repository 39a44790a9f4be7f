"""``kebab tui``: the terminal screen."""

from __future__ import annotations

import sys

from kebab.cli.session import Session, command
from kebab.errors import InvalidInput


@command("tui")
def tui(session: Session) -> int:
    """Search, read and ask on a terminal screen.

    Type to search; Enter opens the note in $EDITOR at the line; F1 shows the keys.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInput("the screen needs a terminal", hint="in a pipe use: kebab search")
    from kebab.tui.app import KebabTui

    kebab = session.kebab()
    kebab.revision()  # a place without a knowledge base is told now, not on a screen
    KebabTui(kebab).run()
    return 0
