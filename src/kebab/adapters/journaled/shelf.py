"""The shelf: everything the memory holds, in one SQLite file that any number of processes read at once.

It is derived from the store and the journal. A reader opens it read-only and adds, in its own memory, what
the journal holds beyond it; so a record is found as soon as it is acknowledged, and reading writes nothing.
"""

from __future__ import annotations

import sqlite3
import threading
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from kebab.adapters.journaled import tables
from kebab.adapters.journaled.journal import Journal, Trimmed
from kebab.adapters.journaled.locks import FileLock, renew_in_child
from kebab.adapters.journaled.ops import Op, decoded
from kebab.adapters.sqlite.pool import ClosingConnection
from kebab.disk.private import ensure_file, make_folder
from kebab.errors import Corrupt, EngineUnavailable, StorageError
from kebab.ports import Analyzer

BATCH = 2000
_TRIES = 50


class Lacking(EngineUnavailable):
    """The journal begins behind the end of the shelf: what was between is lost."""


class Source(Protocol):
    """The store behind the journal, from which a lost shelf is made again."""

    def exists(self) -> bool: ...

    def lines(self) -> tuple[Iterable[tuple[Op, int]], int]:
        """What it holds, as lines with their places, and up to where the journal is in it."""
        ...


class Shelf:
    """The file, its one writer at a time, and the connection by which this process reads it."""

    def __init__(
        self, folder: Path, *, journal: Journal, analyzer: Analyzer, source: Source, readonly: bool = False
    ) -> None:
        self.folder = folder
        self.file = folder / "shelf.sqlite"
        self.journal = journal
        self.analyzer = analyzer
        self.lock = FileLock(folder / "shelf.lock")
        self.source = source
        self._readonly = readonly
        self._reader = _Reader(self)
        self._guard = threading.RLock()
        self.drain_lock = FileLock(folder / "drain.lock")
        renew_in_child(self)

    @property
    def version(self) -> str:
        return f"{tables.LAYOUT}:{self.analyzer.version}"

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that shows all that is acknowledged, for this thread alone while it is held."""
        with self._guard, translated():
            yield self._reader.refreshed()

    @contextmanager
    def reading_what_is_there(self) -> Iterator[sqlite3.Connection]:
        """The same; where the journal has lost what came after the shelf, the shelf alone."""
        try:
            with self.reading() as db:
                yield db
        except Lacking:
            with translated(), _opened(self.file, readonly=True) as db:
                yield db

    @property
    def stamp(self) -> object:
        """What this process sees; another one as soon as that changes."""
        return self._reader.stamp

    def catch_up(self, *, wait: bool = False) -> bool:
        """Take in what the journal holds beyond the shelf; False where another process is just doing that."""
        with self.lock.held_if_free(wait=wait) as free:
            if not free or not self.journal.exists():
                return free
            with translated():
                if not self._current():
                    self._build()
                while self._advance():
                    pass
            return True

    def rebuild(self) -> None:
        """Make the shelf anew from store and journal. Waits for who holds them."""
        with self.lock.held(), translated():
            self._build()

    def position(self) -> int:
        """Up to where the journal is in the shelf file; 0 where there is none."""
        if not self.file.exists():
            return 0
        with translated(), _opened(self.file, readonly=True) as db:
            return int(note(db, "position") or 0)

    def drained(self) -> int | None:
        """Up to where the journal is in the store behind, as far as the shelf knows."""
        try:
            with _opened(self.file, readonly=True) as db:
                found = note(db, "drained")
        except sqlite3.DatabaseError:  # there is none, or it is damaged
            return None
        return int(found) if found else None

    def close(self) -> None:
        with self._guard:
            self._reader.close()

    def ensure(self) -> None:
        """Build the shelf where there is none that this version can read."""
        with self.lock.held(), translated():
            if not self._current():
                self._build()

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """A transaction on the file itself; the caller holds ``lock``."""
        with translated(), _opened(self.file) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    def _current(self) -> bool:
        """Whether there is a file of this version; opening it also undoes what a killed writer left."""
        if not self.file.exists():
            return False
        try:
            with _opened(self.file) as db:
                return note(db, "version") == self.version
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise
            return False

    def _advance(self) -> bool:
        """Take one batch in; whether there may be more."""
        with self.changing() as db:
            position = int(note(db, "position") or 0)
            written, count = tables.Tables(db, self.analyzer), 0
            damaged = int(note(db, "damaged") or 0)
            for line in self.journal.read(max(position, self.journal.first())):
                if line.payload is None:
                    damaged += 1
                else:
                    written.apply(decoded(line.payload), line.position)
                position, count = line.position, count + 1
                if count == BATCH:
                    break
            if count:
                put_notes(db, position=position, damaged=damaged)
            return count == BATCH

    def _build(self) -> None:
        """Beside the old file, then in its place: readers never meet half of one."""
        if self._readonly:
            raise EngineUnavailable(
                f"the memory's shelf {self.file} must be built, and kebab runs read-only",
                hint="run one command without --readonly",
            )
        make_folder(self.folder)
        draft = self.file.with_name("shelf.sqlite.new")
        for leftover in self.folder.glob("shelf.sqlite.new*"):
            leftover.unlink()
        lines, position = self.source.lines()
        with _opened(draft) as db:
            db.execute("PRAGMA synchronous = OFF")
            tables.create(db)
            db.execute("BEGIN")
            written = tables.Tables(db, self.analyzer)
            for op, seq in lines:
                written.apply(op, seq)
            put_notes(db, drained=position)
            position = max(position, self.journal.first())
            put_notes(db, position=position, version=self.version, identity=uuid.uuid4().hex, damaged=0)
            db.execute("COMMIT")
            db.execute("PRAGMA synchronous = FULL")
            put_notes(db, built=1)
        with suppress(FileNotFoundError):
            self.file.with_name("shelf.sqlite-journal").unlink()
        draft.replace(self.file)

    def after_fork(self) -> None:
        """A child must not use the parent's connection, nor close it."""
        self._guard = threading.RLock()
        _inherited.append(self._reader)
        self._reader = _Reader(self)


