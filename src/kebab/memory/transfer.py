"""Import and export as ndjson: a line that is wrong is reported and costs no other line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kebab.domain.executions import Execution, ImportReport, LineFailure, TaskRecord
from kebab.errors import InvalidInput
from kebab.memory.record import BATCH, Recorder, batches
from kebab.memory.shape import parse_line, to_json
from kebab.ports import ExecutionStore


@dataclass(frozen=True, slots=True)
class Transfer:
    recorder: Recorder
    store: ExecutionStore

    def import_lines(self, lines: Iterable[str | bytes]) -> ImportReport:
        """Record every good line; importing a file twice records nothing twice.

        Raises EngineError when the store fails: what was recorded before stays, and a second import of the
        whole file completes it.
        """
        recorded = 0
        failures: list[LineFailure] = []
        for batch in batches(enumerate(lines, start=1), BATCH):
            recorded += self._record(batch, failures)
        return ImportReport(recorded, tuple(failures))

    def export_lines(self) -> Iterator[str]:
        """Every execution, then every task record, in order of id; without line ends."""
        for record in self.store.every():
            yield json.dumps(to_json(record), ensure_ascii=False)
        for task in self.store.every_task():
            yield json.dumps(to_json(task), ensure_ascii=False)

    def _record(self, batch: list[tuple[int, str | bytes]], failures: list[LineFailure]) -> int:
        executions: list[Execution] = []
        tasks: list[TaskRecord] = []
        for number, line in batch:
            try:
                record = parse_line(_text(line)) if line.strip() else None
            except InvalidInput as error:
                failures.append(LineFailure(number, error.message))
                continue
            if isinstance(record, Execution):
                executions.append(record)
            elif record is not None:
                tasks.append(record)
        return self.recorder.record_many(executions) + self.recorder.record_tasks(tasks)


def _text(line: str | bytes) -> str:
    if isinstance(line, str):
        return line
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"is not UTF-8: {error.reason}") from error
