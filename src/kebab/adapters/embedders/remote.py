"""Models behind an HTTP address: Ollama's own API and the OpenAI-compatible one.

These are the only embedders that use a network, and only the configured address.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from kebab.adapters.embedders.prefixes import prefixes_of
from kebab.adapters.embedders.unit import unit_rows
from kebab.errors import ModelUnavailable, Timeout
from kebab.ports import EmbeddingKind, Vectors

BATCH = 32
TRIES = 3
TIMEOUT_S = 60.0

Reply = dict[str, Any]


class RemoteEmbedder:
    """Sends texts in small batches; a server fault (5xx) is tried again, anything else is reported."""

    version = "remote"

    def __init__(
        self,
        model: str,
        *,
        url: str,
        read: Callable[[Reply], list[list[float]]],
        api_key: str | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self.model_id = model
        self._url = url
        self._read = read
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._timeout_s = timeout_s
        self._prefixes = prefixes_of(model)

    @cached_property
    def dimensions(self) -> int:
        return len(self._post(["dimensions"])[0])

    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> Vectors:
        prefixed = [self._prefixes.apply(text, kind) for text in texts]
        rows = [row for at in range(0, len(prefixed), BATCH) for row in self._post(prefixed[at : at + BATCH])]
        return unit_rows(rows, dimensions=self.dimensions, model=self.model_id)

    def _post(self, texts: list[str]) -> list[list[float]]:
        import httpx

        reply = None
        for _ in range(TRIES):
            try:
                reply = httpx.post(
                    self._url,
                    json={"model": self.model_id, "input": texts},
                    headers=self._headers,
                    timeout=self._timeout_s,
                )
            except httpx.TimeoutException as error:
                raise Timeout(f"{self._url} did not answer within {self._timeout_s:g} s") from error
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise ModelUnavailable(
                    f"{self._url} cannot be reached: {error}", hint="is the server running there?"
                ) from error
            if reply.status_code < 500:
                break
        return self._rows(reply, len(texts))

    def _rows(self, reply: Any, expected: int) -> list[list[float]]:
        if reply.status_code != 200:
            raise ModelUnavailable(
                f"{self._url} answered {reply.status_code} for {self.model_id!r}: {reply.text[:200]}",
                hint="is the model installed there, and the key right?",
            )
        try:
            rows = self._read(reply.json())
        except (ValueError, KeyError, TypeError) as error:
            raise ModelUnavailable(f"{self._url} answered something that is no embedding: {error}") from error
        if len(rows) != expected:
            raise ModelUnavailable(f"{self._url} answered {len(rows)} vectors for {expected} texts")
        return rows


def ollama_embedder(model: str, *, endpoint: str) -> RemoteEmbedder:
    """Ollama's ``/api/embed``."""
    return RemoteEmbedder(model, url=f"{endpoint.rstrip('/')}/api/embed", read=lambda r: r["embeddings"])


def openai_embedder(model: str, *, endpoint: str, api_key: str | None = None) -> RemoteEmbedder:
    """``/embeddings`` below an OpenAI-compatible base address, such as ``http://127.0.0.1:8080/v1``."""

    def read(reply: Reply) -> list[list[float]]:
        return [item["embedding"] for item in sorted(reply["data"], key=lambda item: item["index"])]

    return RemoteEmbedder(model, url=f"{endpoint.rstrip('/')}/embeddings", read=read, api_key=api_key)
