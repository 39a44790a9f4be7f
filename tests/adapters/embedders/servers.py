"""Loopback servers that speak Ollama's and OpenAI's embedding protocols as the real ones do."""

from __future__ import annotations

import json
import socket
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from kebab.ports import EmbeddingKind
from tests.fakes import FakeEmbedder

MODEL = "small-embed"
KEY = "sk-test-9f3b"


@dataclass(frozen=True, slots=True)
class Request:
    path: str
    model: str
    texts: tuple[str, ...]
    key: str | None


@dataclass(slots=True)
class EmbeddingServer:
    """What the server has seen, and what it is to do next.

    ``faults`` are answered first, one a request: a status with a body instead of the embeddings.
    """

    dimensions: int = 8
    needs_key: bool = False
    delay_s: float = 0.0
    faults: deque[tuple[int, str]] = field(default_factory=deque)
    requests: list[Request] = field(default_factory=list)
    address: str = ""
    leaving: threading.Event = field(default_factory=threading.Event)

    @property
    def openai(self) -> str:
        """The base address an OpenAI-compatible client is given."""
        return f"{self.address}/v1"

    def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """What the model gives: not of length 1, as with many models."""
        rows = FakeEmbedder(self.dimensions).embed(texts, EmbeddingKind.DOCUMENT)
        return [[3.0 * float(number) for number in row] for row in rows]

    def reply(self, request: Request) -> tuple[int, str]:
        """Status and body, by the rules of the protocol that the path belongs to."""
        if self.faults:
            return self.faults.popleft()
        answers = {"/api/embed": self._ollama, "/v1/embeddings": self._openai}
        if request.path not in answers:
            return 404, "404 page not found"
        status, body = answers[request.path](request)
        return status, json.dumps(body)

    def _ollama(self, request: Request) -> tuple[int, dict[str, Any]]:
        if request.model != MODEL:
            return 404, {"error": f'model "{request.model}" not found, try pulling it first'}
        return 200, {"model": MODEL, "embeddings": self.vectors(request.texts), "total_duration": 1}

    def _openai(self, request: Request) -> tuple[int, dict[str, Any]]:
        if self.needs_key and request.key != KEY:
            # Some servers repeat what they were given.
            return 401, {"error": {"message": f"Incorrect API key provided: {request.key}"}}
        if request.model != MODEL:
            return 404, {"error": {"message": f"The model `{request.model}` does not exist", "code": "404"}}
        if not all(request.texts):
            return 400, {"error": {"message": "'$.input' is invalid"}}
        rows = [
            {"object": "embedding", "index": place, "embedding": vector}
            for place, vector in enumerate(self.vectors(request.texts))
        ]
        # The protocol promises an index, not an order.
        return 200, {"object": "list", "data": rows[::-1], "model": MODEL}


@contextmanager
def serving(server: EmbeddingServer) -> Iterator[EmbeddingServer]:
    """Answer on a free port of this machine until the block ends."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(server)) as http:
        server.address = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.leaving.set()
            http.shutdown()
            thread.join()


def closed_address() -> str:
    """An address of this machine where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def _handler(server: EmbeddingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            bearer = self.headers.get("Authorization")
            key = bearer.removeprefix("Bearer ") if bearer else None
            request = Request(self.path, body["model"], tuple(body["input"]), key)
            server.requests.append(request)
            server.leaving.wait(server.delay_s)
            status, text = server.reply(request)
            self._send(status, text.encode())

        def _send(self, status: int, body: bytes) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except ConnectionError:
                """The client has given up: what a time limit is for."""

        def log_message(self, *_: object) -> None:
            """Tests read ``requests``."""

    return Handler
