"""Who may ask: hosts, origins, the token, and how much and how slowly a caller may send.

A page of another site can make a browser send requests here, under that site's name (Host, by DNS rebinding)
or its own (Origin). Both are compared with what this server is called. A token is needed wherever the server
can be reached from another computer.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Collection
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kebab import wire
from kebab.web.token import same

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
MOST_BYTES = 2 * 1024 * 1024
"""A request's body may not be larger; texts to store are the largest."""
BODY_SECONDS = 20.0
"""A body must have arrived by then."""
OPEN_PATHS = ("/static/",)
"""What holds no data of the user's and is shown before the token is known."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


@dataclass(frozen=True, slots=True)
class Guard:
    """ASGI middleware. Without a token everyone on this computer may ask.

    ``hosts`` are names that the server answers to besides addresses; ``shell`` are the paths of the page,
    which holds no data.
    """

    app: ASGIApp
    hosts: Collection[str] = LOOPBACK
    token: str | None = None
    any_address: bool = False
    """Whether any numeric address is a right Host: where the server listens on all of them."""
    shell: Collection[str] = ()
    body_seconds: float = BODY_SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if refusal := self._refusal(scope, headers):
            await _refuse(send, *refusal)
            return
        await self.app(scope, _bounded(receive, seconds=self.body_seconds), _protected(send))

    def _refusal(self, scope: Scope, headers: dict[bytes, str]) -> tuple[int, str, str] | None:
        host = headers.get(b"host", "")
        if not self._is_own(host):
            return 421, "wrong_host", f"this server is not called {host[:80]!r}"
        if not _same_origin(headers, scheme=scope.get("scheme", "http"), host=host):
            return 403, "wrong_origin", "this request comes from another site"
        if not self._is_known(scope["path"], headers):
            return 401, "unauthorized", "the token is missing or wrong"
        if _too_large(headers):
            return 413, "too_large", f"a request may have {MOST_BYTES} bytes at most"
        return None

    def _is_own(self, host: str) -> bool:
        name = _host_name(host)
        if name in self.hosts:
            return True
        return self.any_address and _is_address(name)

    def _is_known(self, path: str, headers: dict[bytes, str]) -> bool:
        if self.token is None or path in self.shell or path.startswith(OPEN_PATHS):
            return True
        scheme, _, given = headers.get(b"authorization", "").partition(" ")
        return scheme.lower() == "bearer" and same(given.strip(), self.token)


def _host_name(host: str) -> str:
    """The name in a Host header, without its port."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _same_origin(headers: dict[bytes, str], *, scheme: str, host: str) -> bool:
    """Programs send neither header; a browser sends at least one with whatever another site asked for."""
    origin = headers.get(b"origin")
    if origin is not None:
        return origin.lower() == f"{scheme}://{host.lower()}"
    site, mode = headers.get(b"sec-fetch-site", "none"), headers.get(b"sec-fetch-mode", "navigate")
    return site in ("none", "same-origin") or mode == "navigate"


def _too_large(headers: dict[bytes, str]) -> bool:
    length = headers.get(b"content-length", "0")
    return not length.isdecimal() or int(length) > MOST_BYTES


class TooMuch(Exception):
    """A body that is longer than it may be, or arrives too slowly."""


def _bounded(receive: Receive, *, seconds: float) -> Receive:
    """The body's messages within the limits of size and time. Raises TooMuch."""
    seen = 0
    whole = False
    deadline = asyncio.get_running_loop().time() + seconds

    async def bounded() -> Message:
        nonlocal seen, whole
        if whole:
            return await receive()  # nothing more is sent but the news that the caller went away
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError as error:
            raise TooMuch from error
        seen += len(message.get("body", b""))
        whole = message["type"] != "http.request" or not message.get("more_body", False)
        if seen > MOST_BYTES:
            raise TooMuch
        return message

    return bounded


def _protected(send: Send) -> Send:
    async def protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
        await send(message)

    return protected


async def _refuse(send: Send, status: int, code: str, message: str) -> None:
    hint = {
        "unauthorized": "send it as: Authorization: Bearer TOKEN",
        "wrong_host": "name it with: kebab serve --allow-host NAME",
    }.get(code)
    body = wire.encode(wire.Error(code=code, message=message, hint=hint))
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *HEADERS]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status == 413:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
