"""A SurrealDB server for tests: the embedded engine behind a web socket on loopback.

The engine takes and gives the same CBOR messages that travel over the socket, so passing them on makes a
server that the SDK's remote transport, sign-in included, cannot tell from another.
"""

from __future__ import annotations

import threading
from typing import Any


class Bridge:
    """Serves until stopped. One session for all connections: enough for one client at a time."""

    def __init__(self, *, username: str = "root", password: str = "root", port: int = 0) -> None:
        from surrealdb import Surreal
        from websockets.sync.server import serve

        self._db: Any = Surreal("mem://")
        self._db.connect()
        self._db.query_raw(f"DEFINE USER {username} ON ROOT PASSWORD '{password}' ROLES OWNER")
        self._server = serve(self._answer, "127.0.0.1", port, subprotocols=["cbor"], max_size=None)  # type: ignore[list-item]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self._open: list[Any] = []

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self._server.socket.getsockname()[1]}"

    def drop_connections(self) -> None:
        """Cut every client off, as a restart would; the data stays."""
        for socket in list(self._open):
            socket.close()

    def stop(self) -> None:
        self.drop_connections()
        self._server.shutdown()
        self._thread.join(timeout=10)
        self._db.close()

    def _answer(self, socket: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        self._open.append(socket)
        try:
            while True:
                socket.send(self._db._db.execute(socket.recv()))
        except ConnectionClosed:
            self._open.remove(socket)
