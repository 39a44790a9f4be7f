"""``kebab chat``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import click

from kebab.cli.ask import show_stream
from kebab.cli.filters import filter_options
from kebab.cli.search import COUNT, MODE
from kebab.cli.session import INDEX, Session, command

NEW, QUIT = "/new", "/quit"
COMMANDS = f"{NEW} starts over, {QUIT} ends."
_COMMAND = re.compile(r"/[A-Za-z]*")
"""What can only be meant as a command: a word behind a slash, and nothing else."""


@command("chat")
@INDEX
@MODE
@COUNT
@click.option("--explain", is_flag=True, help="Show how each answer was found.")
@click.option("--continue", "continue_from", metavar="TRACE_ID", help="Go on from an earlier answer.")
@filter_options
def chat(session: Session, explain: bool, continue_from: str | None, **options: Any) -> None:
    """Ask questions that follow each other, one on each line.

    A question that leans on the one before ("and in Korean?", "그건 왜?") is shown as it was understood.
    /new forgets what was said, /quit or Ctrl-D ends. With --json, one answer_event.v1 per line.
    """
    kebab = session.kebab()
    session.say(f"Ask a question. {COMMANDS}")
    before = continue_from
    for question in _questions(session):
        if question == NEW:
            before = None
            continue
        if _COMMAND.fullmatch(question):
            session.say(COMMANDS)
            continue
        events = kebab.ask_stream(question, continue_from=before, **options)
        _, answer = show_stream(session, events, explain=explain)
        before = answer.trace_id if answer is not None else before


def _questions(session: Session) -> Iterator[str]:
    """The lines typed, until the end or /quit; a prompt only where somebody can see it."""
    prompt = not session.json and sys.stdin.isatty()
    while True:
        if prompt:
            click.echo("\n> ", nl=False, err=True)
        line = sys.stdin.readline()
        if not line or line.strip() == QUIT:
            return
        if line.strip():
            yield line.strip()
