"""``kebab mcp``."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import click

from kebab.cli.session import Session, command
from kebab.errors import InvalidInput

if TYPE_CHECKING:
    from kebab.mcp import Options


@command("mcp")
@click.option(
    "--http",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    help="Answer any number of clients over HTTP on this computer; 0 takes a free port.",
)
@click.option("--tools", multiple=True, metavar="NAME", help="Offer only this tool; repeat for several.")
def mcp(session: Session, http: int | None, tools: tuple[str, ...]) -> None:
    """Serve the knowledge base to agents over MCP.

    Answers one client on standard input and output, or any number over HTTP. With --readonly the tools that
    write are not offered.
    """
    from kebab.mcp import Options, serve_stdio

    options = Options(tools=_names(tools))
    if http is None:
        serve_stdio(session.kebab(), options)
    else:
        _serve_http(session, options, port=http)


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
    except OSError as error:
        listening.close()
        raise InvalidInput(
            f"port {port} cannot be used: {error.strerror}", hint="--http 0 takes a free port"
        ) from error
    return listening


def _names(given: tuple[str, ...]) -> tuple[str, ...]:
    """The names, also where several stand in one value: a,b."""
    return tuple(name.strip() for value in given for name in value.split(",") if name.strip())
