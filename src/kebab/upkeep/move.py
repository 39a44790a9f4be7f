"""Moving a knowledge base by bundle: everything that cannot be derived, in one file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from kebab.disk.data_folder import DataFolder
from kebab.domain.documents import INBOX_ID
from kebab.domain.ids import nfc
from kebab.domain.ingests import IngestPhase
from kebab.domain.layout import DataLayout
from kebab.domain.plurals import count_of
from kebab.domain.progress import Progress, inside, silent, whole_job
from kebab.domain.reports import BundleReport
from kebab.domain.turns import ALONE
from kebab.errors import Corrupt, InvalidInput
from kebab.ports import ModelKey, StoreAccess, Stores
from kebab.upkeep.bundle import (
    STORE,
    Contents,
    Manifest,
    check_contents,
    check_model,
    keep_inbox,
    opened_bundle,
    write_bundle,
)
from kebab.upkeep.checkup import Checkup
from kebab.upkeep.index import IndexBuilder
from kebab.upkeep.swap import swap_of


@dataclass(frozen=True, slots=True)
class Mover:
    """Writes a knowledge base into a bundle, and opens a bundle in its place."""

    layout: DataLayout
    folder: DataFolder
    access: StoreAccess
    builder: IndexBuilder
    beside: Callable[[Path], Checkup]
    """Gives what examines, and first builds, the knowledge base in another folder, with the same engines."""
    kebab_version: str

    def export_bundle(self, path: Path, *, force: bool, progress: Progress = silent) -> BundleReport:
        """Write it beside others that write. One terminal event ends the progress."""
        target = path.expanduser().absolute()
        with whole_job(progress, IngestPhase.COPY) as heard:
            manifest = write_bundle(
                target,
                back_up=lambda copy: self._back_up(copy, heard),
                inbox=self.layout.inbox,
                kebab_version=self.kebab_version,
                force=force,
                progress=heard,
            )
        return _bundle_report(target, manifest)

    def _back_up(self, copy: Path, progress: Progress) -> Contents:
        self.access.reading.database.back_up(copy, progress)
        with self.access.opened_copy(copy) as stores:
            return _contents(stores)

    def import_bundle(self, path: Path, *, force: bool, progress: Progress = silent) -> BundleReport:
        """Build the bundle's knowledge base beside the one here; it takes its place only when it is whole.

        One terminal event ends the progress.
        """
        with whole_job(progress, IngestPhase.UNPACK) as heard:
            return self._import(path, force, heard)

    def _import(self, path: Path, force: bool, progress: Progress) -> BundleReport:
        source = path.expanduser().absolute()
        self.access.forbid_readonly("import")
        if not force:
            self._refuse_overwriting()
        self.folder.prepare()
        with opened_bundle(source, scratch=self.layout.folder, progress=progress) as (manifest, ready):
            if not force:
                embedder = self.builder.shelf.available.embedder_or_none
                check_model(manifest, ModelKey.of(embedder) if embedder else None)
            notes = self._build(ready, manifest, source, progress)
            with self.access.locked("import"):
                if not force:
                    self._refuse_overwriting()
                kept = self._keep_inbox(ready)
                self.access.close()
                swap_of(self.layout).begin(ready)
        return _bundle_report(source, manifest, (*notes, *kept))

    def _build(self, ready: Path, manifest: Manifest, source: Path, progress: Progress) -> tuple[str, ...]:
        """Migrate, read whole, index and examine a bundle's store in its own folder; returns what to tell.

        Raises Corrupt where it cannot be used.
        """
        # A damaged file, or one with foreign statements in it, is not opened for writing, which migrates it.
        with self.access.opened_copy(ready / STORE) as stores:
            check_contents(manifest, _contents(stores), source)
        checkup = self.beside(ready)
        try:
            with checkup.access.writing("import") as stores:
                stores.database.require_whole(progress)
                stores.documents.forget_times(except_source=INBOX_ID)
                report = checkup.builder.indexer(stores).run(progress=inside(progress))
                if faults := checkup.faults(stores, progress):
                    raise Corrupt(
                        f"the bundle {source} cannot be used: {faults[0].name}: {faults[0].detail}",
                        hint="export it again, or fetch a fresh copy",
                    )
        finally:
            checkup.access.close()
        return report.degraded

    def _keep_inbox(self, ready: Path) -> tuple[str, ...]:
        """Bring the inbox here into the knowledge base that takes its place; returns what to tell.

        Somebody may have saved a note while the bundle was being read, or written, and was told that it is
        stored: it is found as soon as the bundle is. The caller keeps other writers out.
        """
        inbox = ready / self.layout.inbox.name
        kept = keep_inbox(self.layout.inbox, inbox)
        checkup = self.beside(ready)
        try:
            with checkup.access.writing("import") as stores:
                # Of all files: a bundle copies its store before its inbox, and a note may come in between.
                new = _unstored(inbox, stores.documents.file_states(INBOX_ID))
                degraded = checkup.pipeline(stores, ALONE).run(new).degraded if new else ()
        finally:
            checkup.access.close()
        return (*degraded, *_kept_note(len(kept)))

    def _refuse_overwriting(self) -> None:
        stores = self.access.reading_or_none
        count = stores.documents.counts()[0] if stores else 0
        if count:
            raise InvalidInput(
                f"{self.layout.folder} holds {count_of(count, 'document')} already",
                hint="import into another data folder, or replace them with --force",
            )


def _contents(stores: Stores) -> Contents:
    documents, chunks = stores.documents.counts()
    return Contents(stores.database.schema_version(), documents, chunks, tuple(stores.embeddings.models()))


def _unstored(inbox: Path, known: Collection[str]) -> list[Path]:
    files = sorted(path for path in inbox.rglob("*") if path.is_file())
    return [file for file in files if nfc(file.relative_to(inbox).as_posix()) not in known]


def _kept_note(count: int) -> tuple[str, ...]:
    return (f"kept {count_of(count, 'file')} of the inbox here beside the bundle's",) if count else ()


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
