"""One run of the program: the common options, the knowledge base it opens, and where output goes.

How a command is written::

    @command("ask")
    @click.argument("question")
    def ask(session: Session, question: str) -> int:
        \"\"\"First line: shown in lists, ends with a period.\"\"\"
        answer = session.kebab().ask(question)
        session.put(wire.answer(answer), lambda: render_answer(answer, session.screen))
        return 0 if answer.grounded else 1

The returned number is the exit code; None means 0. A failure is a raised KebabError.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from kebab.cli.screen import Screen
from kebab.errors import InvalidInput

if TYPE_CHECKING:
    from kebab.app import Kebab
    from kebab.domain.walls import Walls

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

FORCE = click.option("--force", is_flag=True, help="Replace a file that exists.")
"""For every command that writes a file whose name the user gives."""


def publication_address(uri: str) -> str:
    """Where something is or will be published; a folder by its full path.

    Raises InvalidInput for an empty one, which a variable that is not set leaves, and for a file.
    """
    if "://" in uri:
        return uri
    if not uri.strip():
        raise InvalidInput(
            "the address of the publication is empty",
            hint="name a folder, s3://BUCKET/FOLDER, gs://…, az://…",
        )
    folder = Path(uri).expanduser().absolute()
    for path in (folder, *folder.parents):
        if path.is_file():
            raise InvalidInput(f"{path} is a file", hint="a publication is a folder")
    return str(folder)


def _remember_index(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.ensure_object(Session).overrides["index.url"] = publication_address(value)


INDEX = click.option(
    "--index",
    metavar="URI",
    expose_value=False,
    callback=_remember_index,
    help="Read what was published at this address: a folder, s3://BUCKET/FOLDER, gs://…, az://….",
)
"""For every command that can read what was published elsewhere."""

COMMON = ("config", "json", "quiet", "verbose", "readonly")


@dataclass
class Session:
    """What the common options said; ``--json`` implies ``--quiet``."""

    config: Path | None = None
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    readonly: bool = False
    overrides: dict[str, object] = field(default_factory=dict)
    """Settings that flags of a command set, by dotted key."""
    out: IO[str] | None = None
    err: IO[str] | None = None
    """Where output goes; None means stdout and stderr."""
    opened: Kebab | None = None
    """The knowledge base, once it is open; one that is given stays open."""
    _started: float = field(default_factory=time.perf_counter)

    def kebab(
        self,
        *,
        readonly: bool = False,
        overrides: Mapping[str, object] | None = None,
        walls: Walls | None = None,
    ) -> Kebab:
        """The knowledge base, opened at the first call and closed when the command ends."""
        if self.opened is None:
            from kebab.app import Kebab

            self.opened = Kebab.open(
                self.config,
                readonly=self.readonly or readonly,
                overrides={**self.overrides, **(overrides or {})},
                waiting=lambda message: self.say(f"{message} …"),
                walls=walls,
            )
            click.get_current_context().call_on_close(self.opened.close)
            self._tell_settings()
        return self.opened

    def place(self) -> str:
        """The knowledge base that the command works on, by name: nobody has to guess which one it is."""
        settings = self.kebab().settings
        kind = "no configuration file" if settings.file is None else f"configured by {settings.file}"
        return f"{settings.data_dir} ({kind})"

    def _tell_settings(self) -> None:
        """With ``--verbose``: what the command was told to work with, and at its end how long it took."""
        if not self.verbose:
            return
        from kebab.cli.details import details

        for line in details(self.kebab().settings):
            self.detail(line)
        click.get_current_context().call_on_close(self._tell_time)

    def _tell_time(self) -> None:
        self.detail(f"took: {time.perf_counter() - self._started:.3f} s")

    @cached_property
    def screen(self) -> Screen:
        """The terminal behind stdout, or what stands in for it when piped."""
        return Screen.of(sys.stdout)

    def put(self, shape: object, human: Callable[[], str | bytes]) -> None:
        """Write the result: the wire shape as one JSON line with ``--json``, else the text for people.

        Text is made harmless where it is printed; bytes are written as they are.
        ``shape`` may be a function that gives it, so that nothing of it is loaded for people.
        """
        if self.json:
            self.put_json(shape() if callable(shape) else shape)
        elif text := human():
            click.echo(text, file=self.out, color=None if self.screen.color else False)

    def put_json(self, shape: object) -> None:
        from kebab import wire

        click.echo(wire.encode(shape), file=self.out)

    def say(self, message: str) -> None:
        """Talk on stderr; ``--quiet`` and ``--json`` silence it."""
        if not (self.quiet or self.json):
            click.echo(message, file=self.err, err=True)

    def detail(self, message: str) -> None:
        """What only ``--verbose`` tells, on stderr; with ``--json`` too, since it was asked for."""
        if self.verbose and not self.quiet:
            click.echo(message, file=self.err, err=True)

    def warn(self, messages: Iterable[str]) -> None:
        """What the user must know besides the result; on stderr, also when quiet, never with ``--json``."""
        if not self.json:
            for message in messages:
                click.echo(f"note: {message}", file=self.err, err=True)


def common_options(function: F) -> F:
    """Add --config --json --quiet --verbose --readonly; they work before and after the command's name."""
    options = (
        click.option(
            "--config", metavar="PATH", type=click.Path(path_type=Path), help="Use this config.toml."
        ),
        click.option("--json", is_flag=True, help="Write JSON to stdout; errors as JSON to stderr."),
        click.option("--quiet", "-q", is_flag=True, help="Show only results and errors."),
        click.option(
            "--verbose",
            "-v",
            is_flag=True,
            help="Show the settings in use, the time taken, and where an error occurred.",
        ),
        click.option("--readonly", is_flag=True, envvar="KEBAB_READONLY", help="Refuse to write anything."),
    )
    for option in reversed(options):
        function = option(function)
    for parameter in function.__click_params__:  # type: ignore[attr-defined]
        if parameter.name in COMMON:
            parameter.expose_value = False
            parameter.callback = _remember
    return function


