"""Requests for a brief, and for how notes are connected."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, field

from kebab.domain.executions import ExecutionFilters
from kebab.wire.requests import Budget, Count, not_empty
from kebab.wire.requests.search import Filtered


class BriefRequest(Filtered, frozen=True, kw_only=True, tag_field="schema_version", tag="brief_request.v1"):
    """What to know before a task is started; the filters bind the documents, ``scope`` the runs."""

    task: Annotated[str, Meta(max_length=100_000)]
    max_tokens: Budget = 1500
    scope: dict[str, str] = field(default_factory=dict)
    """Each of project, user and session must be the run's own."""

    def __post_init__(self) -> None:
        super().__post_init__()
        not_empty("task", self.task)

    @property
    def arguments(self) -> dict[str, Any]:
        own = super().arguments
        runs = ExecutionFilters(scope=own.pop("scope"))
        return {**own, "runs": runs}


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


CONNECTION_REQUESTS = (BriefRequest, LinksRequest, RelatedRequest)
