"""A click group whose commands are imported when they run, and whose errors are two lines."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.exceptions import NoSuchCommand

from kebab.cli.entries import Entry
from kebab.cli.errors import report
from kebab.cli.output import harmless_output


class LazyGroup(click.Group):
    """Commands by section; each is imported when it is run or asked for its own help."""

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[Entry]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections
        self.entries = {entry.name: entry for entries in sections.values() for entry in entries}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.entries:
            return None
        module, _, attribute = self.entries[cmd_name].target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(len(name) for name in self.entries)
        for title, entries in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(entry.name.ljust(width), entry.help) for entry in entries])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in self.entries:
            raise NoSuchCommand(name, possibilities=self.entries, ctx=ctx)
        return super().resolve_command(ctx, args)

    def main(  # type: ignore[override]  # click overloads it by standalone_mode, to the same effect
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> int:
        """Run; report any failure as ``error: …`` and ``hint: …``; return or leave with the exit code."""
        arguments = list(sys.argv[1:] if args is None else args)
        with harmless_output():
            code = self._run(arguments, prog_name, complete_var, **extra)
        if standalone_mode:
            sys.exit(code)
        return code

    def run(self, arguments: list[str], **extra: Any) -> int:
        """Run a command and return its exit code; a failure is raised."""
        result = super().main(arguments, standalone_mode=False, **extra)
        return result if isinstance(result, int) else 0

    def _run(
        self, arguments: list[str], prog_name: str | None, complete_var: str | None, **extra: Any
    ) -> int:
        try:
            code = self.run(arguments, prog_name=prog_name, complete_var=complete_var, **extra)
            sys.stdout.flush()
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last place: no user meets a traceback
            return report(error, arguments=arguments)
        return code
