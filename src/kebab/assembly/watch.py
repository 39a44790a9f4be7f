"""The watcher joined to the engine that tells of changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kebab.assembly.ingest import source_folders
from kebab.ingest.refresh import Refreshed
from kebab.ingest.targets import Target
from kebab.ingest.watch import Heard, Watcher

if TYPE_CHECKING:
    from kebab.assembly.engines import Engines


def build_watcher(
    engines: Engines, refresh: Callable[[Sequence[Target]], Refreshed], *, poll: bool, heard: Heard | None
) -> Watcher:
    """Raises ReadOnly where nothing may be written, and OutsideWalls inside walls."""
    from kebab.adapters.watchfiles_events import PollingEvents, WatchfilesEvents

    engines.forbid_readonly("watch")
    engines.require_whole("watch")
    heard = heard or Heard()
    return Watcher(
        sources=source_folders(engines.settings),
        own=engines.layout.folder,
        events=PollingEvents() if poll else WatchfilesEvents(told=heard.note),
        refresh=refresh,
        heard=heard,
    )
