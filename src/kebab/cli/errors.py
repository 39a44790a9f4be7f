"""How failures leave the program: two lines for people, one ``error.v1`` object with ``--json``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

import click
from click.exceptions import NoArgsIsHelpError

from kebab.cli.screen import Screen
from kebab.errors import KebabError, redacted

INTERRUPTED = 130
FAILED = 2
GROUPS = ("memory", "eval", "list", "inspect", "fetch", "models")
"""Commands that are groups of commands."""


def report(error: BaseException, *, arguments: Sequence[str]) -> int:
    """Say on stderr what went wrong and return the exit code.

    The flags are looked up in the bare arguments, since a usage error can come before they are parsed.
    """
    if isinstance(error, BrokenPipeError):
        silence_stdout()
        return 0
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return INTERRUPTED
    if isinstance(error, NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return FAILED
    if _asked(arguments, "--verbose", "-v"):
        _print_traceback(error)
    code, message, hint, details = _described(error, arguments)
    if code == "invalid_input" and hint is None:
        hint = f"see: {command_of(arguments)} --help"
    if _asked(arguments, "--json"):
        _print_json(code=code, message=message, hint=hint, details=details)
    else:
        print_error(message, hint=hint)
    return error.exit_code if isinstance(error, (KebabError, click.ClickException)) else FAILED


def print_error(message: str, *, hint: str | None = None) -> None:
    """One line ``error: …`` and, where there is something to do, one line ``hint: …``, both on stderr."""
    screen = Screen.of(sys.stderr)
    click.echo(screen.style("error: ", fg="red", bold=True) + message, err=True)
    if hint:
        click.echo(screen.style("hint: ", fg="cyan") + hint, err=True)


def silence_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush into a closed pipe stays quiet."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _described(
    error: BaseException, arguments: Sequence[str]
) -> tuple[str, str, str | None, Mapping[str, object]]:
    if isinstance(error, KebabError):
        return error.code, error.message, error.hint, error.details
    if isinstance(error, click.UsageError):
        return "invalid_input", error.format_message(), _usage_hint(error, arguments), {}
    if isinstance(error, click.ClickException):
        return "invalid_input", error.format_message(), None, {}
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        return "io_error", f"{error.strerror or error}{where}", None, {}
    text = redacted(" ".join(str(error).split()))
    hint = "this is a bug in kebab; run the command again with --verbose to see where"
    return "generic", f"{type(error).__name__}: {text}" if text else type(error).__name__, hint, {}


def command_of(arguments: Sequence[str]) -> str:
    """The command that was typed, with the name of its group, without its options."""
    typed = [
        argument
        for before, argument in zip(["", *arguments], arguments, strict=False)
        if not argument.startswith("-") and before != "--config"
    ]
    return " ".join(["kebab", *typed[: 2 if typed and typed[0] in GROUPS else 1]])


def _usage_hint(error: click.UsageError, arguments: Sequence[str]) -> str:
    # An option that lacks its value is told of with the context of the whole program.
    told = None if isinstance(error, click.BadOptionUsage) else error.ctx
    path = told.command_path if told else command_of(arguments)
    excluding = isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--")
    if excluding and path.rpartition(" ")[2] in ("search", "ask"):
        return f'to exclude a word, put the query behind -- and in quotes: {path} -- "rust -cargo"'
    return f"see: {path} --help"


def _print_json(*, code: str, message: str, hint: str | None, details: Mapping[str, object]) -> None:
    from kebab import wire

    click.echo(
        wire.encode(wire.Error(code=code, message=message, hint=hint, details=dict(details))), err=True
    )


def _print_traceback(error: BaseException) -> None:
    import traceback

    click.echo(redacted("".join(traceback.format_exception(error))), err=True, nl=False)


def _asked(arguments: Sequence[str], *flags: str) -> bool:
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return any(flag in before for flag in flags)