_inherited: list[_Reader] = []


class _Reader:
    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.close_without_closing()

    def close_without_closing(self) -> None:
        self._db: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._position = self._end = -1
        self._overlay = False

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
        self.close_without_closing()

    @property
    def stamp(self) -> object:
        return self._file, self._position, self._end

    def refreshed(self) -> sqlite3.Connection:
        for attempt in range(_TRIES):
            try:
                return self._refreshed()
            except Trimmed:
                continue  # the shelf has taken in meanwhile what the journal let go of
            except sqlite3.DatabaseError as error:
                self.close()
                if attempt > 2 or not self._mended(error):
                    raise
        raise Lacking(
            f"the shelf {self._shelf.file} lacks what the journal no longer holds",
            hint="build it again with: kebab doctor --repair",
        )

    def _mended(self, error: sqlite3.DatabaseError) -> bool:
        """Undo what a killed writer left half done; build a damaged file again."""
        if "ROLLBACK" in error.sqlite_errorname:
            self._shelf.ensure()
            return True
        if isinstance(error, sqlite3.OperationalError):
            return False
        self._shelf.rebuild()
        return True

    def _refreshed(self) -> sqlite3.Connection:
        db = self._opened()
        position = int(note(db, "position") or self._shelf.journal.first())
        if position != self._position:
            if self._overlay:
                tables.drop_overlay(db)
            self._position = self._end = position
            self._overlay = False
        if self._shelf.journal.end() > self._end:
            self._take_in(db)
        return db

    def _take_in(self, db: sqlite3.Connection) -> None:
        if not self._overlay:
            tables.create_overlay(db)
            self._overlay = True
        written = tables.Tables(db, self._shelf.analyzer, overlay=True)
        for line in self._shelf.journal.read(self._end):
            if line.payload is not None:
                written.apply(decoded(line.payload), line.position)
            self._end = line.position

    def _opened(self) -> sqlite3.Connection:
        file = _identity(self._shelf.file)
        if self._db is not None and file == self._file:
            return self._db
        self.close()
        if file is None and not self._shelf.source.exists():
            self._db = _empty()
            return self._db
        if file is None:
            self._shelf.ensure()
        db = _connected(self._shelf.file, readonly=True)
        if note(db, "version") != self._shelf.version:
            db.close()
            self._shelf.ensure()
            db = _connected(self._shelf.file, readonly=True)
        self._db, self._file = db, _identity(self._shelf.file)
        return db


def note(db: sqlite3.Connection, name: str) -> str | None:
    """A fact about the shelf, such as its position."""
    row = db.execute("SELECT value FROM main.meta WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def put_notes(db: sqlite3.Connection, **notes: object) -> None:
    rows = [(name, str(value)) for name, value in notes.items()]
    db.executemany("INSERT OR REPLACE INTO main.meta VALUES (?, ?)", rows)


@contextmanager
def translated() -> Iterator[None]:
    """Run something of SQLite; its exceptions come out as ours."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname in ("SQLITE_FULL", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM"):
            raise StorageError(f"the memory's shelf cannot be written: {error}") from error
        raise EngineUnavailable(f"the memory's shelf cannot be used: {error}") from error
    except sqlite3.DatabaseError as error:
        raise Corrupt(
            f"the memory's shelf is damaged: {error}", hint="build it again with: kebab doctor --repair"
        ) from error


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _connected(file: Path, *, readonly: bool = False) -> sqlite3.Connection:
    if not readonly:
        ensure_file(file)
    db = sqlite3.connect(
        f"{file.absolute().as_uri()}?mode={'ro' if readonly else 'rw'}",
        uri=True,
        timeout=30.0,
        isolation_level=None,
        check_same_thread=False,
        factory=ClosingConnection,
    )
    db.execute("PRAGMA temp_store = MEMORY")
    if not readonly:
        db.execute("PRAGMA synchronous = NORMAL")
    return db


@contextmanager
def _opened(file: Path, *, readonly: bool = False) -> Iterator[sqlite3.Connection]:
    db = _connected(file, readonly=readonly)
    try:
        yield db
    finally:
        db.close()


def _empty() -> sqlite3.Connection:
    """A shelf with nothing on it, where nothing was ever recorded; no file is made."""
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=ClosingConnection)
    db.execute("PRAGMA temp_store = MEMORY")
    tables.create(db)
    return db
