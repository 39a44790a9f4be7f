"""Looking at what changed before deciding to read it: how much it is, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kebab.domain.ingests import IngestItem, IngestReport
from kebab.ingest.changes import Changes


@dataclass(frozen=True, slots=True)
class Effort:
    """How much there is to do: files to read or to remove, and the bytes of those to read."""

    files: int
    byte_len: int

    @classmethod
    def of(cls, changes: Sequence[Changes]) -> Effort:
        tasks = [task for change in changes for task in change.tasks]
        gone = sum(len(change.gone) for change in changes)
        return cls(len(tasks) + gone, sum(task.size for task in tasks))

    def __bool__(self) -> bool:
        return self.files > 0

    def exceeds(self, other: Effort) -> bool:
        return self.files > other.files or self.byte_len > other.byte_len


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What a look at the sources led to."""

    report: IngestReport | None = None
    """The run that read what changed; None where nothing was read."""
    unread: int = 0
    """Changed files that were left as they are, since reading them would take too long."""
    failures: tuple[IngestItem, ...] = ()
    """What could not be looked at, such as a folder that is missing."""
    held_back: tuple[str, ...] = ()
    """Removals that were not made, in words: more than half of a source would have gone."""
