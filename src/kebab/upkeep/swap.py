"""Putting a knowledge base that was built beside the present one in its place, whatever happens on the way.

Its parts (store, indexes, inbox) have fixed names in the data folder, so one rename cannot replace them. The
folder ``.import`` is there while a replacement is under way, and the name of the new parts' folder in it says
how far it is:

``new``  decided: the present parts move, one by one, to ``old``
``go``   the place is clear: the new parts take their names, the store last

Killed at any moment, whoever opens the data folder next goes on from there (``finish``). Where a rename
fails, everything moves back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from kebab.disk.private import make_folder
from kebab.domain.layout import DataLayout
from kebab.errors import StorageError
from kebab.upkeep.remove import remove_all

Rename = Callable[[Path, Path], None]


@dataclass(frozen=True, slots=True)
class Swap:
    """The replacement of some named parts of a folder. The caller keeps other writers out."""

    folder: Path
    parts: Sequence[str]
    """In the order in which the old ones go; the new ones come in the opposite order."""
    rename: Rename = field(default=os.rename)

    @property
    def _state(self) -> Path:
        return self.folder / ".import"

    @property
    def _new(self) -> Path:
        return self._state / "new"

    @property
    def _go(self) -> Path:
        return self._state / "go"

    @property
    def _old(self) -> Path:
        return self._state / "old"

    @property
    def is_pending(self) -> bool:
        """Whether a replacement was begun and is not over."""
        return os.path.lexists(self._state)

    def begin(self, ready: Path) -> None:
        """Replace the parts by those in ``ready``, a folder on the same disk. Raises StorageError.

        A part that is not in ``ready`` is taken away. After an error everything is as it was before.
        """
        self.finish()
        try:
            make_folder(self._old)
            self.rename(ready, self._new)
        except OSError as error:
            self._undo()
            raise self._failed(error) from error
        self.finish()

    def finish(self) -> None:
        """Go on with a replacement that was begun; without one, do nothing. Raises StorageError."""
        if not self.is_pending:
            return
        try:
            if self._new.is_dir():
                self._clear()
            if self._go.is_dir():
                self._install()
        except OSError as error:
            self._undo()
            raise self._failed(error) from error
        remove_all([self._state])

    def _clear(self) -> None:
        # All of the old store goes before any of the new one comes: its journal must not meet the new file.
        for name in self.parts:
            if os.path.lexists(self.folder / name):
                self.rename(self.folder / name, _unused(self._old / name))
        _sync(self.folder)
        self.rename(self._new, self._go)

    def _install(self) -> None:
        for name in reversed(self.parts):
            if os.path.lexists(self._go / name):
                self.rename(self._go / name, self.folder / name)
        _sync(self.folder)

    def _undo(self) -> None:
        """Move everything back; what cannot be moved waits for the next ``finish``."""
        with suppress(OSError):
            if self._go.is_dir():
                for name in self.parts:
                    if os.path.lexists(self.folder / name):
                        self.rename(self.folder / name, self._go / name)
                self.rename(self._go, self._new)
            for name in reversed(self.parts):
                if os.path.lexists(self._old / name):
                    self.rename(self._old / name, self.folder / name)
            remove_all([self._state])

    def _failed(self, error: OSError) -> StorageError:
        left = "an import waits to be finished by the next command" if self.is_pending else "nothing changed"
        return StorageError(
            f"the knowledge base in {self.folder} cannot be replaced: {error.strerror or error}; {left}",
            hint="check permissions, and whether another program has its files open",
        )


def swap_of(layout: DataLayout) -> Swap:
    """The replacement of a whole knowledge base; the execution memory is no part of it."""
    parts = (*layout.database_files, layout.index, layout.inbox)
    return Swap(layout.folder, tuple(part.name for part in parts))


def _unused(path: Path) -> Path:
    """The path, or one like it: a stranger may have made a file of this name since the first attempt."""
    number = 0
    while os.path.lexists(path):
        number += 1
        path = path.with_name(f"{path.name}.{number}")
    return path


def _sync(folder: Path) -> None:
    """Make renames survive a power cut, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
