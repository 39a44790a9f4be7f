"""The journal: what was recorded, in order, on disk before anyone is told so.

A position is a place in one endless text, of which the files hold the last part; a file is named by the
position where it begins. Each line carries its length and a checksum. A line that is cut short was never
acknowledged and is passed over; one whose checksum is wrong was, and is reported. A note beside the
files says up to where lines were on disk: a file that is cut or lost is noticed, and no position comes twice.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from zlib import crc32

from kebab.adapters.journaled.locks import FileLock
from kebab.disk.private import open_private
from kebab.errors import StorageError

START = 1 << 40
"""Where the first journal begins: records that came from the store before it stand at lower positions."""

_SUFFIX = ".log"
_NOTE = "end"
_HEAD = 18
ROTATE_BYTES = 1 << 20
"""From this size on a file whose lines have all arrived gives way to a new one."""


class Trimmed(Exception):
    """The journal no longer holds what was asked for: it has reached the store and the shelf meanwhile."""


@dataclass(frozen=True, slots=True)
class Line:
    """``position`` is where the line ends; ``payload`` is None where the line is damaged."""

    position: int
    payload: bytes | None


class Journal:
    """Appending waits for others only while they append; reading waits for nobody."""

    def __init__(self, folder: Path, *, rotate_bytes: int = ROTATE_BYTES) -> None:
        self.folder = folder
        self.rotate_bytes = rotate_bytes
        self.lock = FileLock(folder / "lock")
        self._unsynced = threading.local()

    def exists(self) -> bool:
        return bool(self._files())

    def first(self) -> int:
        """Where the oldest part that is still here begins."""
        files = self._files()
        return files[0][0] if files else START

    def end(self) -> int:
        """Where the next line will begin."""
        while True:
            files = self._files()
            if not files:
                return START
            try:
                return files[-1][0] + files[-1][1].stat().st_size
            except FileNotFoundError:  # a new file has just taken its place
                continue

    def missing(self) -> int:
        """How many bytes that were written are gone: at the end, or between two files."""
        noted, files = self._noted(), self._files()
        try:
            gaps = [later - base - path.stat().st_size for (base, path), (later, _) in pairwise(files)]
        except FileNotFoundError:  # another process has just let go of it
            return self.missing()
        return sum(gaps) + max(0, noted - self.end())

    def renew(self) -> int:
        """Begin behind all that was ever written and let go of the rest; returns where."""
        with self.lock.held(), self._translated():
            before = self._files()
            base, _ = self._started(max(self.end(), self._noted()))
            for _, path in before:
                _retired(path)
            self._note(base)
            return base

    def append(self, payloads: Sequence[bytes]) -> list[int]:
        """Write lines that are on disk on return; gives each one's position. All of them, or none.

        Raises StorageError where the disk is full or the folder cannot be written.
        """
        with self.writing(), self._translated():
            return self._append(payloads)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other writers out. What was appended meanwhile is on disk when this ends without an error.

        The lock is free before that: processes wait for the disk together and not one after the other.
        """
        outermost = not hasattr(self._unsynced, "files")
        if outermost:
            self._unsynced.files, self._unsynced.end = [], START
        try:
            with self.lock.held():
                yield
        finally:
            if outermost:
                files, end = self._unsynced.files, self._unsynced.end
                del self._unsynced.files
                with self._translated():
                    _synced(files)
                    if files:
                        self._note(end)

    def read(self, after: int) -> Iterator[Line]:
        """The lines that end behind a position, oldest first. Raises Trimmed."""
        files = self._files()
        if files and after < files[0][0]:
            raise Trimmed
        for place, (base, path) in enumerate(files):
            following = files[place + 1][0] if place + 1 < len(files) else None
            if following is None or following > after:
                yield from _lines(path, base=base, start=max(0, after - base))

    def trim(self, upto: int) -> None:
        """Let go of what is older than a position, whole files at a time. Damaged files are set aside."""
        with self.lock.held():
            files = self._files()
            if files and upto >= self.end() and files[-1][1].stat().st_size >= self.rotate_bytes:
                files.append(self._started(self.end()))
            for (_, path), (following, _) in pairwise(files):
                if following <= upto:
                    _retired(path)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageError(
                f"the journal in {self.folder} cannot be written: {error.strerror}",
                hint="check free space and permissions of the data folder",
            ) from error

    def _files(self) -> list[tuple[int, Path]]:
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        found = [name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)]
        return sorted((int(name), self.folder / f"{name}{_SUFFIX}") for name in found if name.isdigit())

    def _noted(self) -> int:
        """Up to where lines were on disk; 0 where nobody noted it."""
        try:
            return int((self.folder / _NOTE).read_bytes())
        except (FileNotFoundError, ValueError):
            return 0

    def _note(self, end: int) -> None:
        """After the lines: a note that is behind misses a loss, one that is ahead would invent one."""
        if end <= self._noted():
            return
        with suppress(OSError):  # the lines are safe without it
            descriptor = open_private(self.folder / _NOTE, create=True, write=True)
            try:
                os.pwrite(descriptor, b"%020d" % end, 0)
            finally:
                os.close(descriptor)

    def _last(self) -> tuple[int, Path]:
        """The file to append to: a new one where lines that were there are gone from the end."""
        files, noted = self._files(), self._noted()
        return files[-1] if files and self.end() >= noted else self._started(max(noted, START))

    def _started(self, base: int) -> tuple[int, Path]:
        path = self.folder / f"{base:020d}{_SUFFIX}"
        os.close(_opened(path))
        _sync_folder(self.folder)
        return base, path

    def _append(self, payloads: Sequence[bytes]) -> list[int]:
        base, path = self._last()
        descriptor = _opened(path)
        try:
            size = os.fstat(descriptor).st_size
            lines = [_line(payload) for payload in payloads]
            # A writer that was killed left half a line: it ends here, and readers pass it over.
            head = b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""
            _write(descriptor, head + b"".join(lines), size=size)
        except BaseException:
            os.close(descriptor)
            raise
        self._unsynced.files.append(descriptor)
        positions, position = [], base + size + len(head)
        for line in lines:
            position += len(line)
            positions.append(position)
        self._unsynced.end = position
        return positions


