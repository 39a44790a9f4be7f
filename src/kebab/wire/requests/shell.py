"""What a command line asks of a kebab process that is open on the same data: a protocol between equals.

Both ends are of one version and one user; the shape is no part of what is promised to others.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from kebab.wire.requests import Request

MOST_BYTES = 1 << 20
"""A longer request is refused unread."""

Text = Annotated[str, Meta(max_length=MOST_BYTES)]


class ShellRequest(Request, frozen=True, kw_only=True, tag_field="schema_version", tag="shell_request.v1"):
    """A command line, and all of its surroundings that its output depends on."""

    program: tuple[str, int]
    """The package's folder, and when it was installed."""
    typed: Annotated[tuple[Text, ...], Meta(min_length=1, max_length=10_000)]
    config: Text | None = None
    """The file that ``--config`` names, as an absolute path."""
    cwd: Text
    environ: dict[str, Text]
    columns: Annotated[int, Meta(ge=1, le=100_000)]
    color: bool
    links: bool
    terminal: bool
