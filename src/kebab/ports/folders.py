"""The folders that documents come from: what happens in them, and what they hold now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kebab.domain.citations import SourceState


class FolderEvents(Protocol):
    """Tells at which paths below some folders something happened."""

    def batches(self, roots: Sequence[Path], *, stopped: Callable[[], bool]) -> Iterator[frozenset[str]]:
        """Absolute paths at which something appeared, changed or vanished, until ``stopped`` says so.

        The first batch is empty and comes when the folders are watched: whatever happens from then on is
        told, by its path or by that of a folder above it. What happens shortly after each other comes in one
        batch; nothing need have happened where one says so. An empty one comes now and then, at
        least every few seconds, and always while there are no folders. Raises StorageError where a folder
        cannot be watched.
        """
        ...


class SourceFiles(Protocol):
    """The files that documents came from, as they are now."""

    def state(self, source_id: str, path: str) -> SourceState | None:
        """Whether the file still has the content it was indexed with, has other content, or is gone.

        None while nothing can be known of it: its source's folder is not here, or it came with a bundle.
        """
        ...

    def states(self, places: Collection[tuple[str, str]]) -> dict[tuple[str, str], SourceState | None]:
        """The same of many files at once, each given as its source and its path."""
        ...
