"""Asking before something is done that cannot be undone, or that somebody must answer for."""

from __future__ import annotations

import sys

import click

from kebab.errors import InvalidInput


def agreed(question: str, *, yes: bool, command: str) -> bool:
    """Whether the user agrees: by ``--yes``, or by answering on the terminal.

    Raises InvalidInput, with the command that says yes, where there is no terminal to ask on.
    """
    _require_terminal(question, yes=yes, command=command)
    return yes or click.confirm(question, err=True)


def typed_out(question: str, expected: str, *, yes: bool, command: str) -> bool:
    """Whether the user agrees by typing ``expected``; else like ``agreed``."""
    _require_terminal("", yes=yes, command=command)
    if yes:
        return True
    typed = click.prompt(question, err=True, default="", show_default=False)
    return bool(typed.strip() == expected)


def _require_terminal(question: str, *, yes: bool, command: str) -> None:
    if not yes and not sys.stdin.isatty():
        asked = f": {question}" if question else ""
        raise InvalidInput(
            f"`{command}` needs confirmation, and there is no terminal to ask on{asked}",
            hint=f"confirm with: {command} --yes",
        )