def _opened(path: Path) -> int:
    """At its end: only the holder of the lock writes."""
    descriptor = open_private(path, create=True, write=True)
    os.lseek(descriptor, 0, os.SEEK_END)
    return descriptor


def _write(descriptor: int, content: bytes, *, size: int) -> None:
    """Append; on an error the file is as long as it was."""
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _synced(files: Sequence[int]) -> None:
    """Bring to disk what was appended; the last sync of a file counts for all before it."""
    try:
        for descriptor in files:
            os.fsync(descriptor)
    finally:
        for descriptor in files:
            os.close(descriptor)


def _line(payload: bytes) -> bytes:
    return b"%08x %08x " % (len(payload), crc32(payload)) + payload + b"\n"


def _lines(path: Path, *, base: int, start: int) -> Iterator[Line]:
    try:
        with path.open("rb") as file:
            file.seek(start)
            position = base + start
            for line in file:
                position += len(line)
                found = _checked(line) if line.endswith(b"\n") else _unfinished(line)
                if found is not None:
                    yield Line(position, found or None)
    except FileNotFoundError:
        raise Trimmed from None


def _unfinished(line: bytes) -> bytes | None:
    """None for the beginning of a line, as a kill leaves it; empty for what no append began."""
    try:
        int(line[:8], 16)
    except ValueError:
        return b""
    return None


def _checked(line: bytes) -> bytes | None:
    """The payload; empty where it is damaged, None for a line that was never finished."""
    try:
        length, checksum = int(line[:8], 16), int(line[9:17], 16)
    except ValueError:
        return b"" if len(line) > _HEAD + 1 else None
    payload = line[_HEAD:-1]
    if len(payload) < length:
        return None
    return payload if len(payload) == length and crc32(payload) == checksum else b""


def _retired(path: Path) -> None:
    """Remove a file whose lines have all arrived; one with damaged lines stays under another name."""
    if any(line.payload is None for line in _lines(path, base=0, start=0)):
        path.rename(path.with_suffix(".damaged"))
    else:
        path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """So that a new file's name survives a power cut; Windows cannot and need not."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
