"""Requests of publishing."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from kebab.validation import RULE
from kebab.wire.requests import Request, not_empty

Name = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
        extra={RULE: "up to 64 Latin letters, digits, dots, dashes and underscores, a letter or digit first"},
    ),
]


class PublishRequest(
    Request, frozen=True, kw_only=True, tag_field="schema_version", tag="publish_request.v1"
):
    """Publish what changed under a name, or everything; the name is by default the first source's id."""

    uri: str
    name: Name | None = None
    everything: bool = False

    def __post_init__(self) -> None:
        not_empty("uri", self.uri)


PUBLISHING_REQUESTS = (PublishRequest,)
