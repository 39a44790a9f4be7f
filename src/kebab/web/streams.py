"""Server-sent events: an answer as it is written, an ingest as it goes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from sse_starlette import EventSourceResponse, ServerSentEvent

from kebab import wire
from kebab.errors import KebabError
from kebab.web.threads import Threads
from kebab.wire.shape import Shape

SEND_SECONDS = 20.0
"""A reader who takes nothing for so long is let go."""


def events(shapes: Iterator[Shape], threads: Threads) -> EventSourceResponse:
    """Each shape as one event, named by its kind; an error is the last one, named ``error``."""
    return EventSourceResponse(_sent(shapes, threads), send_timeout=SEND_SECONDS, ping=15)


async def _sent(shapes: Iterator[Shape], threads: Threads) -> AsyncIterator[ServerSentEvent]:
    try:
        async for shape in threads.each(shapes):
            yield _event(shape)
    except KebabError as error:
        yield _event(wire.error(error))


def _event(shape: Shape) -> ServerSentEvent:
    name = str(shape.__struct_config__.tag).removesuffix(".v1")
    return ServerSentEvent(wire.encode(shape).decode(), event=name)