def _remember(ctx: click.Context, parameter: click.Parameter, value: object) -> object:
    """Keep what was given: a flag before the command's name is not undone by its absence after it."""
    if value and parameter.name:
        setattr(ctx.ensure_object(Session), parameter.name, value)
    return value


class OneOf(click.Choice[str]):
    """One of an enumeration's values as people write them; click alone would ask for the members' names."""

    def __init__(self, kind: type[StrEnum]) -> None:
        super().__init__([member.value for member in kind])
        self.kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> StrEnum:
        return self.kind(super().convert(str(value), param, ctx))


class Command(click.Command):
    """A command whose help lists its own options first and the common ones apart."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _format_options(self, ctx, formatter)


class Group(click.Group):
    """A group of commands that take the common options too."""

    command_class = Command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _format_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)


def command(name: str, *, parent: click.Group | None = None, **attrs: Any) -> Callable[[F], Command]:
    """Make a command of a function whose first parameter is the Session."""

    def decorate(function: F) -> Command:
        passed = click.make_pass_decorator(Session, ensure=True)(function)
        made = click.command(name, cls=Command, **attrs)(common_options(passed))
        if parent is not None:
            parent.add_command(made)
        return made

    return decorate


def group(name: str, *, help: str) -> Group:
    """An empty group; fill it with ``command(name, parent=group)``."""

    def body() -> None:
        return None

    return click.group(name, cls=Group, help=help)(common_options(body))


def _format_options(owner: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    own: list[tuple[str, str]] = []
    common: list[tuple[str, str]] = []
    for parameter in owner.get_params(ctx):
        if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)):
            (common if parameter.name in COMMON else own).append(record)
    for title, records in (("Options", own), ("Common options", common)):
        if records:
            with formatter.section(title):
                formatter.write_dl(records)
