"""One address of an OpenAI-compatible server that is asked about files: a request, a reply, no stream."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from kebab.adapters.http_client import httpx_package, is_loopback
from kebab.errors import KebabError, ModelUnavailable, Timeout

_CONNECT_S = 10.0
_LONGEST_REPLY = 16 << 20
_SHOWN = 300
_DOWN_S = 60.0
"""An address that cannot be reached is left alone for so long: a folder may hold a thousand images."""

Reply = dict[str, Any]


class Refusal(Exception):
    """The server takes no such request; ``error`` is what it means where nothing else can be asked."""

    def __init__(self, error: KebabError) -> None:
        super().__init__(error.message)
        self.error = error


class OpenAiEndpoint:
    """Posts to ``url``. The key is sent as a bearer token and stands in no message.

    ``section`` is the table of the settings that names the address, for hints. Redirections are not followed:
    no file goes to an address that nobody configured.
    """

    def __init__(self, url: str, *, section: str, timeout_s: float, api_key: str | None = None) -> None:
        self.url = url
        self._section = section
        self._timeout_s = timeout_s
        self._api_key = api_key
        self._down: tuple[float, KebabError] | None = None

    def post(self, **body: object) -> Reply:
        """The object that the server replies. ``body`` is named as in httpx: ``json``, ``data``, ``files``.

        Raises ModelUnavailable, Timeout, and Refusal for a request that the server does not take.
        """
        if self._down and time.monotonic() < self._down[0]:
            raise self._down[1]
        status, text = self._sent(body)
        if status == 200:
            return self._object(text)
        error = self._refused(status, text)
        if status in (400, 404, 415, 422):
            raise Refusal(error)
        raise error

    def failure(self, what: str, *, hint: str | None = None) -> ModelUnavailable:
        message = f"{self.url} {what}"
        return ModelUnavailable(message.replace(self._api_key, "…") if self._api_key else message, hint=hint)

    def _sent(self, body: Mapping[str, object]) -> tuple[int, bytes]:
        httpx = httpx_package()
        headers = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        timeout = httpx.Timeout(self._timeout_s, connect=min(_CONNECT_S, self._timeout_s))
        try:
            # A proxy of the environment is for hosts outside; a server on this machine is asked directly.
            with (
                httpx.Client(timeout=timeout, trust_env=not is_loopback(self.url)) as client,
                client.stream("POST", self.url, headers=headers, **body) as reply,
            ):
                return reply.status_code, self._read(reply)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            told = self.failure("cannot be reached", hint="is the server running there?")
            self._down = (time.monotonic() + _DOWN_S, told)
            raise told from error
        except httpx.TimeoutException as error:
            hint = f"raise {self._section}.timeout_s and ingest.file_timeout_s"
            raise Timeout(f"{self.url} did not answer within {self._timeout_s:g} s", hint=hint) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self.failure(f"broke off: {error}", hint="see the server's own log") from error

    def _read(self, reply: Any) -> bytes:
        """Within the time and size that a reply may have: a server that drips bytes is not waited for."""
        until, found = time.monotonic() + self._timeout_s, bytearray()
        for piece in reply.iter_bytes():
            found += piece
            if len(found) > _LONGEST_REPLY:
                raise self.failure("sent more than 16 MB")
            if time.monotonic() > until:
                raise Timeout(f"{self.url} took more than {self._timeout_s:g} s")
        return bytes(found)

    def _object(self, text: bytes) -> Reply:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.failure(f"answered something that is no JSON: {_start(text)}") from error
        if not isinstance(found, dict):
            raise self.failure(f"answered something unexpected: {_start(text)}")
        return found

    def _refused(self, status: int, text: bytes) -> KebabError:
        hints = {
            401: f"the key is missing or wrong: see {self._section}.api_key_env",
            403: f"the key may not use this model: see {self._section}.api_key_env",
            404: f"does the server have this model? See {self._section}.model and {self._section}.endpoint",
            413: "the file is larger than the server takes",
        }
        hint = hints.get(status, "see the server's own log")
        return self.failure(f"answered {status}: {_start(text)}", hint=hint)


def _start(text: bytes) -> str:
    return " ".join(text[:_SHOWN].decode("utf-8", "replace").split()) or "nothing"
