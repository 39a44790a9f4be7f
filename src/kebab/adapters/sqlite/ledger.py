"""The ledger of ingest runs. Rows are JSON: a run is read back whole, and old ones lack newer fields."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.rows import as_json
from kebab.domain.ingests import IngestItem, IngestRun, RunStatus

_run = msgspec.json.Decoder(IngestRun)
_item = msgspec.json.Decoder(IngestItem)


class SqliteLedger:
    """Ledger on the same file as the documents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, run: IngestRun) -> None:
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO ingest_runs (run_id, run_json) VALUES (?, ?)", (run.run_id, as_json(run))
            )

    def note(self, run_id: str, items: Sequence[IngestItem]) -> None:
        with self._database.write() as connection:
            connection.executemany(
                "INSERT INTO ingest_items (run_id, item_json) VALUES (?, ?)",
                [(run_id, as_json(item)) for item in items],
            )

    def finish(self, run: IngestRun) -> None:
        with self._database.write() as connection:
            connection.execute(
                "UPDATE ingest_runs SET run_json = ? WHERE run_id = ?", (as_json(run), run.run_id)
            )

    def runs(self, limit: int = 20) -> list[IngestRun]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT run_json FROM ingest_runs ORDER BY seq DESC LIMIT ?", (limit,)
            ).fetchall()
        return [_run.decode(row[0]) for row in rows]

    def running(self) -> list[IngestRun]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT run_json FROM ingest_runs WHERE json_extract(run_json, '$.status') = ? "
                "ORDER BY seq DESC",
                (RunStatus.RUNNING.value,),
            ).fetchall()
        return [_run.decode(row[0]) for row in rows]

    def items(self, run_id: str) -> list[IngestItem]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT item_json FROM ingest_items WHERE run_id = ? ORDER BY seq", (run_id,)
            ).fetchall()
        return [_item.decode(row[0]) for row in rows]

    def prune(self, *, keep: int) -> None:
        with self._database.write() as connection:
            connection.execute(
                "DELETE FROM ingest_runs WHERE json_extract(run_json, '$.status') != ? AND seq <= "
                "(SELECT seq FROM ingest_runs ORDER BY seq DESC LIMIT 1 OFFSET ?)",
                (RunStatus.RUNNING.value, keep),
            )
