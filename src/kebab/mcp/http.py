"""The server over streamable HTTP, on this computer only.

A page of any site can make a browser send requests to this computer; by DNS rebinding even under the site's
own name. So a request counts only if its Host is an address of ours and its Origin, where there is one, too.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp, Receive, Scope, Send

from kebab.app import Kebab
from kebab.mcp.run import Options, build_server
from kebab.mcp.server import MAX_ARGUMENT_BYTES

if TYPE_CHECKING:
    import socket

PATH = "/mcp"
NAMES = ("127.0.0.1", "localhost", "[::1]")
"""What this computer is called in a Host header."""
MAX_SESSIONS = 200
IDLE_S = 1800.0


@dataclass(frozen=True, slots=True)
class HttpApp:
    """An ASGI app that answers MCP at whatever path it is mounted; it works while ``lifespan()`` is entered.

    It checks no Host, no Origin and no token: whoever mounts it does.
    """

    app: ASGIApp
    lifespan: Callable[[], AbstractAsyncContextManager[None]]


def http_app(kebab: Kebab, options: Options) -> HttpApp:
    """Raises InvalidInput for options that make no sense."""
    manager = StreamableHTTPSessionManager(
        build_server(kebab, options),
        max_request_body_size=MAX_ARGUMENT_BYTES,
        max_sessions=MAX_SESSIONS,
        session_idle_timeout=IDLE_S,
    )
    return HttpApp(manager.handle_request, manager.run)


def serve_http(kebab: Kebab, options: Options, *, listening: socket.socket) -> None:
    """Answer clients on a socket that is bound to this computer, until the process is told to end."""
    port: int = listening.getsockname()[1]
    anyio.run(_serve, guarded(http_app(kebab, options), port=port), listening)


def guarded(served: HttpApp, *, port: int) -> ASGIApp:
    """The app at ``PATH``, for requests that are meant for this server on this port."""
    hosts = frozenset(f"{name}:{port}" for name in NAMES) | (frozenset(NAMES) if port == 80 else frozenset())
    origins = frozenset(f"http://{host}" for host in hosts)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await _lifespan(served, receive, send)
        status, reason = _judged(scope, hosts=hosts, origins=origins)
        if status == 200:
            return await served.app(scope, receive, send)
        return await _refuse(status, reason, send)

    return app


def _judged(scope: Scope, *, hosts: frozenset[str], origins: frozenset[str]) -> tuple[int, str]:
    if scope["type"] != "http":
        return 404, "there is only HTTP here"
    named = [value.decode("latin-1").lower() for key, value in scope["headers"] if key == b"host"]
    if len(named) != 1 or named[0] not in hosts:
        return 421, "this server is not called so"
    from_sites = [value.decode("latin-1").lower() for key, value in scope["headers"] if key == b"origin"]
    if any(site not in origins for site in from_sites):
        return 403, "this request comes from another site"
    return (200, "") if scope["path"].rstrip("/") == PATH else (404, f"MCP is answered at {PATH}")


async def _refuse(status: int, reason: str, send: Send) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": reason.encode()})


async def _lifespan(served: HttpApp, receive: Receive, send: Send) -> None:
    await receive()
    async with served.lifespan():
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})


async def _serve(app: ASGIApp, listening: socket.socket) -> None:
    import uvicorn

    # No log of its own: stdout is data, and a line for every request is noise on stderr.
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=5
    )
    await uvicorn.Server(config).serve(sockets=[listening])
