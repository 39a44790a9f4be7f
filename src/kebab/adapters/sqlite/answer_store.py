"""Answers, kept whole as JSON under their trace id."""

from __future__ import annotations

from kebab.adapters.sqlite.connection import Database


class SqliteAnswerStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, trace_id: str, *, created_at: str, question: str, answer_json: str) -> None:
        """Store an answer in place of an earlier one with this trace id."""
        with self._database.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)",
                (trace_id, created_at, question, answer_json),
            )

    def get(self, trace_id: str) -> str | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT answer_json FROM answers WHERE trace_id = ?", (trace_id,)
            ).fetchone()
        return str(row[0]) if row else None

    def recent(self, limit: int = 20) -> list[str]:
        """The answers, newest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT answer_json FROM answers ORDER BY created_at DESC, trace_id LIMIT ?", (limit,)
            ).fetchall()
        return [str(row[0]) for row in rows]
