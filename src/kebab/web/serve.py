"""Running the server: where it listens, for whom, and until when."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from kebab.errors import InvalidInput, StorageError
from kebab.web.guard import LOOPBACK

CONNECTIONS = 256
IDLE_SECONDS = 15


@dataclass(frozen=True, slots=True)
class Binding:
    """Where the server listens; TLS where both files are named."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise InvalidInput("TLS needs both a certificate and a key", hint="give --tls-cert and --tls-key")
        for path in (self.certificate, self.key):
            if path is not None and not path.is_file():
                raise InvalidInput(f"there is no file {path}")

    @property
    def is_loopback(self) -> bool:
        return self.host in LOOPBACK

    @property
    def listens_everywhere(self) -> bool:
        return self.host in ("0.0.0.0", "::")

    @property
    def url(self) -> str:
        scheme = "https" if self.certificate else "http"
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{name}:{self.port}"


class PatientProtocol(H11Protocol):
    """uvicorn's protocol that hangs up where the head of a request does not arrive in time."""

    head_seconds = 10.0
    """A request's head must have arrived by then."""
    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._head_arrived()
        elif self._patience is None and not self.transport.is_closing():
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._patience = self.loop.call_later(self.head_seconds, self.transport.close)

    def _head_arrived(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


def run(app: ASGIApp, binding: Binding, *, ready: Callable[[], None] = lambda: None) -> None:
    """Serve until a signal ends it. ``ready`` is called when connections are taken.

    Raises StorageError where the address cannot be listened at.
    """
    config = uvicorn.Config(
        app,
        host=binding.host,
        port=binding.port,
        http=PatientProtocol,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=5,
        ssl_certfile=binding.certificate,
        ssl_keyfile=str(binding.key) if binding.key else None,
    )
    with ExitStack() as opened:
        # Opened here: what uvicorn cannot open it logs in words of its own.
        sockets = [opened.enter_context(one) for one in _listening(binding)]
        with suppress(KeyboardInterrupt, SystemExit), _polite_end():
            _Server(config, ready).run(sockets=sockets)


def _listening(binding: Binding) -> list[socket.socket]:
    """A socket at each address that the host's name has. Raises StorageError."""
    opened: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(binding.host, binding.port, type=socket.SOCK_STREAM)
        for family, address in dict.fromkeys((family, address) for family, _, _, _, address in found):
            opened.append(socket.create_server(address[:2], family=family, backlog=CONNECTIONS))
    except OSError as error:
        for one in opened:
            one.close()
        raise StorageError(
            f"{binding.url} cannot be listened at: {os.strerror(error.errno) if error.errno else error}",
            hint="is it in use? choose another with --port",
        ) from error
    return opened


@contextmanager
def _polite_end() -> Iterator[None]:
    """uvicorn repeats the signal that ended it; after SIGTERM, too, what is open must be closed."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()
