"""One streamed HTTP answer, line by line, with every failure called what it is here."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from kebab.errors import KebabError, ModelUnavailable, Timeout

_CONNECT_S = 10.0
_SHOWN = 300

Event = dict[str, Any]


class LineStream:
    """Posts JSON and yields the lines of the reply as they arrive; closing the generator hangs up.

    Hanging up is what stops a model: Ollama, llama.cpp and vLLM all end a generation whose reader is gone.
    The key is sent as a bearer token and stands in no message.
    """

    def __init__(self, url: str, *, model: str, timeout_s: float, api_key: str | None = None) -> None:
        self.url = url
        self._model = model
        self._timeout_s = timeout_s
        self._api_key = api_key

    def lines(self, body: Mapping[str, object]) -> Generator[str, None, None]:
        """Raises ModelUnavailable, or Timeout when nothing arrives for ``timeout_s``."""
        httpx = _httpx()
        headers = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        timeout = httpx.Timeout(self._timeout_s, connect=min(_CONNECT_S, self._timeout_s))
        # A proxy of the environment is for hosts outside; a server on this machine is asked directly.
        with (
            self._translated(),
            httpx.Client(timeout=timeout, trust_env=not _is_loopback(self.url)) as client,
            client.stream("POST", self.url, json=dict(body), headers=headers) as reply,
        ):
            if reply.status_code != 200:
                reply.read()
                raise self._refused(reply.status_code, reply.text)
            yield from reply.iter_lines()

    def parsed(self, line: str) -> Event:
        """The JSON object of a line. Raises ModelUnavailable for anything else, or when it is an error."""
        try:
            event = json.loads(line)
        except ValueError as error:
            raise self.failure(f"answered something that is no JSON: {line[:_SHOWN]}") from error
        if not isinstance(event, dict):
            raise self.failure(f"answered something unexpected: {line[:_SHOWN]}")
        if event.get("error"):
            raise self.failure(f"reported: {_message(event)}")
        return event

    def failure(self, what: str, *, hint: str | None = None) -> ModelUnavailable:
        return ModelUnavailable(self._safe(f"{self.url} {what}"), hint=hint)

    def _refused(self, status: int, text: str) -> KebabError:
        hints = {
            401: "the key is missing or wrong: see models.llm.api_key_env",
            403: "the key may not use this model: see models.llm.api_key_env",
            404: f"the server does not have {self._model!r}: install it there or change models.llm.model",
        }
        hint = hints.get(status, "see the server's own log")
        return self.failure(f"answered {status} for the model {self._model!r}: {_reason(text)}", hint=hint)

    @contextmanager
    def _translated(self) -> Generator[None, None, None]:
        httpx = _httpx()
        try:
            yield
        except httpx.TimeoutException as error:
            raise Timeout(
                f"{self.url} sent nothing for {self._timeout_s:g} s",
                hint="raise models.llm.timeout_s or take a smaller model",
            ) from error
        except httpx.ConnectError as error:
            raise self.failure("cannot be reached", hint="is the server running there?") from error
        except httpx.UnsupportedProtocol as error:
            raise self.failure("is no http address", hint="set models.llm.endpoint") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self.failure(f"broke off: {error}", hint="see the server's own log") from error

    def _safe(self, message: str) -> str:
        return message.replace(self._api_key, "…") if self._api_key else message


def _httpx() -> Any:
    try:
        import httpx
    except ImportError as error:
        raise ModelUnavailable(
            "the package httpx is not installed", hint="pip install 'kebab[remote]'"
        ) from error
    return httpx


def _reason(text: str) -> str:
    try:
        return _message(json.loads(text))
    except ValueError:
        return text.strip()[:_SHOWN] or "no reason given"


def _message(event: Event) -> str:
    error = event.get("error", event) if isinstance(event, dict) else event
    if isinstance(error, dict):
        error = error.get("message", error)
    return str(error)[:_SHOWN]


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")
