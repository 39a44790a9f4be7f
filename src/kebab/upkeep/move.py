"""Moving a knowledge base by bundle: everything that cannot be derived, in one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kebab.disk.data_folder import DataFolder
from kebab.domain.place import Place
from kebab.domain.reports import BundleReport
from kebab.errors import InvalidInput
from kebab.ports import ModelKey, StoreAccess
from kebab.upkeep.bundle import (
    STORE,
    Contents,
    Manifest,
    check_model,
    opened_bundle,
    restore_inbox,
    write_bundle,
)
from kebab.upkeep.index import IndexBuilder
from kebab.upkeep.remove import remove_all


@dataclass(frozen=True, slots=True)
class Mover:
    """Writes a knowledge base into a bundle, and opens a bundle in its place."""

    place: Place
    folder: DataFolder
    access: StoreAccess
    builder: IndexBuilder
    kebab_version: str

    def export_bundle(self, path: Path, *, force: bool) -> BundleReport:
        target = path.expanduser().absolute()
        manifest = write_bundle(
            target,
            back_up=self._back_up,
            inbox=self.place.inbox,
            kebab_version=self.kebab_version,
            force=force,
        )
        return _bundle_report(target, manifest)

    def _back_up(self, copy: Path) -> Contents:
        self.access.reading.database.back_up(copy)
        with self.access.opened_copy(copy) as stores:
            documents, chunks = stores.documents.counts()
            models = tuple(stores.embeddings.models())
            return Contents(stores.database.schema_version(), documents, chunks, models)

    def import_bundle(self, path: Path, *, force: bool) -> BundleReport:
        source = path.expanduser().absolute()
        self.access.forbid_readonly("import")
        if not force:
            self._refuse_overwriting()
        self.folder.prepare()
        with opened_bundle(source, scratch=self.place.folder) as (manifest, unpacked):
            if not force:
                embedder = self.builder.shelf.available.embedder_or_none
                check_model(manifest, ModelKey.of(embedder) if embedder else None)
            with self.access.opened_copy(unpacked / STORE):
                pass  # opening it checks it, before anything here is touched
            with self.access.writing("import") as stores:
                # First: positions of another store's outbox mean nothing to the indexes that are here.
                remove_all([self.place.index])
                stores.database.restore(unpacked / STORE)
                stores.documents.forget_times(except_source="inbox")
                restore_inbox(unpacked, self.place.inbox)
                report = self.builder.indexer(stores).run()
        return _bundle_report(source, manifest, report.degraded)

    def _refuse_overwriting(self) -> None:
        stores = self.access.reading_or_none
        count = stores.documents.counts()[0] if stores else 0
        if count:
            raise InvalidInput(
                f"{self.place.folder} holds {count} documents already",
                hint="import into another data folder, or replace them with --force",
            )


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
