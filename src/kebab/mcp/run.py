"""Starting a server: what is offered, and over which transport."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anyio
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from kebab.app import Kebab
from kebab.mcp.instructions import Instructions
from kebab.mcp.server import KebabServer
from kebab.mcp.tools import selected


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What of a knowledge base is offered. ``tools`` names some of them; empty means all."""

    tools: tuple[str, ...] = ()


def build_server(kebab: Kebab, options: Options) -> Server[Any]:
    """Raises InvalidInput for a tool that does not exist."""
    tools = selected(options.tools, readonly=kebab.engines.readonly, walls=kebab.engines.walls)
    told = Instructions(kebab, tuple(tool.name for tool in tools))
    return KebabServer(kebab, tools, told.text).protocol()


def serve_stdio(kebab: Kebab, options: Options) -> None:
    """Answer one client on standard input and output, until it closes them."""
    anyio.run(_stdio, build_server(kebab, options))


async def _stdio(server: Server[Any]) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
