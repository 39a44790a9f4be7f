"""A search that looks at the files first, and reads what changed where that takes less than a second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kebab.domain.hits import Degradation
from kebab.errors import KebabError, NotIndexed
from kebab.ingest.refresh import Effort

if TYPE_CHECKING:
    from kebab.assembly.rooms import Rooms
    from kebab.domain.hits import SearchResponse

LOOKED_AT = 15_000
"""Documents of a folder that can be looked at within the second."""
LIGHT = Effort(files=100, byte_len=1 << 20)
"""What can be read and embedded within the second by the built-in model, or without one."""
HEAVY = Effort(files=3, byte_len=64 << 10)
"""The same where another model embeds."""
HINT = "run `kebab ingest`, or keep `kebab watch` open"


def fresh_search(rooms: Rooms, arguments: Mapping[str, Any]) -> SearchResponse:
    """Search after a look at the files; what could not be read is said in ``degraded``. Raises NotIndexed."""
    rooms.engines.require()
    message = _refreshed(rooms)
    response = rooms.searcher.search(**arguments)
    if message is None:
        return response
    note = Degradation("sources", "not_refreshed", message, HINT)
    return replace(response, degraded=(note, *response.degraded))


def _refreshed(rooms: Rooms) -> str | None:
    """Read what changed; returns what was left undone, in words."""
    engines = rooms.engines
    if engines.readonly or engines.walls:
        return "the files were not looked at: this kebab may not write"
    if engines.reading.documents.counts()[0] > LOOKED_AT:
        return f"the files were not looked at: more than {LOOKED_AT:,} documents take longer than a second"
    light = engines.embeds_apart or engines.settings.models.embedding.provider == "none"
    try:
        with rooms.ingesting(dry_run=False) as pipeline:
            if not pipeline.turns.take_charge():
                return f"another run is at work: {pipeline.turns.in_charge()}"
            found = pipeline.refresh(most=LIGHT if light else HEAVY)
    except NotIndexed:
        raise
    except KebabError as error:
        return f"the files were not read: {error.message}"
    if found.unread:
        return f"{found.unread} files changed and were not read: it would take longer than a second"
    undone = [*found.held_back, *(item.reason or item.path for item in found.failures)]
    return "; ".join(undone) or None
