"""Numbered migrations, all that are due in one transaction with their number: readers meet no half of it."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from kebab.errors import Corrupt

SCHEMA_VERSION = 6

_FOLDER = Path(__file__).with_name("migrations")


def schema_version(connection: sqlite3.Connection) -> int:
    """0 for a file without a schema."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to SCHEMA_VERSION. The connection is in autocommit mode."""
    before = schema_version(connection)
    if before < SCHEMA_VERSION:
        _apply_due(connection)
    if before == 1:
        _shrink(connection)


def _shrink(connection: sqlite3.Connection) -> None:
    """Give back the disk that the first schema needed beyond the second; without room for a copy, do not."""
    connection.execute("PRAGMA temp_store = FILE")
    try:
        connection.execute("VACUUM")
    except sqlite3.OperationalError:
        return
    finally:
        connection.execute("PRAGMA temp_store = MEMORY")


def _conversion(version: int) -> Callable[[sqlite3.Connection], None] | None:
    """What a migration does to rows beyond what SQL can say."""
    if version == 2:
        from kebab.adapters.sqlite.repack import repack

        return repack
    return None


def tables(connection: sqlite3.Connection) -> set[tuple[str, str, str, str | None]]:
    """Every table and index by kind, name and definition; the planner's own statistics left out."""
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%'"
    return set(connection.execute(query))


def own_tables() -> set[tuple[str, str, str, str | None]]:
    """The tables of a store that was just made."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        return tables(connection)


def migration_files() -> list[Path]:
    """In order of their numbers, which begin at 1 and leave no gap."""
    return sorted(_FOLDER.glob("[0-9][0-9][0-9]_*.sql"))


def _apply_due(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again: another process may have been faster while this one waited for the lock.
        for version in range(schema_version(connection) + 1, SCHEMA_VERSION + 1):
            _apply(connection, version)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _apply(connection: sqlite3.Connection, version: int) -> None:
    script = migration_files()[version - 1].read_text(encoding="utf-8")
    for statement in _statements(script):
        connection.execute(statement)
    if convert := _conversion(version):
        _converted(connection, convert)
    connection.execute(f"PRAGMA user_version = {version:d}")


def _converted(connection: sqlite3.Connection, convert: Callable[[sqlite3.Connection], None]) -> None:
    """Raises Corrupt where a row is none that an earlier version wrote."""
    try:
        convert(connection)
    except (ArithmeticError, AttributeError, TypeError, ValueError, zlib.error) as error:
        raise Corrupt(f"what an earlier version stored cannot be read: {error}") from error


def _statements(script: str) -> Iterator[str]:
    # Not executescript: it commits what is open first, and half a migration would stay behind.
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
