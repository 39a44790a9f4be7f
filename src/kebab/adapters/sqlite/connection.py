"""One SQLite file: how it is opened, read and written, and what its failures are called here."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISLNK

from kebab.adapters.sqlite.migrations import SCHEMA_VERSION, migrate, own_tables, schema_version, tables
from kebab.adapters.sqlite.pool import ClosingConnection, Pool
from kebab.disk.private import ensure_file, make_folder
from kebab.domain.progress import Progress, silent
from kebab.errors import (
    Corrupt,
    EngineUnavailable,
    InvalidInput,
    KebabError,
    Locked,
    NotIndexed,
    ReadOnly,
    StorageError,
)

BUSY_TIMEOUT_S = 10.0
REPLACED_WITHIN_S = 5.0
"""How long a reader waits for a store that is being put in the place of another: that takes a few renames."""
READING_KB = 4_096
WRITING_KB = 12_288
"""Page cache of one connection; readers have several."""
LOG_PAGES = 8_000
"""How many pages the log may hold before they go into the file: one that changed several times by then is
written there once."""
PAGE_BYTES = 16_384
"""Of a new file. A chunk's row and a vector fill most of a page of 4,096 bytes, and of 8,192 a seventh stays
empty behind six vectors: the file is a seventh, and then a twenty-fifth, smaller with the next size."""
_SETTLE_MS = 200

_PERMISSIONS = "check the permissions of the data folder"

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DISK = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
}


FileKey = tuple[int, int]
"""Device and inode: which file a name stands for, as long as somebody has it open."""


class Database:
    """The knowledge base's SQLite file, over a few connections that threads share.

    Opening for reading never creates a file: a missing one raises NotIndexed. Opening for writing creates
    and migrates. A schema newer than this code raises EngineUnavailable, a damaged file Corrupt.

    A file that another process removed or replaced is noticed at the next use: what stands there now is
    opened, under the same rules.
    """

    def __init__(
        self,
        path: Path,
        *,
        readonly: bool = False,
        any_schema: bool = False,
        is_replaced: Callable[[], bool] = lambda: False,
    ) -> None:
        """``any_schema`` also lets a reader open a file whose schema is older than this code.

        ``is_replaced`` says whether somebody is putting another file in its place: a reader waits for it.
        """
        self.path = path
        self.readonly = readonly
        self._any_schema = any_schema
        self._is_replaced = is_replaced
        self._lock = threading.Lock()
        self._pool: Pool | None = None
        self._file: FileKey | None = None
        """The file that the pool has open."""
        try:
            with self.read():
                pass
        except BaseException:
            # Nobody has this object, but the error may hold it for long, and with it a file that is removed.
            self.close()
            raise

    @property
    def identity(self) -> str:
        """Tells the file that is open from any other that stood or will stand at its path."""
        return _named(self._file)

    def require(self, identity: str) -> None:
        """Raises StorageError where another file stands there now: what was read of this one is void."""
        if _named(_key(self.path)) != identity:
            raise StorageError(
                f"the knowledge base at {self.path} was reset or replaced meanwhile",
                hint="run the command again",
            )

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection for queries; inside another use of this thread the same one.

        A reader sees the file as of one moment, however many queries it makes: others may write between two
        of them. Who writes may write inside, and where others could, takes a ``snapshot``.
        """
        with self._lent() as connection:
            inside_another = connection.in_transaction
            if inside_another or not self.readonly:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def _lent(self) -> Iterator[sqlite3.Connection]:
        with translated(self.path), self._current().lent() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Like ``read``, and all queries inside see one state, whatever others commit meanwhile."""
        with self.read() as connection:
            inside_another = connection.in_transaction
            if inside_another:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                # A damaged file may have ended the transaction already.
                if connection.in_transaction:
                    connection.execute("COMMIT")

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction: committed on leaving, rolled back on any error.

        Inside another ``write`` of the same thread it is a part of that transaction; an error inside must
        then reach the outer one, which undoes it all.
        """
        if self.readonly:
            raise ReadOnly(f"{self.path} is open for reading only", hint="run without --readonly")
        with self._lent() as connection:
            inside_another = connection.in_transaction
            if inside_another:
                yield connection
                return
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # A full disk may have ended the transaction already.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def faults(self) -> list[str]:
        """What SQLite itself finds wrong with the file, in words; empty when it is sound.

        Indexes are compared with their tables: a flipped bit in one hides a row from every look-up.
        """
        try:
            with self.read() as connection:
                found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)")]
                orphans = connection.execute("PRAGMA foreign_key_check").fetchmany(20)
        except Corrupt as error:
            return [error.message]
        found.extend(f"row {row[1]} of {row[0]} refers to a missing {row[2]}" for row in orphans)
        return [fault for fault in found if fault != "ok"]

    def reindex(self) -> None:
        """Make the indexes of the file anew from its tables. Raises Corrupt where those are damaged too."""
        with self.write() as connection:
            connection.execute("REINDEX")

    def settle(self) -> None:
        """Bring what was written into the file itself: a damaged log would lose it.

        A reader may keep some of it out; the next call tries again.
        """
        with self._lent() as connection:
            connection.execute(f"PRAGMA busy_timeout = {_SETTLE_MS}")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT_S * 1000)}")

    def schema_version(self) -> int:
        with self.read() as connection:
            return schema_version(connection)

    def back_up(self, target: Path, progress: Progress = silent) -> None:
        """Write a whole, compact copy into a new file, as of one moment, while others may write."""
        from kebab.adapters.sqlite.copying import copy_into

        with self._lent() as connection:
            copy_into(connection, target, progress)

    def require_sound(self) -> None:
        """Raises Corrupt where the file is damaged, or holds what kebab never makes.

        Triggers and views of a file from elsewhere would run inside kebab's own statements.
        """
        with self.read() as connection:
            found = {(kind, name) for kind, name, *_ in tables(connection) - own_tables()}
        strangers = [
            f"it holds a {kind} called {name!r}"
            for kind, name in sorted(found)
            if kind in ("trigger", "view")
        ]
        if faults := self.faults() or strangers:
            raise Corrupt(f"{self.path} is no sound knowledge base: {faults[0]}")

    def require_whole(self, progress: Progress = silent) -> None:
        """Raises Corrupt where any row holds what kebab would not write; see ``audit``."""
        from kebab.adapters.sqlite.audit import audit

        self.require_sound()
        with self.read() as connection:
            for fault in audit(connection, progress):
                raise Corrupt(f"{self.path.name} is no sound knowledge base: {fault}")

    def close(self) -> None:
        """Close the connections, those in use when they come back. The next use opens new ones."""
        with self._lock:
            pool, self._pool, self._file = self._pool, None, None
        if pool is not None:
            pool.close()

    def _current(self) -> Pool:
        """Connections to the file that stands at the path now; a thread inside a use keeps those it has."""
        pool = self._pool
        if pool is not None and (pool.held or self._file == _key(self.path)):
            return pool
        key = self._awaited()
        if key is None and not self.readonly:
            _create(self.path)
            key = _key(self.path)
        if key is None:
            raise _not_indexed(self.path)
        with self._lock:
            if self._pool is None or self._file != key:
                replaced, self._pool, self._file = self._pool, Pool(self._opened), key
                if replaced is not None:
                    replaced.close()
            return self._pool

    def _awaited(self) -> FileKey | None:
        """Which file stands at the path, if need be a moment later; None where there is none."""
        deadline = time.monotonic() + REPLACED_WITHIN_S
        while (key := _key(self.path)) is None and self._is_replaced() and time.monotonic() < deadline:
            time.sleep(0.01)
        return key

    def _opened(self) -> ClosingConnection:
        """A new connection, to a file whose schema is known to be right."""
        connection = self._connect()
        try:
            self._tune(connection)
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self) -> ClosingConnection:
        mode = _read_mode(self.path) if self.readonly else "mode=rwc"
        return sqlite3.connect(
            f"{self.path.absolute().as_uri()}?{mode}",
            uri=True,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,  # lent to one thread after another
            factory=ClosingConnection,
            cached_statements=256,
        )

    def _tune(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA temp_store = MEMORY")
        # Ids are hashes: every search and every document touches random pages of the indexes, which should
        # stay in memory and be written back in larger lots.
        connection.execute(f"PRAGMA cache_size = -{READING_KB if self.readonly else WRITING_KB}")
        if not self.readonly:
            connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = schema_version(connection)
        if version > SCHEMA_VERSION:
            raise EngineUnavailable(
                f"{self.path} has schema {version}; this kebab knows schemas up to {SCHEMA_VERSION}",
                hint="it was written by a newer kebab: upgrade this one",
            )
        if not self.readonly:
            # Only a new file takes it.
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection)
        elif version == 0:
            raise _not_indexed(self.path)
        elif version < SCHEMA_VERSION and not self._any_schema:
            raise EngineUnavailable(
                f"{self.path} has schema {version}; this kebab needs {SCHEMA_VERSION}",
                hint="run `kebab index` once without --readonly to migrate it",
            )


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn every failure of SQLite into one of the error tree, naming the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translation(error, path) from error
    except UnicodeDecodeError as error:
        # A text of a row, or SQLite's own message that quotes a damaged schema.
        raise _damaged(path, "it holds text that is no UTF-8") from error
    except UnicodeEncodeError as error:
        raise InvalidInput(f"text with a lone surrogate cannot be stored: {error.object[:40]!a}") from error
    except OverflowError as error:
        raise InvalidInput("a number of more than 64 bits cannot be stored") from error


