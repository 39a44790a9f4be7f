"""The data folder as a whole: whose it is, what may stand in it, and who can read it."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from kebab.disk.private import FILE_MODE, FOLDER_MODE, current_user, make_folder, restrict
from kebab.disk.scratch import leftovers, sweep
from kebab.errors import StorageError

# What kebab makes at the top of the folder; the data folder may be one that holds other things too.
_NAMES = (
    r"kebab\.sqlite(-\w+)?|writer\.(lock|queue|charge)|models(\.json)?|index|memory|inbox|shell|published|"
    r"\.import"
)
_OURS = re.compile(rf"{_NAMES}|\.({_NAMES})\.\w+|\.kebab-.*")
# What a removal or an import that was killed leaves; only the holder of the writer's lock makes these.
_HALF_DONE = re.compile(rf"\.({_NAMES})\.(removed|new)")
# Downloaded models are links to files beside them; they may lead nowhere else.
_LINKED = "models"


@dataclass(frozen=True, slots=True)
class DataFolder:
    """Keeps others out. Entries that kebab does not make are neither looked at nor changed."""

    path: Path
    user: int | None = field(default_factory=current_user)
    _seen: list[Path] = field(default_factory=list, init=False, compare=False, repr=False)
    """The folder above, once this one was there: what it means that it is missing is decided by that."""

    def check(self) -> None:
        """Raises StorageError where the folder is another user's or shared, or holds links. Changes nothing.

        A folder that does not exist passes.
        """
        if not os.path.lexists(self.path):
            return
        self._check_itself()
        for entry in self._entries():
            self._check_entry(entry)
        self._seen[:] = [self.path.parent]

    def prepare(self) -> None:
        """Create the folder where it is missing, check it, and close it and all it holds to other users.

        Raises StorageError where it was here before and the folder above has gone too: a project was moved
        away with its data, or its disk is gone. What is moved back would land inside of a folder made here,
        and what is mounted again on top. A data folder that was deleted alone is made anew.
        """
        if self._seen and not self._seen[0].is_dir():
            raise StorageError(
                f"the folder {self._seen[0]}, which kebab's data were in, does not exist any more",
                hint="nothing is written until it is back",
            )
        try:
            make_folder(self.path)
        except OSError as error:
            raise StorageError(
                f"{self.path} cannot be created: {error.strerror}", hint="check the permissions above it"
            ) from error
        self._check_itself()
        restrict(self.path, FOLDER_MODE)
        for entry in self._entries():
            self._check_entry(entry)
            _tighten(entry)
        self._seen[:] = [self.path.parent]

    def tighten(self) -> None:
        """Close what engines created since ``prepare`` to other users."""
        for entry in self._entries():
            _tighten(entry)

    def leftovers(self) -> list[Path]:
        """What killed processes left here, and the folders of their exports elsewhere."""
        return [*leftovers(self.path), *self._half_done()]

    def sweep(self, *, writing: bool) -> list[Path]:
        """Remove what killed processes left; ``writing`` says that the caller holds the writer's lock."""
        gone = sweep(self.path)
        half_done = self._half_done() if writing else []
        for path in half_done:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):
                    path.unlink(missing_ok=True)
        return [*gone, *(path for path in half_done if not os.path.lexists(path))]

    def _half_done(self) -> list[Path]:
        try:
            names = sorted(os.listdir(self.path))
        except OSError:
            return []
        return [self.path / name for name in names if _HALF_DONE.fullmatch(name)]

    def _check_itself(self) -> None:
        status = self.path.lstat()
        if stat.S_ISLNK(status.st_mode):
            raise StorageError(
                f"the data folder {self.path} is a symbolic link",
                hint=f"set storage.data_dir to the folder itself: {self.path.resolve()}",
            )
        if self.user not in (None, status.st_uid):
            raise StorageError(
                f"the data folder {self.path} belongs to another user (id {status.st_uid})",
                hint="set storage.data_dir to a folder of your own, or run kebab as its owner",
            )
        if status.st_mode & stat.S_ISVTX:
            raise StorageError(
                f"the data folder {self.path} is shared by all users",
                hint="set storage.data_dir to a folder inside it",
            )

    def _entries(self) -> Iterator[os.DirEntry[str]]:
        """All that kebab made, folders before what they hold. Links are not followed."""
        with suppress(FileNotFoundError), os.scandir(self.path) as found:
            for entry in found:
                if _OURS.fullmatch(entry.name):
                    yield from _tree(entry)

    def _check_entry(self, entry: os.DirEntry[str]) -> None:
        if not entry.is_symlink():
            return
        models, link = self.path / _LINKED, Path(entry.path)
        if models in link.parents and link.resolve().is_relative_to(models.resolve()):
            return
        raise StorageError(
            f"{entry.path} is a symbolic link, and kebab follows none inside its data folder",
            hint="remove it; it leads to " + os.readlink(entry.path),
        )


def tighten_tree(folder: Path) -> None:
    """Close a folder and all it holds to other users; nothing happens where there is none."""
    with suppress(FileNotFoundError), os.scandir(folder) as found:
        restrict(folder, FOLDER_MODE)
        for entry in found:
            for each in _tree(entry):
                _tighten(each)


def _tree(entry: os.DirEntry[str]) -> Iterator[os.DirEntry[str]]:
    yield entry
    if entry.is_dir(follow_symlinks=False):
        # An engine may tidy up meanwhile.
        with suppress(FileNotFoundError), os.scandir(entry.path) as inside:
            for each in inside:
                yield from _tree(each)


def _tighten(entry: os.DirEntry[str]) -> None:
    with suppress(FileNotFoundError):
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            wanted = FOLDER_MODE
        elif stat.S_ISREG(status.st_mode):
            wanted = FILE_MODE
        else:
            return
        if stat.S_IMODE(status.st_mode) != wanted:
            restrict(entry.path, wanted)
