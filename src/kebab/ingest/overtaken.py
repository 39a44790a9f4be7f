"""Another writer who came first: what a run read of a file is stored only while it is the newest.

A run looks at its sources, reads files for minutes and stores them batch by batch; in between others store
too. Each look here is made inside the turn that writes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kebab.domain.ingests import FileState, storable_time
from kebab.ingest.changes import Changes
from kebab.ports import DocumentStore


@dataclass(frozen=True, slots=True)
class Seen:
    """What the run knew of each path when it was planned."""

    store: DocumentStore
    states: Mapping[str, Mapping[str, FileState]]
    """By source and path."""
    files: Mapping[tuple[str, str], str]
    """Where the files to be read lie, by source and path."""

    @classmethod
    def of(cls, changes: Sequence[Changes], store: DocumentStore) -> Seen:
        return cls(
            store,
            {change.source.id: change.states for change in changes},
            {(task.source_id, task.path): task.absolute for change in changes for task in change.tasks},
        )

    def is_overtaken(self, source_id: str, state: FileState) -> bool:
        """Whether another writer stored this path meanwhile, and what was read here adds nothing to it.

        The same content is stored already, or the file is no longer what was read: then the other writer saw
        a newer one, or the next run will.
        """
        current = self.store.file_state(source_id, state.path)
        if current == self.states.get(source_id, {}).get(state.path):
            return False
        if current is not None and _output(current) == _output(state):
            return True
        return not _is_as_read(self.files[source_id, state.path], state)

    def still_gone(self, source_id: str, gone: Sequence[FileState]) -> list[FileState]:
        """Those that nobody has stored again, or removed, since the run looked."""
        return [state for state in gone if self.store.file_state(source_id, state.path) == state]


def _output(state: FileState) -> tuple[str, str]:
    return state.asset_id, state.fingerprint


def _is_as_read(file: str, state: FileState) -> bool:
    try:
        now = os.stat(file)
    except OSError:
        return False
    return (now.st_size, storable_time(now.st_mtime_ns)) == (state.size, state.mtime_ns)
