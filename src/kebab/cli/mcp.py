"""``kebab mcp``."""

from __future__ import annotations

import click

from kebab.cli.session import Session, command


@command("mcp")
@click.option("--tools", multiple=True, metavar="NAME", help="Offer only this tool; repeat for several.")
def mcp(session: Session, tools: tuple[str, ...]) -> None:
    """Serve the knowledge base to agents over MCP.

    Answers one client on standard input and output. With --readonly the tools that write are not offered.
    """
    from kebab.mcp import Options, serve_stdio

    serve_stdio(session.kebab(), Options(tools=_names(tools)))


def _names(given: tuple[str, ...]) -> tuple[str, ...]:
    """The names, also where several stand in one value: a,b."""
    return tuple(name.strip() for value in given for name in value.split(",") if name.strip())
