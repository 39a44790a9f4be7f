"""Keeping up with the sources while files change: what happened, batch by batch, and only there.

Events are hints. Each batch names places to look at, and what is there decides: an editor that writes a new
file and renames it, a branch that is checked out and a folder that is moved all end as the files that are
there when the batch is looked at. Where events may have been lost, everything is looked at again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kebab.domain.ids import nfc
from kebab.domain.ingests import IngestReport
from kebab.domain.progress import Cancelled
from kebab.errors import Closed, KebabError
from kebab.ingest.grounds import Grounds, mount_points
from kebab.ingest.ignore import IGNORE_FILES
from kebab.ingest.noise import conflict_of, is_temporary
from kebab.ingest.parse.formats import ANY, FORMATS, extension
from kebab.ingest.parse.unknown import may_be_text
from kebab.ingest.refresh import Refreshed
from kebab.ingest.scan import SourceFolder
from kebab.ingest.targets import Target
from kebab.ports import FolderEvents

GRACE_S = 0.3
"""A file that is gone may be on its way back under its own name: editors replace files in two steps."""
MANY = 500
"""From so many paths on everything is looked at: it costs no more, and finds what an overflow swallowed."""
LONGEST_REST_S = 0.5
"""After a batch the watcher rests half as long as it worked, at most so long: others get their turn."""
GROUND_S = 2.0
"""How often it is looked whether the folders themselves are still there while nothing happens in them."""
FIRST_RETRY_S, LAST_RETRY_S = 1.0, 60.0

WHOLE = ""
"""Stands for all of a source among its paths."""


def _unheard(_: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Heard:
    """Who hears what the watcher does."""

    run: Callable[[IngestReport], None] = _unheard
    """Each batch that changed something."""
    note: Callable[[str], None] = _unheard
    """What a person should know, in words; the same note not twice in a row."""
    ready: Callable[[], None] = lambda: None
    """Everything was looked at once, and from now on changes are seen."""


@dataclass(slots=True, kw_only=True)
class Watcher:
    """Looks where something happened, until it is stopped. For one thread."""

    sources: Sequence[SourceFolder]
    own: Path
    """Kebab's data folder, which may lie inside a source."""
    events: FolderEvents
    refresh: Callable[[Sequence[Target]], Refreshed]
    heard: Heard = field(default_factory=Heard)
    formats: Container[str] = FORMATS
    mounted: Callable[[], frozenset[str]] = mount_points
    pause: Callable[[float], object] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _pending: dict[str, set[str]] = field(default_factory=dict)
    """Paths to look at, by source."""
    _held: dict[str, set[str]] = field(default_factory=dict)
    """Paths whose removal was held back: where they moved to may be told by a later batch."""
    _lost: set[str] = field(default_factory=set)
    """Mount points that were there and are not now."""
    _ground_at: float = 0.0
    _retry_at: float = 0.0
    _retry_s: float = FIRST_RETRY_S
    _notes: tuple[str, ...] = ()
    _ready: bool = False

    def run(self, stopped: Cancelled) -> None:
        """Bring everything up to date, then follow. Returns when ``stopped`` says so, or all is closed."""
        try:
            while not stopped():
                self._follow(stopped)
        except Closed:
            return

    def _follow(self, stopped: Cancelled) -> None:
        """Watch the roots that are there, until one comes, goes or is replaced."""
        grounds = self._grounds()
        there = [source for source, folder in zip(self.sources, grounds.folders, strict=True) if folder]
        first = burst = True
        try:
            for batch in self.events.batches([source.root for source in there], stopped=stopped):
                if not first and self._is_time_for_ground(batch) and self._grounds() != grounds:
                    self._note_ground(grounds)
                    return
                if first or (burst and not batch):
                    # Everything: at the start, and once more when a burst has ended.
                    burst = first
                    self._want_all()
                elif len(batch) >= MANY:
                    burst = True
                    self._want_all()
                else:
                    self._want(batch)
                first = False
                self._look(stopped)
        except KebabError as error:
            if isinstance(error, Closed):
                raise
            self._note([error.message])
            self.pause(FIRST_RETRY_S)

    # --- what to look at ----------------------------------------------------------------------------

    def _want_all(self) -> None:
        self._pending = {source.id: {WHOLE} for source in self.sources}

    def _want(self, batch: Iterable[str]) -> None:
        for path in batch:
            if self._is_of_interest(path):
                for source in self.sources:
                    if f"{path}{os.sep}".startswith(f"{source.root}{os.sep}"):
                        under = path[len(str(source.root)) :].strip(os.sep).replace(os.sep, "/")
                        self._pending.setdefault(source.id, set()).add(nfc(under))

    def _is_of_interest(self, path: str) -> bool:
        """Cheap, and generous: whatever looks at a path decides in the end."""
        name = os.path.basename(path)
        if f"{path}{os.sep}".startswith(f"{self.own}{os.sep}") or is_temporary(name):
            return False
        ending = extension(name)
        known = ending in self.formats or (ANY in self.formats and may_be_text(ending))
        if known or name in IGNORE_FILES:
            return True
        # No file that can be read: a folder that came or went, or something that is left out anyway.
        return not os.path.isfile(path)

    def _targets(self) -> list[Target]:
        """The places to look at, apart from those on a disk that is gone."""
        wanted = {id: paths | self._held.get(id, set()) for id, paths in self._pending.items()}
        return [
            Target(source, () if WHOLE in kept else tuple(sorted(kept)))
            for source in self.sources
            if (kept := {_of_rules(path) for path in wanted.get(source.id, ()) if self._stands(source, path)})
        ]

    def _stands(self, source: SourceFolder, path: str) -> bool:
        """Whether no disk that is gone was at, above or below a path."""
        place = source.root / path
        lost = [Path(mount) for mount in self._lost]
        return not any(place.is_relative_to(mount) or mount.is_relative_to(place) for mount in lost)

    # --- looking -------------------------------------------------------------------------------------

    def _look(self, stopped: Cancelled) -> None:
        if not self._pending or self.clock() < self._retry_at:
            return
        if any(not os.path.lexists(path) for path in self._named()):
            self.pause(GRACE_S)
        began, targets = self.clock(), self._targets()
        if targets:
            try:
                self._tell(self.refresh(targets), targets)
            except KebabError as error:
                if isinstance(error, Closed):
                    raise
                self._put_off(error)
                return
        self._pending, self._retry_at, self._retry_s = {}, 0.0, FIRST_RETRY_S
        if not self._ready:
            self._ready = True
            self.heard.ready()
        if not stopped():
            self.pause(min((self.clock() - began) / 2, LONGEST_REST_S) if targets else 0.0)

    def _named(self) -> Iterable[Path]:
        roots = {source.id: source.root for source in self.sources}
        return (roots[id] / path for id, paths in self._pending.items() for path in paths if path)

    def _put_off(self, error: KebabError) -> None:
        """Try again later: another process writes, the disk is full, a model is gone."""
        self._note([error.message])
        self._retry_at = self.clock() + self._retry_s
        self._retry_s = min(2 * self._retry_s, LAST_RETRY_S)

    def _tell(self, found: Refreshed, targets: Sequence[Target]) -> None:
        self._held = {t.source.id: set(t.under) or {WHOLE} for t in targets} if found.held_back else {}
        held = [f"{message}; they are kept. To remove them: kebab ingest --allow-mass-delete"
                for message in found.held_back]  # fmt: skip
        self._note([*(item.reason or item.path for item in found.failures), *held, *self._lost_notes()])
        if found.report is not None:
            self.heard.run(found.report)
            for item in found.report.items:
                original = conflict_of(item.path.rpartition("/")[2])
                if original and item.doc_id:
                    self.heard.note(f"{item.path} is a sync program's conflict copy of {original}")

    def _note(self, notes: Sequence[str]) -> None:
        for note in notes:
            if note not in self._notes:
                self.heard.note(note)
        self._notes = tuple(notes)

    # --- the ground ----------------------------------------------------------------------------------

    def _is_time_for_ground(self, batch: frozenset[str]) -> bool:
        """Before every batch, and now and then while nothing happens."""
        now = self.clock()
        if not batch and now < self._ground_at:
            return False
        self._ground_at = now + GROUND_S
        return True

    def _grounds(self) -> Grounds:
        return Grounds.of([source.root for source in self.sources], self.mounted)

    def _note_ground(self, before: Grounds) -> None:
        now = self._grounds()
        self._lost = (self._lost | (before.mounts - now.mounts)) - now.mounts
        self._note(self._lost_notes())

    def _lost_notes(self) -> list[str]:
        return [f"the disk at {mount} is gone; the documents on it are kept" for mount in sorted(self._lost)]


def _of_rules(path: str) -> str:
    """Where to look for a path: an ignore file is about the whole of its folder."""
    folder, _, name = path.rpartition("/")
    return folder if name in IGNORE_FILES else path
