"""The MCP server: the tools, resources and prompts through which agents use one open knowledge base.

``serve_stdio`` answers one client on standard input and output. Importing this package loads the SDK, which
takes most of a second: whoever only might need it imports it when it does.
"""

from __future__ import annotations

from kebab.mcp.run import Options, serve_stdio

__all__ = ["Options", "serve_stdio"]
