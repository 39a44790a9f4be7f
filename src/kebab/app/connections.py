"""The part of ``Kebab`` that asks for briefs, for links and for related notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kebab.app.calls import Calls, call
from kebab.wire import requests

if TYPE_CHECKING:
    from kebab.assembly.rooms import Rooms
    from kebab.domain.briefs import Brief
    from kebab.domain.connections import LinkReport, RelatedReport
    from kebab.domain.queries import SearchFilters


class Connections:
    """``Kebab`` is one."""

    calls: Calls
    _rooms: Rooms

    @call
    def brief(
        self,
        task: str,
        *,
        max_tokens: int | None = None,
        filters: SearchFilters | None = None,
        scope: Mapping[str, str] | None = None,
    ) -> Brief:
        """What to know before a task is started: lines of documents, what worked before, what to avoid.

        Each piece has a citation or a record's id, and all of ``text`` fits the budget. ``filters`` bind the
        documents, ``scope`` (project, user, session) the runs. Without a memory, or where it cannot be read,
        documents answer alone; ``degraded`` names trouble.
        """
        given = {"max_tokens": max_tokens, "scope": dict(scope) if scope else None}
        asked = requests.BriefRequest.of(**requests.flat(filters), task=task, **given)
        return self._rooms.briefer.brief(**asked.arguments)

    @call
    def links(self, reference: str, *, filters: SearchFilters | None = None) -> LinkReport:
        """What a note links to, what links to it, and which of its links are broken.

        ``reference`` is an id, a beginning of one, a path, or what a wikilink to the note would say. Notes
        that the filters leave out do not exist for it. Raises DocNotFound, and InvalidInput where the
        reference names several documents.
        """
        asked = requests.LinksRequest.of(**requests.flat(filters), reference=reference)
        return self._rooms.linker.report(**asked.arguments)

    @call
    def related(
        self, reference: str, *, k: int | None = None, filters: SearchFilters | None = None
    ) -> RelatedReport:
        """The notes that are nearest to a note, by meaning, links and tags, best first, each with reasons.

        Takes a reference like ``links``. Without an embedding model links and tags alone count, and
        ``degraded`` says so.
        """
        asked = requests.RelatedRequest.of(**requests.flat(filters), reference=reference, k=k)
        return self._rooms.relater.report(**asked.arguments)
