"""``kebab mcp``."""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kebab.cli.mcp_clients import CLIENTS, program
from kebab.cli.mcp_install import install as installed
from kebab.cli.mcp_paste import TEXTS
from kebab.cli.mcp_paste import paste as pasted
from kebab.cli.session import INDEX, Session, command
from kebab.cli.staying import staying
from kebab.errors import InvalidInput

if TYPE_CHECKING:
    from kebab.domain.walls import Walls
    from kebab.mcp import Options


@command("mcp")
@INDEX
@click.option(
    "--http",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    help="Answer any number of clients over HTTP on this computer; 0 takes a free port.",
)
@click.option("--tools", multiple=True, metavar="NAME", help="Offer only this tool; repeat for several.")
@click.option("--watch", "watch_files", is_flag=True, help="Index files as they change.")
@click.option("--source", multiple=True, metavar="ID", help="Wall: only documents of this source.")
@click.option("--path", multiple=True, metavar="GLOB", help="Wall: only documents at such paths.")
@click.option(
    "--scope",
    multiple=True,
    metavar="NAME=VALUE",
    help="Wall: only recorded runs of this project, user or session, such as project=atlas.",
)
@click.option(
    "--folder",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Serve the project in this folder, as if started there.",
)
@click.option(
    "--install",
    metavar="CLIENT",
    type=click.Choice(list(CLIENTS)),
    help=f"Print what a client needs to start this server: {', '.join(CLIENTS)}.",
)
@click.option("--write", is_flag=True, help="With --install: add it to the client's file.")
@click.option("--force", is_flag=True, help="With --write: replace another server called kebab.")
@click.option(
    "--paste",
    metavar="TEXT",
    type=click.Choice(list(TEXTS)),
    help=f"Print a text to paste elsewhere: {', '.join(TEXTS)}.",
)
def mcp(
    session: Session,
    http: int | None,
    tools: tuple[str, ...],
    install: str | None,
    write: bool,
    force: bool,
    paste: str | None,
    folder: Path | None,
    watch_files: bool,
    **walls: tuple[str, ...],
) -> None:
    """Serve the knowledge base to agents over MCP.

    Answers one client on standard input and output, or any number over HTTP. With --readonly the tools that
    write are not offered. What lies outside --source, --path and --scope does not exist for the clients;
    with walls around documents alone, the execution memory is closed.
    """
    if folder:
        os.chdir(folder)
    session.kebab(walls=_walls(**walls))
    if paste:
        command = [*program(), *_config(session)]
        click.echo(pasted(paste, program=command, folder=_project(session)), nl=False)
    elif install:
        arguments = [*_place(session), *_given(tools=tools, **walls)]
        arguments += ["--readonly"] if session.readonly else []
        installed(session, install, arguments, write=write, force=force)
    else:
        with _watching(session) if watch_files else nullcontext():
            _serve(session, port=http, tools=_names(tools))


@contextmanager
def _watching(session: Session) -> Iterator[None]:
    """Follow the files of every source: walls are for the clients. Raises ReadOnly."""
    from kebab.app import Kebab

    session.kebab().engines.forbid_readonly("--watch")
    with Kebab(session.kebab().settings) as whole, whole.watch():
        yield


def _serve(session: Session, *, port: int | None, tools: tuple[str, ...]) -> None:
    gc.disable()  # what the SDK makes stays: looking for garbage in it would take a tenth of the start
    from kebab.mcp import Options, serve_stdio

    gc.freeze()
    gc.enable()
    options = Options(tools=tools)
    # Nothing is loaded before it is needed: an agent's first call comes within a second of the start.
    with staying(session, warm=False):
        if port is None:
            serve_stdio(session.kebab(), options)
        else:
            _serve_http(session, options, port=port)


def _project(session: Session) -> Path | None:
    """The project whose own configuration holds here."""
    from kebab.config.locate import is_project_file

    file = session.kebab().settings.file
    return file.parent.parent if file and is_project_file(file) and not session.config else None


def _config(session: Session) -> list[str]:
    """A file that was found by itself outside any project is found again."""
    return ["--config", str(session.config.absolute())] if session.config else []


def _place(session: Session) -> list[str]:
    """How a client, which starts the server in a folder of its own, finds this knowledge base.

    A project's file is not named by --config, which would mean to trust it whatever it says later.
    """
    project = _project(session)
    return ["--folder", str(project)] if project else _config(session)


def _given(**options: tuple[str, ...]) -> list[str]:
    return [part for name, values in options.items() for value in values for part in (f"--{name}", value)]


def _serve_http(session: Session, options: Options, *, port: int) -> None:
    from kebab.mcp.http import PATH, serve_http

    with _bound(port) as listening:
        session.warn([f"MCP is answered at http://127.0.0.1:{listening.getsockname()[1]}{PATH}"])
        serve_http(session.kebab(), options, listening=listening)


def _bound(port: int) -> socket.socket:
    """A socket on this computer alone. Raises InvalidInput where the port is taken."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen()  # who reads the address may call at once: the call waits until it is answered
    except OSError as error:
        listening.close()
        raise InvalidInput(
            f"port {port} cannot be used: {error.strerror}", hint="--http 0 takes a free port"
        ) from error
    return listening


def _walls(*, source: tuple[str, ...], path: tuple[str, ...], scope: tuple[str, ...]) -> Walls:
    from kebab.domain.executions import SCOPES
    from kebab.domain.walls import Walls

    pairs = dict(_pair(given) for given in scope)
    if unknown := [name for name in pairs if name not in SCOPES]:
        raise InvalidInput(f"there is no scope {unknown[0]!r}", hint=f"one of {', '.join(SCOPES)}")
    return Walls(source=source, path=path, scope=pairs)


def _pair(given: str) -> tuple[str, str]:
    name, sign, value = given.partition("=")
    if not sign or not value:
        raise InvalidInput(f"the scope {given!r} is not NAME=VALUE", hint="such as project=atlas")
    return name, value


def _names(given: tuple[str, ...]) -> tuple[str, ...]:
    """The names, also where several stand in one value: a,b."""
    return tuple(name.strip() for value in given for name in value.split(",") if name.strip())
