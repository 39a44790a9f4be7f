"""Moving a knowledge base by bundle, and wiping it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import kebab
from kebab.assembly.engines import Engines, Stores
from kebab.config import Settings
from kebab.domain.documents import INBOX_ID
from kebab.domain.reports import BundleReport, ResetReport, ResetScope
from kebab.errors import InvalidInput
from kebab.ports import ModelKey

if TYPE_CHECKING:
    from kebab.upkeep.bundle import Contents, Manifest
    from kebab.upkeep.index import Indexer


@dataclass(frozen=True, slots=True)
class Mover:
    settings: Settings
    engines: Engines

    def reset(self, scope: str, *, indexer: Callable[[Stores], Indexer]) -> ResetReport:
        from kebab.upkeep.reset import remove_all

        if scope not in list(ResetScope):
            raise InvalidInput(f"there is no scope {scope!r}", hint=f"one of {', '.join(ResetScope)}")
        self.engines.forbid_readonly("reset")
        if scope == ResetScope.OLD_VECTORS:
            return ResetReport(scope, self._remove_old_vectors())
        if scope == ResetScope.INBOX:
            return ResetReport(scope, self._remove_inbox(indexer))
        paths = self._scope(ResetScope(scope))
        if not self.settings.data_dir.exists():
            return ResetReport(scope, remove_all([path for path in paths if path == self.settings.file]))
        vectors = self._forget_vectors() if scope == ResetScope.VECTORS else ()
        # Whoever takes the lock removes these; the report is to name them all the same.
        left = [str(path) for path in self.engines.folder.leftovers()] if scope == ResetScope.ALL else []
        with self.engines.locked("reset"):
            self.engines.close()
            removed = (*vectors, *left, *remove_all(paths))
        return ResetReport(scope, removed, self._kept(ResetScope(scope)))

    def _kept(self, scope: ResetScope) -> tuple[str, ...]:
        """The inbox, which is the only copy of what is in it."""
        inbox = self.engines.inbox_dir
        wide = scope in (ResetScope.DATA, ResetScope.ALL)
        return (str(inbox),) if wide and inbox.is_dir() and any(inbox.iterdir()) else ()

    def _remove_inbox(self, indexer: Callable[[Stores], Indexer]) -> tuple[str, ...]:
        """Remove the texts and files of the inbox, and the documents that were made of them."""
        from kebab.upkeep.reset import remove_all

        inbox = [self.engines.inbox_dir]
        if not self.engines.database_file.exists():
            return remove_all(inbox)
        with self.engines.writing("reset") as stores:
            # Documents first: killed in between, the next ingest finds the files and makes them again.
            states = stores.documents.file_states(INBOX_ID).values()
            stores.documents.remove([state.doc_id for state in states])
            removed = remove_all(inbox)
            indexer(stores).run()
            return removed

    def _forget_vectors(self) -> tuple[str, ...]:
        if not self.engines.database_file.exists():
            return ()
        with self.engines.writing("reset") as stores:
            return _forgotten(stores, [])

    def _remove_old_vectors(self) -> tuple[str, ...]:
        """Remove what belongs to models other than the configured one.

        Raises InvalidInput while that one lacks vectors: until then the others are what one can go back to.
        """
        from kebab.upkeep.reset import remove_all

        if not self.engines.database_file.exists():
            return ()
        embedder = self.engines.embedder
        used = [ModelKey.of(embedder)] if embedder else []
        with self.engines.writing("reset") as stores:
            for model in used:
                if missing := stores.embeddings.count_missing(model):
                    raise InvalidInput(
                        f"{missing} texts have no vector of {model.model_id} yet",
                        hint="embed them first: kebab index --embeddings",
                    )
            forgotten = _forgotten(stores, used)
            return (*forgotten, *remove_all(self.engines.other_vector_files(used)))

    def _scope(self, scope: ResetScope) -> list[Path]:
        engines, folder = self.engines, self.settings.data_dir
        file = engines.database_file
        database = [file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")]
        scopes = {
            ResetScope.INDEX: [engines.index_dir],
            ResetScope.VECTORS: [engines.index_dir / "vectors"],
            ResetScope.DATA: [*database, engines.index_dir],
            ResetScope.MEMORY: [engines.memory_dir],
            ResetScope.CONFIG: [self.settings.file] if self.settings.file else [],
        }
        everything = [path for paths in scopes.values() for path in paths]
        return scopes.get(scope, [*everything, engines.models_dir, folder / "models.json"])

    def export_bundle(self, path: Path, *, force: bool) -> BundleReport:
        from kebab.upkeep.bundle import write_bundle

        target = path.expanduser().absolute()
        manifest = write_bundle(
            target,
            back_up=self._back_up,
            inbox=self.engines.inbox_dir,
            kebab_version=kebab.__version__,
            force=force,
        )
        return _bundle_report(target, manifest)

    def _back_up(self, copy: Path) -> Contents:
        from kebab.upkeep.bundle import Contents

        self.engines.reading.database.back_up(copy)
        with self.engines.opened_copy(copy) as stores:
            documents, chunks = stores.documents.counts()
            models = tuple(stores.embeddings.models())
            return Contents(stores.database.schema_version(), documents, chunks, models)

    def import_bundle(self, path: Path, *, force: bool, indexer: Callable[[Stores], Indexer]) -> BundleReport:
        from kebab.upkeep.bundle import STORE, check_model, opened_bundle, restore_inbox
        from kebab.upkeep.reset import remove_all

        source, folder = path.expanduser().absolute(), self.settings.data_dir
        self.engines.forbid_readonly("import")
        if not force:
            self._refuse_overwriting()
        self.engines.folder.prepare()
        with opened_bundle(source, scratch=folder) as (manifest, unpacked):
            if not force:
                embedder = self.engines.embedder_or_none
                check_model(manifest, ModelKey.of(embedder) if embedder else None)
            with self.engines.opened_copy(unpacked / STORE):
                pass  # opening it checks it, before anything here is touched
            with self.engines.writing("import") as stores:
                # First: positions of another store's outbox mean nothing to the indexes that are here.
                remove_all([self.engines.index_dir])
                stores.database.restore(unpacked / STORE)
                stores.documents.forget_times(except_source="inbox")
                restore_inbox(unpacked, self.engines.inbox_dir)
                report = indexer(stores).run()
        return _bundle_report(source, manifest, report.degraded)

    def _refuse_overwriting(self) -> None:
        stores = self.engines.reading_or_none
        count = stores.documents.counts()[0] if stores else 0
        if count:
            raise InvalidInput(
                f"{self.settings.data_dir} holds {count} documents already",
                hint="import into another data folder, or replace them with --force",
            )


def _forgotten(stores: Stores, keep: Sequence[ModelKey]) -> tuple[str, ...]:
    count = stores.embeddings.forget_unused(keep)
    return (f"{count} cached vectors",) if count else ()


def _bundle_report(path: Path, manifest: Manifest, degraded: Sequence[str] = ()) -> BundleReport:
    contents = manifest.contents
    return BundleReport(
        path=str(path),
        documents=contents.documents,
        chunks=contents.chunks,
        models=tuple(model.model_id for model in contents.models),
        byte_len=path.stat().st_size,
        degraded=tuple(degraded),
    )
