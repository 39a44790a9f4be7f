"""What a tool is: a request, a call of the knowledge base, a wire shape, and a short text of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kebab.app import Kebab
from kebab.domain.progress import Cancelled, never
from kebab.wire.requests import Request
from kebab.wire.shape import Shape

FILTERS = ("tag", "lang", "path", "source")
"""The filters that every tool with filters shows; it takes the others too."""

Report = Callable[[float, float | None, str], None]
"""Hears how far a call has come: so much done, of so much if that is known, and what is being done."""


def unheard(done: float, total: float | None, message: str) -> None:
    """Hears the progress of a call and tells nobody."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool: what it works on, and how it is watched and stopped."""

    kebab: Kebab
    report: Report = unheard
    cancelled: Cancelled = never
    client: str = "mcp"
    """The name that the calling program gives itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """``run`` answers a request with a wire shape; ``text`` says the same briefly, for a model to read."""

    name: str
    description: str
    request: type[Request]
    response: type[Shape]
    run: Callable[[Call, Any], Shape]
    text: Callable[[Any], str]
    shown: tuple[str, ...] = ()
    """The keys of the request that the definition lists, in this order; the others are accepted too.

    Listed here and not taken from the request: a model reads all definitions before it asks anything, so
    that a key has to earn its place.
    """
    notes: dict[str, str] = field(default_factory=dict)
    """What a key means, where its name does not say it."""
    writes: bool = False
    destructive: bool = False
    idempotent: bool = False
    memory: bool = False
    """Whether it is about what agents did, and not about documents."""
