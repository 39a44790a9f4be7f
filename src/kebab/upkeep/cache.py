"""The releases of published knowledge bases that lie on this computer, and how much room they may take.

Each address has a folder, and each release in it one of its own. What nobody read lately makes room for what
somebody wants to read now.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kebab.disk import locks
from kebab.disk.private import open_private, replacing
from kebab.disk.scratch import scratch_folder
from kebab.disk.sizes import bytes_of
from kebab.domain.publications import Release
from kebab.errors import StorageError

NOTE = "release.json"
_LOCK = "follow.lock"
_KEPT = 2
"""Releases of one address: the newest, and the one that somebody may still be reading."""
_IN_USE_S = 3600.0
"""An address that somebody asked for news this lately is being read."""


@dataclass(frozen=True, slots=True)
class Held:
    """A release in the cache."""

    release: Release
    folder: Path
    checkpoint: int
    """The position of its store."""
    serial: int = 0
    """Grows with each release that comes here; an address may begin its numbers anew."""

    def is_gone(self) -> bool:
        """Whether it made room for others, which another process may have wanted."""
        return not (self.folder / NOTE).exists()


class _Note(msgspec.Struct, frozen=True):
    """What the file beside a release says of it."""

    release: Release
    checkpoint: int
    uri: str
    serial: int = 0


_note = msgspec.json.Decoder(_Note)


def write_note(held: Held, uri: str) -> None:
    """Say what the folder holds; without it, it holds nothing."""
    note = _Note(held.release, held.checkpoint, uri, held.serial)
    with replacing(held.folder / NOTE) as file:
        file.write(msgspec.json.encode(note))


@dataclass(frozen=True, slots=True)
class ReplicaCache:
    """The releases of one address, in a folder beside those of other addresses."""

    folder: Path
    most_mb: int
    """What all addresses together may take."""

    @property
    def lock(self) -> Path:
        """Held by whoever brings a release here; used whenever somebody looks for a newer one."""
        return self.folder / _LOCK

    def newest(self) -> Held | None:
        """What came last."""
        return max(self._held(), key=_age, default=None)

    def holding(self, release: Release) -> Held | None:
        """This very release: another one of its number may lie here from before the address began anew."""
        found = _read(self._place(release))
        return found if found is not None and found.release == release else None

    def used(self) -> None:
        """Note that somebody reads this address."""
        with suppress(OSError):
            os.utime(self.lock)

    def put(self, made: Held) -> Held:
        """Give a release that is whole its place, and let go of those that nobody needs any more."""
        target = self._place(made.release)
        _let_go(target)
        os.replace(made.folder, target)
        for held in sorted(self._held(), key=_age)[:-_KEPT]:
            _let_go(held.folder)
        return Held(made.release, target, made.checkpoint, made.serial)

    def make_room(self, needed: int, *, what: str) -> None:
        """Remove what was not read lately, as far as it takes to bring a release of this many bytes here.

        ``needed`` counts what is held of this address too. Raises StorageError where it cannot fit.
        """
        most = self.most_mb * 1_000_000
        if needed > most:
            raise StorageError(
                f"{what} needs about {_mb(needed)} here, index.cache_mb allows {self.most_mb:,}",
                hint="raise index.cache_mb, or publish to a cluster: see docs/scale.md",
            )
        for folder in self._idle():
            if needed + self._others() <= most:
                return
            _let_go(folder)
        others = self._others()
        if needed + others > most:
            raise StorageError(
                f"{what} needs about {_mb(needed)} here, and what else is read here takes {_mb(others)} of "
                f"the {self.most_mb:,} MB that index.cache_mb allows",
                hint=f"raise index.cache_mb, or delete what is not needed in {self.folder.parent}",
            )

    def size(self) -> int:
        """Bytes of all addresses together."""
        return bytes_of(self._addresses())

    def _others(self) -> int:
        return bytes_of(place for place in self._addresses() if place != self.folder)

    def _idle(self) -> list[Path]:
        """The folders of other addresses that nobody reads, the longest unread first."""
        limit = time.time() - _IN_USE_S
        others = [(_used_at(place), place) for place in self._addresses() if place != self.folder]
        return [place for at, place in sorted(others) if at < limit and not _is_locked(place / _LOCK)]

    def _addresses(self) -> list[Path]:
        return [place for place in self.folder.parent.glob("index-*") if not place.is_symlink()]

    def _held(self) -> list[Held]:
        found = self.folder.glob("release-*") if self.folder.is_dir() else ()
        return [held for path in found if (held := _read(path)) is not None]

    def _place(self, release: Release) -> Path:
        return self.folder / f"release-{release.number:012d}"


def _age(held: Held) -> tuple[int, int]:
    return held.serial, held.release.number


def _read(folder: Path) -> Held | None:
    """A release that lies whole in a folder; None for anything else."""
    try:
        note = _note.decode((folder / NOTE).read_bytes())
    except (OSError, msgspec.MsgspecError):
        return None
    return Held(note.release, folder, note.checkpoint, note.serial)


def _used_at(place: Path) -> float:
    try:
        return (place / _LOCK).stat().st_mtime
    except OSError:
        return 0.0


def _mb(count: int) -> str:
    return f"{count // 1_000_000:,} MB"


def _is_locked(lock: Path) -> bool:
    """Whether a process brings a release here, which may take hours."""
    try:
        descriptor = open_private(lock, write=True)
    except OSError:
        return False
    try:
        return not locks.try_lock(descriptor)
    except OSError:
        return True
    finally:
        locks.close(descriptor)


def _let_go(folder: Path) -> None:
    """Remove it; it is out of sight at once: whoever still reads it finds nothing there, and not a part.

    Where that is impossible, as of open files on Windows, it stays.
    """
    with suppress(OSError), scratch_folder(folder.parent, "gone") as scratch:
        os.replace(folder, scratch / folder.name)
