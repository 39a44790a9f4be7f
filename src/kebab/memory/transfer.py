"""Import and export as ndjson: a line that is wrong is reported and costs no other line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kebab.domain.executions import Execution, TaskRecord
from kebab.domain.recalls import ImportReport, LineFailure
from kebab.errors import Conflict, InvalidInput
from kebab.memory.logs import claude_code, codex, otel
from kebab.memory.record import BATCH, Change, Recorder, batches, compared
from kebab.memory.redact import redacted
from kebab.memory.shape import Linked, link_to_json, parse_line, to_json
from kebab.ports import ExecutionStore

Numbered = tuple[int, Execution | TaskRecord | Linked]


@dataclass(frozen=True, slots=True)
class Transfer:
    recorder: Recorder
    store: ExecutionStore

    def import_lines(self, lines: Iterable[str | bytes]) -> ImportReport:
        """Record every good line; importing a file twice records nothing twice.

        Raises EngineError when the store fails: what was recorded before stays, and a second import of the
        whole file completes it.
        """
        tally = Tally()
        for batch in batches(_parsed(enumerate(lines, start=1), tally), BATCH):
            self._take(batch, tally)
        return tally.report()

    def import_files(self, form: str, files: Iterable[Iterable[bytes]], *, dry_run: bool) -> ImportReport:
        """Record what files hold; with ``dry_run`` only say what that would mean."""
        tally = Tally()
        for file in files:
            numbered = (
                _parsed(enumerate(file, start=1), tally) if form == "kebab" else _read(form, file, tally)
            )
            for batch in batches(numbered, BATCH):
                (self._compare if dry_run else self._take)(batch, tally)
        return tally.report()

    def _compare(self, batch: Sequence[Numbered], tally: Tally) -> None:
        """Count what recording these would mean."""
        executions = {record.id: (n, record) for n, record in batch if isinstance(record, Execution)}
        tasks = {record.id: (n, record) for n, record in batch if isinstance(record, TaskRecord)}
        tally.links += len(batch) - len(executions) - len(tasks)
        for found, known in (
            (executions, self.store.load(list(executions))),
            (tasks, self.store.load_tasks(list(tasks))),
        ):
            tally.add(found, {key: compared(record, known.get(key)) for key, (_, record) in found.items()})

    def export_lines(self, *, vectors: bool = True) -> Iterator[str]:
        """Every execution, every task record, in order of id, then every stated link; without line ends."""
        for record in self.store.every():
            yield json.dumps(to_json(record, embedding=vectors), ensure_ascii=False)
        for task in self.store.every_task():
            yield json.dumps(to_json(task, embedding=vectors), ensure_ascii=False)
        for cause, effect in self.store.links():
            yield json.dumps(link_to_json(cause, effect), ensure_ascii=False)

    def _take(self, batch: Sequence[Numbered], tally: Tally) -> None:
        executions: dict[str, tuple[int, Execution]] = {}
        tasks: dict[str, tuple[int, TaskRecord]] = {}
        for number, record in batch:
            if isinstance(record, Execution):
                if self.recorder.redact:
                    record, hidden = redacted(record)
                    tally.redacted += hidden
                executions[record.id] = number, record
            elif isinstance(record, TaskRecord):
                tasks[record.id] = number, record
            else:
                self.recorder.link(record.cause, record.effect)
                tally.links += 1
        tally.add(executions, self.recorder.put([record for _, record in executions.values()]))
        tally.add(tasks, self.recorder.put([record for _, record in tasks.values()]))


@dataclass(slots=True)
class Tally:
    """What became of the lines so far."""

    changes: Counter[Change] = field(default_factory=Counter)
    failures: list[LineFailure] = field(default_factory=list)
    links: int = 0
    redacted: int = 0

    def add(
        self,
        numbered: dict[str, tuple[int, Execution]] | dict[str, tuple[int, TaskRecord]],
        changes: dict[str, Change | Conflict],
    ) -> None:
        for key, change in changes.items():
            if isinstance(change, Conflict):
                self.failures.append(LineFailure(numbered[key][0], change.message))
            else:
                self.changes[change] += 1

    def report(self) -> ImportReport:
        return ImportReport(
            self.changes.total(),
            tuple(sorted(self.failures, key=lambda failure: failure.line)),
            new=self.changes[Change.NEW],
            replaced=self.changes[Change.REPLACED],
            same=self.changes[Change.SAME],
            links=self.links,
            redacted=self.redacted,
        )


def _parsed(lines: Iterable[tuple[int, str | bytes]], tally: Tally) -> Iterator[Numbered]:
    for number, line in lines:
        try:
            if line.strip():
                yield number, parse_line(_text(line))
        except InvalidInput as error:
            tally.failures.append(LineFailure(number, error.message))


def _read(form: str, file: Iterable[bytes], tally: Tally) -> Iterator[Numbered]:
    readers = {"claude-code": claude_code.read, "codex": codex.read, "otel": otel.read}
    if form not in readers:
        raise InvalidInput(f"there is no format {form!r}", hint=f"one of kebab, {', '.join(readers)}")
    for number, record in readers[form](file):
        if record is None:
            tally.failures.append(LineFailure(number, f"is no line of {form}"))
        else:
            yield number, record


def _text(line: str | bytes) -> str:
    if isinstance(line, str):
        return line
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"is not UTF-8: {error.reason}") from error
