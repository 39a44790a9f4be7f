"""Evaluation runs, kept whole as JSON under their run id."""

from __future__ import annotations

from kebab.adapters.sqlite.connection import Database


class SqliteEvalStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, run_id: str, *, created_at: str, report_json: str) -> None:
        """Store a report in place of an earlier one with this run id."""
        with self._database.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO eval_runs VALUES (?, ?, ?)", (run_id, created_at, report_json)
            )

    def get(self, run_id: str) -> str | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT report_json FROM eval_runs WHERE run_id = ?", (run_id,)
            ).fetchone()
        return str(row[0]) if row else None

    def recent(self, limit: int = 20) -> list[str]:
        """The reports, newest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT report_json FROM eval_runs ORDER BY created_at DESC, run_id LIMIT ?", (limit,)
            ).fetchall()
        return [str(row[0]) for row in rows]
