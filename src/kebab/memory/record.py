"""Recording: what an agent did is on disk before anyone is told so; the indexes follow."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from typing import TypeVar

from kebab.domain.executions import Execution, TaskRecord
from kebab.errors import Conflict, EngineError, ModelUnavailable, ReadOnly
from kebab.memory.embedding import model_label
from kebab.memory.redact import redacted
from kebab.ports import Embedder, EmbeddingKind, ExecutionIndex, ExecutionStore, MemoryEntry, Saved

BATCH = 1000

Record = TypeVar("Record", Execution, TaskRecord)
T = TypeVar("T")

_log = logging.getLogger(__name__)


class Change(StrEnum):
    """What recording something meant."""

    NEW = "new"
    REPLACED = "replaced"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Recorder:
    """Writes records. One that comes without an embedding gets one, where there is a model to make it.

    A record counts as recorded once the store has it. An index that cannot follow is only behind: the next
    search brings it up to date or says that it could not. Secrets are taken out of texts first.
    """

    store: ExecutionStore
    executions: ExecutionIndex
    tasks: ExecutionIndex
    embedder: Embedder | None
    readonly: bool = False
    redact: bool = True

    def record(self, execution: Execution) -> Execution:
        """Store one execution, in place of the agent's own with the same id; returns it as stored.

        Raises Conflict where another agent's record has this id.
        """
        ready, _ = self._save_executions([execution])
        return ready[0]

    def record_many(self, executions: Iterable[Execution]) -> int:
        """Store executions in batches, each one write; returns how many different ones there were."""
        return sum(len(self._save_executions(batch)[0]) for batch in batches(executions, BATCH))

    def record_task(self, task: TaskRecord) -> TaskRecord:
        return self._save_tasks([task])[0][0]

    def put(self, records: Sequence[Execution] | Sequence[TaskRecord]) -> dict[str, Change | Conflict]:
        """Store a batch of one kind; says of each id what it meant. A conflict costs no other record."""
        runs = [item for item in records if isinstance(item, Execution)]
        tasks = [item for item in records if isinstance(item, TaskRecord)]
        found: dict[str, Change | Conflict] = {}
        if runs:
            found |= self._save_executions(runs, tolerant=True)[1]
        if tasks:
            found |= self._save_tasks(tasks)[1]
        return found

    def replace(self, execution: Execution) -> Execution:
        """Store a changed record under its id, whoever recorded it."""
        self.refuse_if_readonly("memory update")
        ready = self.embedded_if_possible([self._redacted(execution)])
        self._write(ready)
        return ready[0]

    def link(self, cause: str, effect: str) -> None:
        """State that one execution led to another, beyond what ``parent`` says."""
        self.refuse_if_readonly("memory link")
        self.store.link(cause, effect)

    def embed_missing(self) -> int:
        """Give every record a vector of the configured model, replacing another's; returns how many."""
        self.refuse_if_readonly("memory embed")
        if self.embedder is None:
            raise ModelUnavailable(
                "no embedding model is configured", hint="set models.embedding.provider in the configuration"
            )
        return self._embed_all(self.store.every()) + self._embed_all(self.store.every_task())

    def embedded_if_possible(self, records: list[Record]) -> list[Record]:
        """What happened is worth keeping without a vector, too; words find it, and embed_missing adds one."""
        try:
            return self._embedded(records)
        except EngineError as error:
            _log.warning("recorded without a vector: %s", error.message)
            return records

    def refuse_if_readonly(self, command: str) -> None:
        if self.readonly:
            raise ReadOnly.refusing(command)

    def _embed_all(self, records: Iterator[Record]) -> int:
        label = model_label(self.embedder) if self.embedder else ""
        behind = (item for item in records if item.embedding_model != label)
        bare = (replace(item, embedding=None, embedding_model=None) for item in behind)
        count = 0
        for batch in batches(bare, BATCH):
            embedded = [item for item in self._embedded(batch) if item.embedding is not None]
            self._write(embedded)
            count += len(embedded)
        return count

    def _save_executions(
        self, batch: Sequence[Execution], *, tolerant: bool = False
    ) -> tuple[list[Execution], dict[str, Change | Conflict]]:
        """Look and write in one step: no other process records the same id in between."""
        self.refuse_if_readonly("memory record")
        unique = {item.id: self._redacted(item) for item in batch}
        ready = self.embedded_if_possible(list(unique.values()))
        with self.store.writing():
            known = self.store.load(list(unique))
            changes = {item.id: compared(item, known.get(item.id)) for item in ready}
            conflicts = [change for change in changes.values() if isinstance(change, Conflict)]
            if conflicts and not tolerant:
                raise conflicts[0]
            changed = [item for item in ready if changes[item.id] in (Change.NEW, Change.REPLACED)]
            saved = self.store.save(changed) if changed else None
        self._follow(self.executions, saved, changed)
        return ready, changes

    def _save_tasks(
        self, batch: Sequence[TaskRecord]
    ) -> tuple[list[TaskRecord], dict[str, Change | Conflict]]:
        self.refuse_if_readonly("memory record")
        unique = {item.id: item for item in batch}
        ready = self.embedded_if_possible(list(unique.values()))
        with self.store.writing():
            known = self.store.load_tasks(list(unique))
            changes: dict[str, Change | Conflict] = {
                item.id: compared(item, known.get(item.id)) for item in ready
            }
            changed = [item for item in ready if changes[item.id] is not Change.SAME]
            saved = self.store.save_tasks(changed) if changed else None
        self._follow(self.tasks, saved, changed)
        return ready, changes

    def _write(self, records: Sequence[Execution | TaskRecord]) -> None:
        runs = [item for item in records if isinstance(item, Execution)]
        tasks = [item for item in records if isinstance(item, TaskRecord)]
        if runs:
            self._follow(self.executions, self.store.save(runs), runs)
        if tasks:
            self._follow(self.tasks, self.store.save_tasks(tasks), tasks)

    def _follow(
        self,
        index: ExecutionIndex,
        saved: Saved | None,
        records: Sequence[Execution] | Sequence[TaskRecord],
    ) -> None:
        if not records:
            return
        try:
            index.follow(saved, [MemoryEntry.of(item) for item in records])
        except EngineError as error:
            _log.warning("the records are safe, but their index is behind: %s", error.message)

    def _embedded(self, records: list[Record]) -> list[Record]:
        bare = [
            place for place, item in enumerate(records) if item.embedding is None and text_of(item).strip()
        ]
        if self.embedder is None or not bare:
            return records
        label = model_label(self.embedder)
        vectors = self.embedder.embed([text_of(records[place]) for place in bare], EmbeddingKind.DOCUMENT)
        for place, vector in zip(bare, vectors, strict=True):
            if vector.any():  # a text of which the model knows nothing has no direction
                embedding = tuple(vector.tolist())
                records[place] = replace(records[place], embedding=embedding, embedding_model=label)
        return records

    def _redacted(self, execution: Execution) -> Execution:
        return redacted(execution)[0] if self.redact else execution


def text_of(record: Execution | TaskRecord) -> str:
    """What is embedded."""
    return record.task_description if isinstance(record, Execution) else record.description


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of at most ``size``; none is empty."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def compared(item: Execution | TaskRecord, known: Execution | TaskRecord | None) -> Change | Conflict:
    """What recording this would mean."""
    if isinstance(item, Execution) and isinstance(known, Execution) and known.agent_id != item.agent_id:
        return Conflict(
            f"{item.id} was recorded by {known.agent_id}, not by {item.agent_id}",
            hint="choose another id, or change the record with: kebab memory update",
            details={"id": item.id, "agent_id": known.agent_id},
        )
    return _compared(item, known)


def _compared(item: Execution | TaskRecord, known: Execution | TaskRecord | None) -> Change:
    if known is None:
        return Change.NEW
    if item.embedding is None:  # no model here: that is no reason to lose the vector
        known = replace(known, embedding=None, embedding_model=None)
    return Change.SAME if item == known else Change.REPLACED
