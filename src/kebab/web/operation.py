"""What an operation of the HTTP interface is: a path, what it takes, what it gives, and the call between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kebab.app import Kebab
from kebab.wire.requests import Request
from kebab.wire.shape import Shape

READ = ("GET",)
ASK = ("GET", "POST")
"""Reading that also takes its request as a body: queries may be longer than an address."""
WRITE = ("POST",)


@dataclass(frozen=True, slots=True)
class Operation:
    """``call`` runs in a worker thread. ``lasting`` calls do not take the threads that searches need."""

    path: str
    summary: str
    gives: type[Shape]
    call: Callable[[Kebab, Any], Shape]
    takes: type[Request] | None = None
    methods: tuple[str, ...] = READ
    lasting: bool = False
