"""The part of the application object that publishes."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from kebab.app.calls import Calls, call
from kebab.domain.progress import Progress, silent
from kebab.wire import requests

if TYPE_CHECKING:
    from kebab.assembly.rooms import Rooms
    from kebab.domain.publications import PublishReport, Release


class Publishing:
    """What others can search: publish, remove, roll back, collect."""

    calls: Calls
    _rooms: Rooms

    @call
    def publish(
        self,
        uri: str,
        *,
        name: str | None = None,
        everything: bool = False,
        progress: Progress = silent,
    ) -> PublishReport:
        """Publish the knowledge base at an address: a folder, ``s3://BUCKET/FOLDER``, ``gs://``, ``az://``.

        Only what changed since the last time is sent, unless ``everything``. Readers see what was there
        before or all of it. ``name`` tells publishers apart; it is the first source's id by default.
        """
        asked = requests.PublishRequest.of(uri=uri, name=name, everything=everything)
        return self._rooms.publisher.publish(**asked.arguments, progress=progress)

    @call
    def published(self, uri: str) -> list[Release]:
        """The releases at an address, newest first; empty where nothing was published."""
        from kebab.assembly.publications import open_publication

        return open_publication(uri).releases()

    @call
    def remove_published(self, uri: str, name: str) -> PublishReport:
        """Take what a publisher published out of what readers see."""
        return self._rooms.publisher.remove(uri, name=name)

    @call
    def roll_back_published(self, uri: str, release: int) -> PublishReport:
        """Show readers an earlier release again, as a new one."""
        return self._rooms.publisher.roll_back(uri, number=release)

    @call
    def collect_published(self, uri: str, *, older_than: timedelta = timedelta(hours=1)) -> PublishReport:
        """Remove what only releases before the newest needed, if they were made longer ago than this."""
        return self._rooms.publisher.collect(uri, older_than=older_than)
