"""A server on loopback that sees and hears as OpenAI-compatible ones do, by script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SEEN = "A rope lies on the quay. 밧줄이 부두에 놓여 있다."
STRETCHES = [
    {"start": 0.0, "end": 2.5, "text": " The rope is dry."},
    {"start": 2.5, "end": 70.25, "text": " The ship sails at noon."},
    {"start": 70.25, "end": 71.0, "text": "  "},
]


@dataclass
class MediaScript:
    """What the server says and refuses, and what it was asked."""

    caption: object = SEEN
    stretches: list[dict[str, Any]] = field(default_factory=lambda: list(STRETCHES))
    times: bool = True
    """False for a server that has no times to tell."""
    key: str = ""
    status: int = 200
    body: bytes | None = None
    """Sent instead of an answer."""
    moved_to: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MediaServer:
    endpoint: str
    script: MediaScript


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: MediaScript

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        form = _form(self.headers["Content-Type"], content)
        self.script.asked.append({"path": self.path, **form})
        status, body = self._answer(form)
        self.send_response(status)
        if self.script.moved_to:
            self.send_header("Location", self.script.moved_to)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _answer(self, form: dict[str, Any]) -> tuple[int, bytes]:
        script = self.script
        if script.key and self.headers["Authorization"] != f"Bearer {script.key}":
            told = {"error": {"message": f"wrong key: {self.headers['Authorization']}"}}
            return 401, json.dumps(told).encode()
        if script.status != 200 or script.body is not None:
            return script.status, script.body or b"no"
        if self.path == "/v1/chat/completions":
            return 200, json.dumps({"choices": [{"message": {"content": script.caption}}]}).encode()
        if self.path == "/v1/audio/transcriptions":
            return self._heard(form)
        return 404, b'{"error": "not found"}'

    def _heard(self, form: dict[str, Any]) -> tuple[int, bytes]:
        text = "".join(one["text"] for one in self.script.stretches)
        if form.get("response_format") == "json":
            return 200, json.dumps({"text": text}).encode()
        if not self.script.times:
            return 400, b'{"error": {"message": "verbose_json is not supported"}}'
        return 200, json.dumps({"text": text, "duration": 71, "segments": self.script.stretches}).encode()


def _form(kind: str, content: bytes) -> dict[str, Any]:
    """The fields of a form with a file, or the object of a JSON body."""
    if kind == "application/json":
        return {"body": json.loads(content)}
    head = f"Content-Type: {kind}\r\n\r\n".encode()
    parts = BytesParser(policy=HTTP).parsebytes(head + content).iter_parts()
    found: dict[str, Any] = {}
    for part in parts:
        name = part.get_param("name", header="content-disposition")
        data = part.get_payload(decode=True)
        assert isinstance(data, bytes)
        found[str(name)] = (part.get_filename(), data) if part.get_filename() else data.decode()
    return found


@contextmanager
def media_server(**script: Any) -> Iterator[MediaServer]:
    told = MediaScript(**script)
    handler = type("Handler", (_Handler,), {"script": told})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield MediaServer(f"http://127.0.0.1:{server.server_port}/v1", told)
        finally:
            server.shutdown()
