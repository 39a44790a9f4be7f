"""Servers on loopback for the adapters: one that speaks as Ollama does, one as OpenAI-compatible servers do.

The replies follow the protocols to the letter: status codes, framing, error bodies. The words are scripted.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Script:
    """What the server does: its pieces with a pause before each, then an end."""

    pieces: Sequence[str] = ("It leaves ", "at 21:40 ", "[#1].")
    pause_s: float = 0.0
    end: str = "done"
    """``done``, ``error`` (reported inside the stream), ``drop`` (the connection breaks), ``garbage``."""
    key: str | None = None
    forms: bool = True
    """False for a server that refuses to write in a given form."""
    reason: str = "stop"
    silence_s: float = 0.0
    """How long nothing comes after the pieces."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Script

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.script.requests.append({"path": self.path, "body": body})
        try:
            self.answer(body)
        except (BrokenPipeError, ConnectionResetError):
            self.script.hung_up.set()
        self.close_connection = True

    def answer(self, body: dict[str, Any]) -> None:
        raise NotImplementedError

    def refuse(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def begin(self, content_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send(self, text: str) -> None:
        time.sleep(self.script.pause_s)
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def finish_chunks(self) -> None:
        if self.script.end == "drop":
            return  # without the last chunk: the reply breaks off
        self.wfile.write(b"0\r\n\r\n")


class OllamaHandler(_Handler):
    MODELS = ("smol",)

    def answer(self, body: dict[str, Any]) -> None:
        if self.path != "/api/chat":
            return self.refuse(404, {"error": "not found"})
        if "format" in body and not self.script.forms:
            return self.refuse(400, {"error": "json: cannot unmarshal object into Go struct field format"})
        if body["model"] not in self.MODELS:
            return self.refuse(404, {"error": f'model "{body["model"]}" not found, try pulling it first'})
        self.begin("application/x-ndjson")
        for piece in self.script.pieces:
            self.send(self._line(body, piece, done=False))
        self.script.hung_up.wait(self.script.silence_s)
        if self.script.end == "done":
            self.send(self._line(body, "", done=True))
        elif self.script.end == "error":
            self.send(json.dumps({"error": "model runner has unexpectedly stopped"}) + "\n")
        elif self.script.end == "garbage":
            self.send("<html>\n")
        return self.finish_chunks()

    def _line(self, body: dict[str, Any], piece: str, *, done: bool) -> str:
        message = {"role": "assistant", "content": piece}
        event = {
            "model": body["model"],
            "created_at": "2026-01-01T00:00:00Z",
            "message": message,
            "done": done,
        }
        return json.dumps(event | ({"done_reason": self.script.reason} if done else {})) + "\n"


class OpenAiHandler(_Handler):
    def answer(self, body: dict[str, Any]) -> None:
        if self.script.key and self.headers.get("Authorization") != f"Bearer {self.script.key}":
            given = self.headers.get("Authorization", "")
            error = {"message": f"Incorrect API key provided: {given}", "code": "invalid_api_key"}
            return self.refuse(401, {"error": error})
        if "response_format" in body and not self.script.forms:
            return self.refuse(400, {"error": {"message": "response_format is not supported"}})
        if body.get("model") == "absent":
            return self.refuse(404, {"error": {"message": "The model `absent` does not exist"}})
        self.begin("text/event-stream")
        self.send(": comment\n\n" + self._event({"delta": {"role": "assistant", "content": None}}))
        for piece in self.script.pieces:
            self.send(self._event({"delta": {"content": piece}, "finish_reason": None}))
        self.script.hung_up.wait(self.script.silence_s)
        if self.script.end == "done":
            self.send(self._event({"delta": {}, "finish_reason": self.script.reason}))
            self.send('data: {"choices": [], "usage": {"total_tokens": 9}}\n\ndata: [DONE]\n\n')
        elif self.script.end == "error":
            self.send('data: {"error": {"message": "context length exceeded"}}\n\n')
        elif self.script.end == "garbage":
            self.send("data: <html>\n\n")
        return self.finish_chunks()

    def _event(self, choice: dict[str, Any]) -> str:
        event = {"object": "chat.completion.chunk", "choices": [{"index": 0, **choice}]}
        return f"data: {json.dumps(event)}\n\n"


@contextmanager
def serving(handler: type[_Handler], script: Script) -> Iterator[str]:
    """The address of a server that follows the script."""
    bound = type("Handler", (handler,), {"script": script})
    server = ThreadingHTTPServer(("127.0.0.1", 0), bound)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
