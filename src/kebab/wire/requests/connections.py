"""Requests for how notes are connected."""

from __future__ import annotations

from kebab.wire.requests import Count, not_empty
from kebab.wire.requests.search import Filtered


class LinksRequest(Filtered, frozen=True, kw_only=True, tag_field="schema_version", tag="links_request.v1"):
    """The links of a note, by id, a beginning of one, path or name: out, back and broken."""

    reference: str

    def __post_init__(self) -> None:
        super().__post_init__()
        not_empty("reference", self.reference)


class RelatedRequest(
    Filtered, frozen=True, kw_only=True, tag_field="schema_version", tag="related_request.v1"
):
    """The notes that are nearest to a note, by meaning, links and tags."""

    reference: str
    k: Count = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        not_empty("reference", self.reference)


CONNECTION_REQUESTS = (LinksRequest, RelatedRequest)