def _translation(error: sqlite3.Error, path: Path) -> KebabError:
    code = getattr(error, "sqlite_errorcode", None)
    kind = code & 0xFF if isinstance(code, int) else None
    # The module itself measures what it binds, and gives this error no code.
    if kind == sqlite3.SQLITE_TOOBIG or isinstance(error, sqlite3.DataError):
        return InvalidInput(f"{error}: a text or a row of this size cannot be stored")
    if kind in _DAMAGED:
        return _damaged(path, str(error))
    if kind in _BUSY:
        return Locked(f"{path} is busy: {error}", hint="another process writes; try again when it is done")
    if kind in _DISK:
        return StorageError(f"{path}: {error}", hint="check free space and permissions of the data folder")
    return EngineUnavailable(f"{path}: {error}", hint="run `kebab doctor`")


def _damaged(path: Path, how: str) -> Corrupt:
    return Corrupt(
        f"{path} is damaged: {how}",
        hint="restore it from a backup, or move it away and run `kebab ingest` to build it again",
    )


def _named(key: FileKey | None) -> str:
    return "-".join(map(str, key or ()))


def _not_indexed(path: Path) -> NotIndexed:
    return NotIndexed(f"there is no knowledge base at {path}", hint="run `kebab ingest` first")


def _key(path: Path) -> FileKey | None:
    """Which file stands at this path; None where there is none. A link is refused."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageError(f"{path} cannot be opened: {error.strerror}", hint=_PERMISSIONS) from error
    if S_ISLNK(status.st_mode):
        raise StorageError(f"{path} is a symbolic link", hint="kebab opens its own files only: remove it")
    return status.st_dev, status.st_ino


def _create(path: Path) -> None:
    """Make the folder and an empty file that only their owner can read, unless they are there."""
    try:
        make_folder(path.parent)
        ensure_file(path)
    except OSError as error:
        raise StorageError(f"cannot create {path}: {error.strerror}", hint=_PERMISSIONS) from error


def _read_mode(path: Path) -> str:
    # A reader of a WAL file creates the -shm file. Where the folder forbids that and no writer left a -wal
    # behind, the file cannot change under us and may be opened as immutable.
    frozen = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
    return "mode=ro&immutable=1" if frozen else "mode=ro"
