"""Migrations: numbered .surql files, each applied once in one transaction, and the check against drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib.resources import files
from importlib.resources.abc import Traversable

from kebab.adapters.surreal.connection import StatementFailed, SurrealConnection
from kebab.domain.executions import Execution, TaskRecord
from kebab.domain.ids import digest
from kebab.errors import Corrupt, EngineUnavailable

INTERNAL_FIELDS = frozenset({"seq", "task_terms", "labels", "more_text"})
"""Declared columns that are not part of the type."""

TABLES: dict[str, type] = {"kg_executions": Execution, "rlm_executions": TaskRecord}


@dataclass(frozen=True, slots=True)
class Migration:
    name: str
    statements: str

    @property
    def checksum(self) -> str:
        return digest("migration", self.statements)


def shipped() -> list[Migration]:
    """The migrations of this version, in order."""
    folder = files("kebab.adapters.surreal") / "migrations"
    found: Sequence[Traversable] = [entry for entry in folder.iterdir() if entry.name.endswith(".surql")]
    return [
        Migration(entry.name.removesuffix(".surql"), entry.read_text(encoding="utf-8"))
        for entry in sorted(found, key=lambda entry: entry.name)
    ]


def migrate(connection: SurrealConnection, migrations: Sequence[Migration] | None = None) -> list[str]:
    """Apply what is missing and return the names; then compare the schema with the types.

    Safe to interrupt: a migration and the note that it was applied are one transaction.
    """
    migrations = shipped() if migrations is None else migrations
    applied = _applied(connection)
    _check_history(applied, migrations)
    done = [m.name for m in migrations if m.name not in applied and _apply(connection, m)]
    check_drift(connection)
    return done


def check_drift(connection: SurrealConnection) -> None:
    """Raise Corrupt, naming the field, where a table does not declare exactly the fields of its type."""
    for table, record in TABLES.items():
        info = connection.query(f"INFO FOR TABLE {table}")[0]
        declared = {name for name in info["fields"] if "." not in name and "[" not in name}
        expected = {field.name for field in fields(record)} - {"id"} | INTERNAL_FIELDS
        _raise_for(table, missing=expected - declared, unknown=declared - expected)


def _raise_for(table: str, *, missing: set[str], unknown: set[str]) -> None:
    if missing or unknown:
        lacks = f"lacks {', '.join(sorted(missing))}" if missing else ""
        extra = f"has {', '.join(sorted(unknown))}, which kebab does not know" if unknown else ""
        raise Corrupt(
            f"the memory's table {table} {' and '.join(filter(None, (lacks, extra)))}",
            hint="type and schema must have the same fields; a migration is missing or was edited",
        )


def _applied(connection: SurrealConnection) -> dict[str, str]:
    connection.query(
        "DEFINE TABLE IF NOT EXISTS kg_migrations TYPE NORMAL SCHEMAFULL;"
        "DEFINE FIELD IF NOT EXISTS checksum ON kg_migrations TYPE string;"
        "DEFINE FIELD IF NOT EXISTS applied_at ON kg_migrations TYPE datetime DEFAULT time::now();"
    )
    rows = connection.query("SELECT record::id(id) AS name, checksum FROM kg_migrations")[0]
    return {row["name"]: row["checksum"] for row in rows}


def _check_history(applied: dict[str, str], migrations: Sequence[Migration]) -> None:
    known = {migration.name: migration.checksum for migration in migrations}
    if newer := sorted(set(applied) - set(known)):
        raise EngineUnavailable(
            f"the execution memory was written by a newer kebab (it has {newer[-1]})",
            hint="update kebab on this machine",
        )
    if edited := [name for name, checksum in applied.items() if known[name] != checksum]:
        raise Corrupt(f"the migration {edited[0]} is not the one that was applied to this execution memory")


def _apply(connection: SurrealConnection, migration: Migration) -> bool:
    """False where another process applied it at the same moment."""
    try:
        connection.query(
            f"BEGIN TRANSACTION;\n{migration.statements}\n"
            "CREATE type::record('kg_migrations', $name) SET checksum = $checksum RETURN NONE;\n"
            "COMMIT TRANSACTION;",
            name=migration.name,
            checksum=migration.checksum,
        )
    except StatementFailed:
        if _applied(connection).get(migration.name) == migration.checksum:
            return False
        raise
    return True
