"""Wiping by scope. Only what kebab made is named here; nothing else in the folder is touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kebab.disk.data_folder import DataFolder
from kebab.domain.documents import INBOX_ID
from kebab.domain.layout import DataLayout
from kebab.domain.plurals import count_of
from kebab.domain.reports import ResetReport, ResetScope
from kebab.errors import InvalidInput
from kebab.ports import ModelKey, StoreAccess, Stores
from kebab.upkeep.index import IndexBuilder
from kebab.upkeep.remove import remove_all


@dataclass(frozen=True, slots=True)
class Reset:
    """What ``kebab reset`` does."""

    layout: DataLayout
    folder: DataFolder
    config_file: Path | None
    access: StoreAccess
    builder: IndexBuilder

    def run(self, scope: str) -> ResetReport:
        """Remove what the scope names. Raises InvalidInput for an unknown one, ReadOnly, Locked."""
        if scope not in list(ResetScope):
            raise InvalidInput(f"there is no scope {scope!r}", hint=f"one of {', '.join(ResetScope)}")
        self.access.forbid_readonly("reset")
        if scope == ResetScope.OLD_VECTORS:
            return ResetReport(scope, self._remove_old_vectors())
        if scope == ResetScope.INBOX:
            return ResetReport(scope, self._remove_inbox())
        paths = self._scope(ResetScope(scope))
        if not self.layout.folder.exists():
            return ResetReport(scope, remove_all([path for path in paths if path == self.config_file]))
        vectors = self._forget_vectors() if scope == ResetScope.VECTORS else ()
        # Whoever takes the lock removes these; the report is to name them all the same.
        left = [str(path) for path in self.folder.leftovers()] if scope == ResetScope.ALL else []
        with self.access.locked("reset"):
            self.access.close()
            removed = (*vectors, *left, *remove_all(paths))
        return ResetReport(scope, removed, self._kept(ResetScope(scope)))

    def _kept(self, scope: ResetScope) -> tuple[str, ...]:
        """The inbox, which is the only copy of what is in it."""
        inbox = self.layout.inbox
        wide = scope in (ResetScope.DATA, ResetScope.ALL)
        return (str(inbox),) if wide and inbox.is_dir() and any(inbox.iterdir()) else ()

    def _remove_inbox(self) -> tuple[str, ...]:
        """Remove the texts and files of the inbox, and the documents that were made of them."""
        inbox = [self.layout.inbox]
        if not self.layout.database.exists():
            return remove_all(inbox)
        with self.access.writing("reset") as stores:
            # Documents first: killed in between, the next ingest finds the files and makes them again.
            states = stores.documents.file_states(INBOX_ID).values()
            stores.documents.remove([state.doc_id for state in states])
            removed = remove_all(inbox)
            self.builder.indexer(stores).run()
            return removed

    def _forget_vectors(self) -> tuple[str, ...]:
        if not self.layout.database.exists():
            return ()
        with self.access.writing("reset") as stores:
            return _forgotten(stores, [])

    def _remove_old_vectors(self) -> tuple[str, ...]:
        """Remove what belongs to models other than the configured one.

        Raises InvalidInput while that one lacks vectors: until then the others are what one can go back to.
        """
        if not self.layout.database.exists():
            return ()
        embedder = self.builder.shelf.available.embedder
        used = [ModelKey.of(embedder)] if embedder else []
        with self.access.writing("reset") as stores:
            for model in used:
                if missing := stores.embeddings.count_missing(model):
                    raise InvalidInput(
                        f"{count_of(missing, 'text has', 'texts have')} no vector of {model.model_id} yet",
                        hint="embed them first: kebab index --embeddings",
                    )
            forgotten = _forgotten(stores, used)
            return (*forgotten, *remove_all(self.builder.indexes.other_vector_files(used)))

    def _scope(self, scope: ResetScope) -> list[Path]:
        layout = self.layout
        scopes = {
            ResetScope.INDEX: [layout.index],
            ResetScope.VECTORS: [layout.vectors],
            ResetScope.DATA: [*layout.database_files, layout.index, layout.recognised],
            ResetScope.MEMORY: [layout.memory],
            ResetScope.CONFIG: [self.config_file] if self.config_file else [],
        }
        everything = [path for paths in scopes.values() for path in paths]
        return scopes.get(scope, [*everything, layout.models, layout.registered_models])


def _forgotten(stores: Stores, keep: Sequence[ModelKey]) -> tuple[str, ...]:
    count = stores.embeddings.forget_unused(keep)
    return (f"{count} cached vectors",) if count else ()
