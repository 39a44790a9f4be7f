"""The help of the terminal screen."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

TEXT = """\
[b]Search[/b]
  type            search as you type
  "two words"     a phrase;  -word excludes
  tag:x lang:ko   filters;  path:notes/** too
  ↓ or Enter      go to the results

[b]Results[/b]
  ↑ ↓  j k        move
  Enter  o        open in $EDITOR at the line
  F2  e           why this hit stands here
  /  Esc          back to the query

[b]Screen[/b]
  F3              ask instead of search
  F4              filters with counts
  F5              words, meaning or both
  PgUp PgDn       scroll the note
  Ctrl+Q          quit

Press any key to close."""


class Help(ModalScreen[None]):
    """Closes on any key."""

    CSS = """
    Help { align: center middle; }
    Help VerticalScroll { width: 56; max-width: 96%; height: auto; max-height: 96%; border: round $accent;
                          padding: 0 1; background: $surface; }
    """

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(TEXT)

    def on_key(self) -> None:
        self.dismiss()
