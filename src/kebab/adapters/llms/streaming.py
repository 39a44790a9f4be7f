"""One streamed HTTP answer, line by line, with every failure called what it is here."""

from __future__ import annotations

import json
import socket
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from threading import Event as Flag
from time import monotonic
from typing import Any

from kebab.adapters.http_client import httpx_package, is_loopback
from kebab.adapters.later import later
from kebab.errors import KebabError, ModelUnavailable, Timeout

_CONNECT_S = 10.0
_SHOWN = 300

_UNABLE = (400, 404, 415, 422, 500, 501)
"""What servers answer to a request for a form of text that they do not offer."""

Event = dict[str, Any]


class OutOfTime(Exception):
    """The seconds that the caller gave are over; never leaves the adapters."""


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
        self._plain = False
        """True once the server has refused a form: it is not asked for one again."""

    def formed(
        self, body: Mapping[str, object], form: Mapping[str, object], *, seconds: float | None = None
    ) -> Generator[str, None, None]:
        """The lines of the reply to ``body`` with ``form``, or without it where the server refuses that."""
        ends = monotonic() + seconds if seconds is not None else None
        if form and not self._plain:
            with suppress(_Unable):
                yield from self.lines({**body, **form}, ends=ends)
                return
        try:
            for line in self.lines(body, ends=ends):
                self._plain = self._plain or bool(form)
                yield line
        except _Unable as refused:
            raise refused.error from None

    def lines(self, body: Mapping[str, object], *, ends: float | None = None) -> Generator[str, None, None]:
        """Raises ModelUnavailable, Timeout after ``timeout_s`` of silence, and OutOfTime at ``ends``."""
        httpx = httpx_package()
        headers = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        left = max(0.001, ends - monotonic()) if ends is not None else self._timeout_s
        wait = min(self._timeout_s, left)
        timeout = httpx.Timeout(wait, connect=min(_CONNECT_S, wait))
        late = Flag()
        # A proxy of the environment is for hosts outside; a server on this machine is asked directly.
        with (
            self._translated(late, ends=ends),
            httpx.Client(timeout=timeout, trust_env=not is_loopback(self.url)) as client,
            client.stream("POST", self.url, json=dict(body), headers=headers) as reply,
            _hung_up(reply, late, ends=ends),
        ):
            if reply.status_code != 200:
                reply.read()
                error = self._refused(reply.status_code, reply.text)
                raise _Unable(error) if reply.status_code in _UNABLE else error
            yield from reply.iter_lines()
            if late.is_set():
                raise OutOfTime

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
    def _translated(self, late: Flag, *, ends: float | None) -> Generator[None, None, None]:
        httpx = httpx_package()
        try:
            yield
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            if late.is_set() or (ends is not None and monotonic() >= ends):
                raise OutOfTime from error
            raise self._told(error) from error

    def _told(self, error: Exception) -> KebabError:
        httpx = httpx_package()
        if isinstance(error, httpx.TimeoutException):
            hint = "raise models.llm.timeout_s or take a smaller model"
            return Timeout(f"{self.url} sent nothing for {self._timeout_s:g} s", hint=hint)
        if isinstance(error, httpx.ConnectError):
            return self.failure("cannot be reached", hint="is the server running there?")
        if isinstance(error, httpx.UnsupportedProtocol):
            return self.failure("is no http address", hint="set models.llm.endpoint")
        return self.failure(f"broke off: {error}", hint="see the server's own log")

    def _safe(self, message: str) -> str:
        return message.replace(self._api_key, "…") if self._api_key else message


class _Unable(Exception):
    """A refusal that may be about the form asked for; ``error`` is what it means otherwise."""

    def __init__(self, error: KebabError) -> None:
        super().__init__(error.message)
        self.error = error


@contextmanager
def _hung_up(reply: Any, late: Flag, *, ends: float | None) -> Generator[None, None, None]:
    """Hang up at ``ends``, also on a server that is silent: a read that waits notices nothing else."""
    if ends is None:
        yield
        return

    def hang_up() -> None:
        late.set()
        with suppress(OSError, AttributeError):
            reply.extensions["network_stream"].get_extra_info("socket").shutdown(socket.SHUT_RDWR)

    with later(max(0.0, ends - monotonic()), hang_up):
        yield


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
