"""``kebab formats``: what can be read, by which engine, and what installs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kebab.cli.session import Session, command
from kebab.cli.tables import table

if TYPE_CHECKING:
    from kebab.cli.screen import Screen
    from kebab.domain.reports import FormatStatus

_SHOWN = 8


@command("formats")
def formats(session: Session) -> None:
    """Show which formats kebab reads, and what is missing."""
    from kebab import wire

    known = session.kebab().formats()
    session.put(wire.format_list(known), lambda: _formats(known, session.screen))


def _formats(known: list[FormatStatus], screen: Screen) -> str:
    rows = [[one.name, _endings(one.extensions), one.engine, one.install or "yes"] for one in known]
    return table(rows, header=("format", "files", "engine", "installed"), screen=screen, grow=[1])


def _endings(extensions: tuple[str, ...]) -> str:
    more = f" and {len(extensions) - _SHOWN} more" if len(extensions) > _SHOWN else ""
    return " ".join(extensions[:_SHOWN]) + more
