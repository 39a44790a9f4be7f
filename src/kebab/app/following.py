"""A knowledge base that was published elsewhere, opened here, and followed as new releases appear."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from threading import Lock, Thread
from typing import TYPE_CHECKING

from kebab.assembly.opening import build_engines
from kebab.assembly.publications import Published, build_replica, settings_on
from kebab.domain.hits import Degradation
from kebab.domain.layout import DataLayout
from kebab.domain.turns import Waiting, unheard
from kebab.errors import EngineError, KebabError

if TYPE_CHECKING:
    from kebab.assembly.engines import Engines
    from kebab.config import Settings
    from kebab.domain.hits import SearchResponse
    from kebab.domain.walls import Walls
    from kebab.upkeep.cache import Held


class Following:
    """Opens engines on the newest release. While they are used, the next one is fetched beside them."""

    def __init__(
        self,
        settings: Settings,
        *,
        waiting: Waiting,
        walls: Walls | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._waiting = waiting
        self._walls = walls
        self._clock = clock
        self._replica = build_replica(settings, waiting=waiting)
        self._beside = replace(self._replica, waiting=unheard)
        """The same, for a thread beside: nobody waits for what it fetches."""
        self._lock = Lock()
        self._asked_at = clock()
        self._found: Held | None = None
        self._opened: Held | None = None
        self._thread: Thread | None = None
        self.trouble: str | None = None
        """Why the newest release is not known, in words; None where it is."""

    def open(self) -> Engines:
        """Engines on the newest release; on the one in the cache where the address cannot be reached."""
        try:
            held, self.trouble = self._replica.follow(), None
        except EngineError as error:
            newest = self._replica.cache.newest()
            if newest is None:
                raise
            held, self.trouble = newest, error.message
        return self._on(held)

    def renewed(self) -> Engines | None:
        """Engines on a newer release, once one is here; asks for it now and then, without waiting.

        Where another process let the release go that is open here, it waits for one; raises like ``open``.
        """
        if self._opened is not None and self._opened.is_gone():
            return self.open()
        with self._lock:
            found, self._found = self._found, None
            if self._thread is None and self._clock() - self._asked_at >= self._settings.index.follow_s:
                self._asked_at = self._clock()
                self._thread = Thread(target=self._look, name="kebab-follow", daemon=True)
                self._thread.start()
        if found is None or self._opened is None or found.release == self._opened.release:
            return None
        return self._on(found)

    def told(self, response: SearchResponse) -> SearchResponse:
        """The response, with a note where it may not be the newest that could have been given."""
        if self.trouble is None:
            return response
        note = Degradation("index", "not_followed", self.trouble, "what was fetched before answers")
        return replace(response, degraded=(note, *response.degraded))

    def _look(self) -> None:
        trouble: str | None = "looking for a newer release failed"
        found = None
        try:
            found = self._beside.follow()
            trouble = None
        except KebabError as error:
            trouble = error.message
        finally:
            # Whatever else it was: the next call begins anew.
            with self._lock:
                self._found, self.trouble, self._thread = found, trouble, None

    def _on(self, held: Held) -> Engines:
        self._opened = held
        home = DataLayout(self._settings.data_dir)
        return build_engines(
            settings_on(self._settings, held.folder, held.release),
            readonly=True,
            waiting=self._waiting,
            walls=self._walls,
            published=Published(self._replica.publication, held, home),
        )
