"""The ASGI application: the operations, the streams, the page, behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from kebab import wire
from kebab.app import Kebab
from kebab.errors import KebabError, NotIndexed, ReadOnly
from kebab.web import answers, page
from kebab.web.guard import BODY_SECONDS, LOOPBACK, Guard, TooMuch
from kebab.web.ingesting import Ingesting
from kebab.web.openapi import document
from kebab.web.operation import Operation
from kebab.web.operations import OPERATIONS
from kebab.web.streams import events
from kebab.web.threads import Threads
from kebab.wire.answers import AnswerEvent
from kebab.wire.requests.library import IngestRequest
from kebab.wire.requests.search import AskRequest
from kebab.wire.shape import Shape

API = "/api/v1"
STREAM = "text/event-stream"
Endpoint = Callable[[HttpRequest], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Access:
    """Who may reach the server; see Guard."""

    hosts: frozenset[str] = LOOPBACK
    token: str | None = None
    any_address: bool = False
    body_seconds: float = BODY_SECONDS


@dataclass(frozen=True, slots=True)
class Joined:
    """Another application in the same process, at a path of its own and behind the same guard."""

    path: str
    app: ASGIApp
    lifespan: Callable[[], AbstractAsyncContextManager[None]]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


@dataclass(frozen=True, slots=True)
class Api:
    """The endpoints over one open knowledge base."""

    kebab: Kebab
    readonly: bool = False
    threads: Threads = field(default_factory=Threads)

    def endpoint(self, operation: Operation) -> Endpoint:
        async def answer(http: HttpRequest) -> Response:
            asked = None
            if operation.takes is not None:
                asked = await answers.read_request(http, operation.takes)
            if "GET" not in operation.methods:
                self._writing(operation.path)
            call = partial(operation.call, self.kebab, asked)
            shape, revision = await self.threads.run(partial(self._answered, call), lasting=operation.lasting)
            return answers.shaped(shape, revision=revision, http=http)

        return answer

    def _answered(self, call: Callable[[], Shape]) -> tuple[Shape, int | None]:
        """The answer with the revision that it is at least as new as."""
        try:
            revision: int | None = self.kebab.revision()
        except NotIndexed:
            revision = None
        return call(), revision

    def _writing(self, what: str) -> None:
        if self.readonly:
            raise ReadOnly.refusing(what)

    async def ask(self, http: HttpRequest) -> Response:
        asked = await answers.read_request(http, AskRequest)
        explain = http.query_params.get("explain") == "true"
        if STREAM in http.headers.get("accept", ""):
            return events(self._answer_events(asked, explain=explain), self.threads)
        found = await self.threads.run(partial(self.kebab.ask, **asked.arguments), lasting=True)
        return answers.shaped(wire.answer(found, explain=explain), revision=None, http=http)

    def _answer_events(self, asked: AskRequest, *, explain: bool) -> Iterator[AnswerEvent]:
        stream = self.kebab.ask_stream(**asked.arguments)
        try:
            for event in stream:
                yield wire.answer_event(event, explain=explain)
        finally:
            stream.close()  # type: ignore[attr-defined]

    def ingest(self, job: Ingesting) -> Endpoint:
        async def run(http: HttpRequest) -> Response:
            asked = None
            if http.method == "POST":
                asked = await answers.read_request(http, IngestRequest)
                if not asked.dry_run:
                    self._writing("/ingest")
            if http.method == "GET" or STREAM in http.headers.get("accept", ""):
                return events(job.watch(asked), self.threads)
            shapes = await self.threads.run(lambda: list(job.watch(asked)), lasting=True)
            if isinstance(shapes[-1], wire.Error):
                error = shapes[-1]
                status = answers.STATUS.get(error.code, 500)
                return Response(wire.encode(error), status_code=status, media_type=answers.JSON)
            return answers.shaped(shapes[-1], revision=None, http=http)

        return run

    def stop(self, job: Ingesting) -> Endpoint:
        async def stop(http: HttpRequest) -> Response:
            self._writing("/ingest/stop")
            job.stop()
            return Response(status_code=204)

        return stop


def create_app(
    kebab: Kebab,
    *,
    access: Access = Access(),
    readonly: bool = False,
    joined: tuple[Joined, ...] = (),
) -> ASGIApp:
    """The application over an open knowledge base, which the caller closes."""
    api, job = Api(kebab, readonly=readonly), Ingesting(kebab)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for each in joined:
                await stack.enter_async_context(each.lifespan())
            yield
        job.stop(wait=True)

    inner = Starlette(
        routes=[*_api_routes(api, job), *(Route(each.path, each) for each in joined), *page.routes()],
        exception_handlers={
            KebabError: _on_kebab_error,
            TooMuch: _on_too_much,
            HTTPException: _on_http_error,
            Exception: _on_fault,
        },
        lifespan=lifespan,
    )
    return Guard(
        inner,
        hosts=access.hosts,
        token=access.token,
        any_address=access.any_address,
        body_seconds=access.body_seconds,
        shell=frozenset(page.PATHS),
    )


def _api_routes(api: Api, job: Ingesting) -> list[BaseRoute]:
    described = wire.encode(document(OPERATIONS, prefix=API))
    plain = [
        Route(API + operation.path, api.endpoint(operation), methods=list(operation.methods))
        for operation in OPERATIONS
    ]

    async def openapi(http: HttpRequest) -> Response:
        return Response(described, media_type=answers.JSON)

    return [
        *plain,
        Route(f"{API}/ask", api.ask, methods=["POST"]),
        Route(f"{API}/ingest", api.ingest(job), methods=["GET", "POST"]),
        Route(f"{API}/ingest/stop", api.stop(job), methods=["POST"]),
        Route(f"{API}/openapi.json", openapi, methods=["GET"]),
    ]


async def _on_kebab_error(http: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, KebabError)
    return answers.failed(error)


async def _on_too_much(http: HttpRequest, error: Exception) -> Response:
    return answers.refused(413, "too_large", "the request is too large or arrives too slowly")


async def _on_fault(http: HttpRequest, error: Exception) -> Response:
    """Anything else is a bug: the caller is told so in the same shape, and the log gets the traceback."""
    return answers.refused(500, "generic", f"{type(error).__name__}: this is a bug in kebab")


async def _on_http_error(http: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404 and "text/html" in http.headers.get("accept", ""):
        return page.missing()
    return answers.refused(error.status_code, f"http_{error.status_code}", str(error.detail))
