"""Recording: what an agent did goes into the store first and into the indexes after."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import TypeVar

from kebab.domain.executions import Execution, TaskRecord
from kebab.errors import EngineError, ModelUnavailable, ReadOnly
from kebab.memory.follow import catch_up, follow
from kebab.ports import (
    Embedder,
    EmbeddingKind,
    ExecutionIndex,
    ExecutionStore,
    MemoryEntry,
    MemoryKind,
    Saved,
)

BATCH = 1000

Record = TypeVar("Record", Execution, TaskRecord)
T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recorder:
    """Writes records. One that comes without an embedding gets one, where there is a model to make it.

    A record counts as recorded once the store has it. An index that cannot follow is only behind: the next
    search brings it up to date or says that it could not.
    """

    store: ExecutionStore
    executions: ExecutionIndex
    tasks: ExecutionIndex
    embedder: Embedder | None
    readonly: bool = False

    def record(self, execution: Execution) -> Execution:
        """Store one execution, in place of one with the same id; returns it as stored."""
        return self._save_executions([execution])[0]

    def record_many(self, executions: Iterable[Execution]) -> int:
        """Store executions in batches, each one transaction; returns how many different ones there were."""
        return sum(len(self._save_executions(batch)) for batch in batches(executions, BATCH))

    def record_task(self, task: TaskRecord) -> TaskRecord:
        return self._save_tasks([task])[0]

    def record_tasks(self, tasks: Iterable[TaskRecord]) -> int:
        return sum(len(self._save_tasks(batch)) for batch in batches(tasks, BATCH))

    def link(self, cause: str, effect: str) -> None:
        """State that one execution led to another, beyond what ``parent`` says."""
        self._refuse_if_readonly("memory link")
        self.store.link(cause, effect)

    def prune(self, *, before: datetime, dry_run: bool = False) -> int:
        """Remove executions that finished before a time; returns how many, or would be with ``dry_run``."""
        if not dry_run:
            self._refuse_if_readonly("memory prune")
        count = self.store.prune(before=before, dry_run=dry_run)
        if count and not dry_run:
            latest = self.store.revision(MemoryKind.EXECUTIONS)
            catch_up(self.store, self.executions, MemoryKind.EXECUTIONS, latest=latest)
        return count

    def embed_missing(self) -> int:
        """Give every execution a vector of the configured model, replacing another's; returns how many."""
        self._refuse_if_readonly("memory embed")
        if self.embedder is None:
            raise ModelUnavailable(
                "no embedding model is configured", hint="set models.embedding.provider in the configuration"
            )
        label = model_label(self.embedder)
        behind = (item for item in self.store.every() if item.embedding_model != label)
        bare = (replace(item, embedding=None, embedding_model=None) for item in behind)
        return sum(len(self._save_executions(self._embedded(batch))) for batch in batches(bare, BATCH))

    def _save_executions(self, batch: Sequence[Execution]) -> list[Execution]:
        self._refuse_if_readonly("memory record")
        ready = self._embedded_if_possible(list({item.id: item for item in batch}.values()))
        saved = self.store.save(ready)
        self._follow(MemoryKind.EXECUTIONS, self.executions, saved, ready)
        return ready

    def _save_tasks(self, batch: Sequence[TaskRecord]) -> list[TaskRecord]:
        self._refuse_if_readonly("memory record")
        ready = self._embedded_if_possible(list({item.id: item for item in batch}.values()))
        saved = self.store.save_tasks(ready)
        self._follow(MemoryKind.TASKS, self.tasks, saved, ready)
        return ready

    def _follow(
        self,
        kind: MemoryKind,
        index: ExecutionIndex,
        saved: Saved,
        records: Sequence[Execution] | Sequence[TaskRecord],
    ) -> None:
        try:
            entries = [MemoryEntry.of(item) for item in records]
            follow(self.store, index, kind, saved=saved, entries=entries)
        except EngineError as error:
            _log.warning("the records are safe, but the index of %s is behind: %s", kind, error.message)

    def _embedded_if_possible(self, records: list[Record]) -> list[Record]:
        """What happened is worth keeping without a vector, too; words find it, and embed_missing adds one."""
        try:
            return self._embedded(records)
        except EngineError as error:
            _log.warning("recorded without a vector: %s", error.message)
            return records

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

    def _refuse_if_readonly(self, command: str) -> None:
        if self.readonly:
            raise ReadOnly.refusing(command)


def model_label(embedder: Embedder) -> str:
    """Names a model in the memory: vectors of two versions are as incomparable as those of two models."""
    return f"{embedder.model_id}@{embedder.version}"


def text_of(record: Execution | TaskRecord) -> str:
    return record.task_description if isinstance(record, Execution) else record.description


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of at most ``size``; none is empty."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
