"""The part of the application object that keeps it sound: indexes, doctor, models, reset, bundles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kebab.app.calls import Calls, call
from kebab.domain.progress import Cancelled, Progress, never, silent
from kebab.wire import requests

if TYPE_CHECKING:
    from kebab.assembly.engines import Engines
    from kebab.assembly.rooms import Rooms
    from kebab.domain.reports import (
        BundleReport,
        DoctorReport,
        FormatStatus,
        IndexReport,
        ModelStatus,
        ResetReport,
        SchemaReport,
    )


class Upkeeping:
    """What is derived, checked, switched, emptied and moved."""

    engines: Engines
    calls: Calls
    _rooms: Rooms

    @call
    def index(
        self,
        *,
        embeddings: bool = False,
        lexical: bool = False,
        rebuild: bool = False,
        model: str | None = None,
        batch_size: int | None = None,
        progress: Progress = silent,
        cancelled: Cancelled = never,
    ) -> IndexReport:
        """Bring derived data up to date with the store; without a flag, all of it.

        ``model`` embeds with another model, for a later switch. Raises NotIndexed, and ModelUnavailable where
        embedding was asked for.
        """
        what = {"embeddings": embeddings, "lexical": lexical, "rebuild": rebuild}
        asked = requests.IndexRequest.of(**what, model=model, batch_size=batch_size)
        builder = self._rooms.index_builder
        return builder.run(**asked.arguments, progress=progress, cancelled=cancelled)

    @call
    def doctor(
        self, *, repair: bool = False, full: bool = False, progress: Progress = silent
    ) -> DoctorReport:
        """Check everything; ``full`` reads every stored document and vector, not samples.

        ``repair`` looks at everything too, rebuilds what is derived and reads damaged documents again.
        """
        return self._rooms.checkup.run(repair=repair, full=full, progress=progress)

    @call
    def revision(self) -> int:
        """A number that grows with every change of the documents. Raises NotIndexed."""
        return self.engines.reading.documents.revision()

    @call
    def schema(self) -> SchemaReport:
        """Capabilities, versions and statistics; works before the first ingest too."""
        from kebab.assembly.upkeep import describe_knowledge_base

        return describe_knowledge_base(self.engines)

    def formats(self) -> list[FormatStatus]:
        """The kinds of files there are, and what reads them."""
        from kebab.assembly.formats import known_formats

        return known_formats()

    @call
    def models(self, *, everything: bool = False) -> list[ModelStatus]:
        """The embedding models there are; with ``everything`` also those that could be downloaded."""
        return self._rooms.shelf.models(everything=everything)

    @call
    def use_model(self, model: str) -> ModelStatus:
        """Write another model into the configuration file; a Kebab opened afterwards uses it.

        ``model`` is static, none, a registered name, a folder, or provider:name. One that cannot be loaded is
        refused, and so is a configuration without a file.
        """
        return self._rooms.shelf.use_model(model)

    @call
    def add_model(self, folder: Path, *, name: str | None = None) -> ModelStatus:
        """Register a folder with an ONNX model under a name, by default the folder's."""
        return self._rooms.shelf.add_model(folder, name=name)

    @call
    def reset(self, scope: str) -> ResetReport:
        """Wipe what kebab made: index, vectors, old-vectors, data, inbox, memory, config or all.

        Sources are never touched. Texts of the inbox have no other copy: only the scope inbox removes them.
        """
        return self._rooms.reset.run(scope)

    @call
    def export_bundle(self, path: Path, *, force: bool = False, progress: Progress = silent) -> BundleReport:
        """Write the knowledge base into one file, also while others write; over an old one by ``force``."""
        return self._rooms.mover.export_bundle(path, force=force, progress=progress)

    @call
    def import_bundle(self, path: Path, *, force: bool = False, progress: Progress = silent) -> BundleReport:
        """Open a bundle here and build its indexes.

        It is read whole and examined first, beside what is stored here, and takes its place only then; texts
        of the inbox here stay. Refused where documents are stored already or the vectors are of another
        model, unless ``force``.
        """
        return self._rooms.mover.import_bundle(path, force=force, progress=progress)
