"""Walking a source: which files are there, and why others are left out.

There is no allow-list. Whatever is not taken is reported with a reason, so that nobody has to guess.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kebab.domain.documents import TrustLevel
from kebab.domain.ids import nfc
from kebab.domain.ingests import IngestItem, Outcome, storable_time
from kebab.errors import StorageError
from kebab.ingest import checkout
from kebab.ingest.ignore import IGNORE_FILES, IgnoreRules
from kebab.ingest.parse.formats import ANY, FORMATS, extension
from kebab.ingest.parse.unknown import why_not
from kebab.ingest.parse.unwritten import locked


@dataclass(frozen=True, slots=True)
class SourceFolder:
    """A folder of files and what its settings say of every document in it."""

    id: str
    root: Path
    exclude: tuple[str, ...] = ()
    trust_level: TrustLevel = TrustLevel.PRIMARY
    source_type: str = "note"


_FEW = 32
"""Named paths that are compared with a path one by one."""


@dataclass(frozen=True, slots=True)
class ScannedFile:
    path: str
    """POSIX, NFC, relative to the root."""
    absolute: str
    """As the system spells it."""
    size: int
    mtime_ns: int
    repo: str | None = None
    """The repository that it lies in a checkout of."""


@dataclass(frozen=True, slots=True)
class Scan:
    """The files to read, by path, and what was left out; the path of a folder ends with a slash."""

    files: list[ScannedFile]
    skipped: list[IngestItem]


def scan(
    source: SourceFolder,
    *,
    max_file_bytes: int,
    follow_symlinks: bool = False,
    under: Collection[str] = (),
    own: Path | None = None,
    formats: Container[str] = FORMATS,
    unread: Mapping[str, str] = {},
) -> Scan:
    """Walk a source, or only the files and folders at ``under``; kebab's data folder ``own`` is never walked.

    Only the folders on the way to a path are listed, each once, however many paths there are.

    ``unread`` has the extensions that kebab knows and is not to read, each with the reason.
    Raises StorageError when the root is missing or cannot be read; a folder further down that cannot be
    read is reported as failed.
    """
    if source.root.is_file():
        raise StorageError(
            f"{source.root}, the root of source {source.id!r}, is a file and not a folder",
            hint="name its folder as the root; `kebab ingest FILE` reads a single file",
        )
    if not source.root.is_dir():
        raise StorageError(
            f"the folder {source.root} of source {source.id!r} does not exist",
            hint="is a disk not mounted? Nothing of this source was removed",
        )
    only = Only.of(under)
    walk = _Walk(source, max_file_bytes, follow_symlinks, only, str(own) if own else None, formats, unread)
    walk.run()
    walk.files.sort(key=lambda file: file.path)
    walk.skipped.sort(key=lambda item: item.path)
    return Scan(walk.files, walk.skipped)


@dataclass(frozen=True, slots=True)
class Only:
    """A choice of paths: those named, what is below them, and the folders on the way to them."""

    named: frozenset[str]
    above: frozenset[str]
    folders: tuple[str, ...]
    """What paths below a few named ones begin with; empty for many, which are looked up folder by folder."""

    @classmethod
    def of(cls, paths: Collection[str]) -> Only | None:
        """None for no paths, which stands for everything."""
        named = frozenset(path.strip("/") for path in paths)
        if not named or "" in named:
            return None
        few = tuple(f"{path}/" for path in named) if len(named) <= _FEW else ()
        return cls(named, frozenset(folder for path in named for folder in above(path)), few)

    def holds(self, path: str) -> bool:
        """Whether a path, or a folder above it, is named."""
        path = path.rstrip("/")
        if path in self.named or self.folders:
            # A saved note is compared with every path that is known: once for each, not letter by letter.
            return path in self.named or path.startswith(self.folders)
        return any(folder in self.named for folder in above(path))

    def leads_to(self, path: str) -> bool:
        """Whether a path is named, or on the way to one that is."""
        return path in self.named or path in self.above


def above(path: str) -> Iterator[str]:
    """The folders above a path, the nearest last."""
    return (path[:end] for end, sign in enumerate(path) if sign == "/")


@dataclass(slots=True)
class _Walk:
    source: SourceFolder
    max_file_bytes: int
    follow_symlinks: bool
    only: Only | None
    """The paths to look at; None for all."""
    own: str | None = None
    formats: Container[str] = FORMATS
    """The extensions that can be read."""
    unread: Mapping[str, str] = field(default_factory=dict)
    files: list[ScannedFile] = field(default_factory=list)
    skipped: list[IngestItem] = field(default_factory=list)
    _paths: set[str] = field(default_factory=set)
    _folders: set[tuple[int, int]] = field(default_factory=set)
    _links: list[tuple[str, str, IgnoreRules, str | None]] = field(default_factory=list)
    """Links to folders, walked last, so that a folder is known by its own path and not by a link to it."""

    def run(self) -> None:
        rules = IgnoreRules.from_patterns(self.source.exclude)
        self._walk(str(self.source.root), "", rules, checkout.enclosing(self.source.root))
        while self._links:
            self._walk(*self._links.pop(0))

    def _walk(self, folder: str, relative: str, rules: IgnoreRules, repo: str | None) -> None:
        """Depth first, with a stack of its own: folders may be nested deeper than Python recurses."""
        pending = [(folder, relative, rules, repo)]
        while pending:
            folder, relative, rules, repo = pending.pop()
            entries = self._entries(folder, relative)
            present = [entry.name for entry in entries if entry.name in IGNORE_FILES]
            if present:
                rules = rules.entering(Path(folder), relative, present)
            if relative and any(entry.name == checkout.MARK for entry in entries):
                repo = checkout.repository(Path(folder))
            pending.extend(
                (entry.path, below, rules, repo)
                for entry in self._wanted(entries, relative)
                if (below := self._visit(entry, relative, rules, repo)) is not None
            )

    def _entries(self, folder: str, relative: str) -> list[os.DirEntry[str]]:
        try:
            if self.follow_symlinks and not self._is_new(folder):
                self._skip(relative, "links back to a folder that was read already")
                return []
            with os.scandir(folder) as found:
                return sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            if not relative:
                raise StorageError(f"the folder {folder} cannot be read: {error.strerror}") from error
            self._fail(relative, f"cannot be read: {error.strerror}")
            return []

    def _is_new(self, folder: str) -> bool:
        stat = os.stat(folder)
        key = (stat.st_dev, stat.st_ino)
        fresh = key not in self._folders
        self._folders.add(key)
        return fresh

    def _wanted(self, entries: list[os.DirEntry[str]], relative: str) -> Iterator[os.DirEntry[str]]:
        only = self.only
        if only is None or only.holds(relative):
            return iter(entries)
        return (entry for entry in entries if only.leads_to(relative + nfc(entry.name)))

    def _visit(
        self, entry: os.DirEntry[str], relative: str, rules: IgnoreRules, repo: str | None
    ) -> str | None:
        """Take or report an entry; returns the path of a folder that is to be walked now."""
        name = entry.name
        if name in IGNORE_FILES:
            return None
        if not name.isascii():
            name = nfc(name)
            if not _is_unicode(name):
                shown = os.fsencode(entry.name).decode("utf-8", "backslashreplace")
                self._fail(relative + shown, "the file name is not valid Unicode")
                return None
        path = relative + name
        try:
            return self._sorted_out(entry, path, rules, repo)
        except OSError as error:
            if error.errno == errno.ELOOP:
                self._skip(path, "symbolic link to itself")
            else:
                self._fail(path, f"cannot be read: {error.strerror}")
            return None

    def _sorted_out(
        self, entry: os.DirEntry[str], path: str, rules: IgnoreRules, repo: str | None
    ) -> str | None:
        link = entry.is_symlink()
        is_folder = entry.is_dir(follow_symlinks=self.follow_symlinks)
        if is_folder:
            path += "/"
        if entry.path == self.own:
            self._skip(path, "kebab's own data")
        elif reason := rules.reason(path):
            self._skip(path, reason)
        elif link and not self.follow_symlinks:
            self._skip(path, "symbolic link")
        elif is_folder and link:
            self._links.append((entry.path, path, rules, repo))
        elif is_folder:
            return path
        elif not entry.is_file(follow_symlinks=self.follow_symlinks):
            self._skip(path, "broken symbolic link" if link else "not a regular file")
        else:
            self._take(entry, path, repo)
        return None

    def _take(self, entry: os.DirEntry[str], path: str, repo: str | None) -> None:
        ending = extension(path)
        stat = entry.stat(follow_symlinks=self.follow_symlinks)
        if reason := locked(entry.name) or self._why_not(entry.path, ending, stat.st_size):
            self._skip(path, reason)
            return
        if stat.st_size > self.max_file_bytes:
            self._skip(path, too_large(self.max_file_bytes), size=stat.st_size)
        elif path in self._paths:
            self._skip(path, "spelled like another file after Unicode normalisation", size=stat.st_size)
        else:
            self._paths.add(path)
            self.files.append(
                ScannedFile(path, entry.path, stat.st_size, storable_time(stat.st_mtime_ns), repo)
            )

    def _why_not(self, file: str, ending: str, size: int) -> str | None:
        if ending in self.unread:
            return self.unread[ending]
        if ending in self.formats:
            return None
        if ANY in self.formats:
            return why_not(file, ending, size)
        return f"unsupported format {ending}" if ending else "no file extension"

    def _skip(self, path: str, reason: str, *, size: int = 0) -> None:
        self.skipped.append(IngestItem(self.source.id, path, Outcome.SKIPPED, reason, byte_len=size))

    def _fail(self, path: str, reason: str) -> None:
        self.skipped.append(IngestItem(self.source.id, path, Outcome.FAILED, reason))


def too_large(max_file_bytes: int) -> str:
    """Why a file above the limit is skipped."""
    return f"larger than {max_file_bytes / (1 << 20):g} MB"


def _is_unicode(name: str) -> bool:
    """False for a name whose bytes are not UTF-8: it could neither be stored nor shown."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
