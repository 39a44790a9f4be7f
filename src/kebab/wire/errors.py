"""The shape of a failure."""

from __future__ import annotations

from typing import Any

import msgspec

from kebab.errors import KebabError
from kebab.wire.shape import Shape


class Error(Shape, frozen=True, tag_field="schema_version", tag="error.v1"):
    """``code`` is stable and meant for programs; ``message`` and ``hint`` are for people."""

    code: str
    message: str
    hint: str | None = None
    details: dict[str, Any] = msgspec.field(default_factory=dict)


def error(failure: KebabError) -> Error:
    return Error(code=failure.code, message=failure.message, hint=failure.hint, details=failure.details)
