"""Models behind an HTTP address: Ollama's own API and the OpenAI-compatible one.

These are the only embedders that use a network, and only the configured address.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from kebab.adapters.embedders.prefixes import prefixes_of
from kebab.adapters.embedders.unit import unit_rows
from kebab.adapters.http_client import httpx_package, is_loopback
from kebab.errors import ModelUnavailable, Timeout
from kebab.ports import EmbeddingKind, Vectors

BATCH = 32
TRIES = 3
TIMEOUT_S = 60.0
PAUSE_S = 0.5
_SHOWN = 200

Reply = dict[str, Any]


class RemoteEmbedder:
    """Sends texts in small batches; a server fault (5xx) is tried again, anything else is reported.

    The key is sent as a bearer token and stands in no message. A blank text is not sent, since servers
    refuse it: it gets the fixed direction of ``unit_rows``.
    """

    version = "remote"

    def __init__(
        self,
        model: str,
        *,
        url: str,
        read: Callable[[Reply], list[list[float]]],
        api_key: str | None = None,
        timeout_s: float = TIMEOUT_S,
        pause_s: float = PAUSE_S,
    ) -> None:
        self.model_id = model
        self._url = url
        self._read = read
        self._api_key = api_key
        self._timeout_s = timeout_s
        self._pause_s = pause_s
        self._prefixes = prefixes_of(model)

    @cached_property
    def dimensions(self) -> int:
        return len(self._post(["dimensions"])[0])

    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> Vectors:
        sent = [self._prefixes.apply(text, kind) for text in texts if text.strip()]
        found = (row for at in range(0, len(sent), BATCH) for row in self._post(sent[at : at + BATCH]))
        empty = [0.0] * self.dimensions
        rows = [next(found) if text.strip() else empty for text in texts]
        return unit_rows(rows, dimensions=self.dimensions, model=self.model_id)

    def _post(self, texts: list[str]) -> list[list[float]]:
        reply = self._send(texts)
        for attempt in range(1, TRIES):
            if reply.status_code < 500:
                break
            time.sleep(self._pause_s * attempt)
            reply = self._send(texts)
        return self._rows(reply, len(texts))

    def _send(self, texts: list[str]) -> Any:
        httpx = httpx_package()
        headers = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        try:
            # A proxy of the environment is for hosts outside; a server on this machine is asked directly.
            with httpx.Client(timeout=self._timeout_s, trust_env=not is_loopback(self._url)) as client:
                return client.post(self._url, json={"model": self.model_id, "input": texts}, headers=headers)
        except httpx.TimeoutException as error:
            raise Timeout(f"{self._url} did not answer within {self._timeout_s:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._failure(f"cannot be reached: {error}", hint="is the server running there?") from error

    def _rows(self, reply: Any, expected: int) -> list[list[float]]:
        if reply.status_code != 200:
            raise self._failure(
                f"answered {reply.status_code} for {self.model_id!r}: {reply.text[:_SHOWN]}",
                hint="is the model installed there, and the key right?",
            )
        try:
            rows = [[float(number) for number in row] for row in self._read(reply.json())]
        except (ValueError, KeyError, TypeError) as error:
            raise self._failure(f"answered something that is no embedding: {error!r}") from error
        if len(rows) != expected:
            raise self._failure(f"answered {len(rows)} vectors for {expected} texts")
        return rows

    def _failure(self, what: str, *, hint: str | None = None) -> ModelUnavailable:
        message = f"{self._url} {what}"
        return ModelUnavailable(message.replace(self._api_key, "…") if self._api_key else message, hint=hint)


def ollama_embedder(
    model: str, *, endpoint: str, timeout_s: float = TIMEOUT_S, pause_s: float = PAUSE_S
) -> RemoteEmbedder:
    """Ollama's ``/api/embed``."""
    return RemoteEmbedder(
        model,
        url=f"{endpoint.rstrip('/')}/api/embed",
        read=lambda reply: reply["embeddings"],
        timeout_s=timeout_s,
        pause_s=pause_s,
    )


def openai_embedder(
    model: str,
    *,
    endpoint: str,
    api_key: str | None = None,
    timeout_s: float = TIMEOUT_S,
    pause_s: float = PAUSE_S,
) -> RemoteEmbedder:
    """``/embeddings`` below an OpenAI-compatible base address, such as ``http://127.0.0.1:8080/v1``."""

    def read(reply: Reply) -> list[list[float]]:
        return [item["embedding"] for item in sorted(reply["data"], key=lambda item: item["index"])]

    return RemoteEmbedder(
        model,
        url=f"{endpoint.rstrip('/')}/embeddings",
        read=read,
        api_key=api_key,
        timeout_s=timeout_s,
        pause_s=pause_s,
    )
