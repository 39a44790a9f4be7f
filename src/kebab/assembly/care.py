"""Following, examining and describing a knowledge base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import kebab
from kebab.assembly.engines import Engines, Stores
from kebab.assembly.model_shelf import ModelShelf
from kebab.config import Settings
from kebab.domain.executions import ExecutionFilters
from kebab.domain.progress import Cancelled, Progress
from kebab.domain.reports import Check, CheckStatus, DoctorReport, IndexReport, SchemaReport
from kebab.errors import EngineError, Locked, NotIndexed
from kebab.ports import Embedder, MemoryKind, ModelKey, VectorIndex

if TYPE_CHECKING:
    from kebab.upkeep.doctor import Doctor
    from kebab.upkeep.index import Indexer

MEMORY = "execution memory"


@dataclass(frozen=True, slots=True)
class Caretaker:
    settings: Settings
    engines: Engines

    def index(
        self,
        *,
        embeddings: bool,
        lexical: bool,
        rebuild: bool,
        model: str | None,
        batch_size: int | None,
        progress: Progress,
        cancelled: Cancelled,
    ) -> IndexReport:
        meaning = embeddings or model is not None or not lexical
        self._require_store()
        with self.engines.writing("index") as stores:
            indexer = self.indexer(
                stores, model=model, batch_size=batch_size, required=embeddings or model is not None
            )
            return indexer.run(
                words=lexical or not (embeddings or model),
                meaning=meaning,
                rebuild=rebuild,
                progress=progress,
                cancelled=cancelled,
            )

    def indexer(
        self,
        stores: Stores,
        *,
        model: str | None = None,
        batch_size: int | None = None,
        required: bool = False,
    ) -> Indexer:
        """With ``required`` a model that cannot be loaded is raised; otherwise the report says so."""
        from kebab.ingest import catch_up
        from kebab.upkeep.index import Indexer

        notes: tuple[str, ...] = ()
        embedder, vectors = None, None
        try:
            embedder, vectors = self._meaning(model)
        except EngineError as error:
            if required:
                raise
            notes = (f"not embedded: {error.message}",)
        return Indexer(
            store=stores.documents,
            embeddings=stores.embeddings,
            lexical=self.engines.lexical_index,
            embedder=embedder,
            vectors=vectors,
            catch_up=catch_up,
            followers=self._answering() if model else (),
            batch_size=batch_size or self.settings.models.embedding.batch_size,
            notes=notes,
        )

    def _meaning(self, model: str | None) -> tuple[Embedder | None, VectorIndex | None]:
        shelf = ModelShelf(self.settings, self.engines)
        embedder = self.engines.embedder if model is None else shelf.build(shelf.choice(model))
        return embedder, self.engines.vector_index(ModelKey.of(embedder)) if embedder else None

    def _answering(self) -> tuple[VectorIndex, ...]:
        """The vector index that searches use; none where its model cannot be loaded."""
        embedder = self.engines.embedder_or_none
        return (self.engines.vector_index(ModelKey.of(embedder)),) if embedder else ()

    def _require_store(self) -> None:
        file = self.engines.database_file
        if not file.exists():
            raise NotIndexed(f"there is no knowledge base at {file}", hint="run `kebab ingest` first")

    def doctor(self, *, repair: bool) -> DoctorReport:
        owner = self.engines.lock_owner()
        # Of a writer at work it cannot be told what it will still remove.
        left = [] if owner else self.engines.folder.leftovers()
        place = self._place(owner)
        condition = self._condition(repair=repair, writing=owner is not None)
        checks = [*place, self._leftovers(left, repair=repair), *condition]
        return DoctorReport((*checks, *self._memory(repair=repair)), self.engines.endpoints)

    def _leftovers(self, left: Sequence[Path], *, repair: bool) -> Check:
        from kebab.upkeep.examine_place import examine_leftovers

        if repair and left:
            with self.engines.locked("doctor --repair"):
                pass  # whoever takes the lock removes them
        return examine_leftovers(left)

    def _place(self, owner: str | None) -> list[Check]:
        from kebab.upkeep import examine_place as place

        file = self.engines.database_file
        roots = {source.id: Path(source.root) for source in self.settings.sources}
        return [
            place.examine_config(self.settings.file),
            place.examine_sources(roots),
            place.examine_folder(self.settings.data_dir, readonly=self.engines.readonly),
            place.examine_disk(self.settings.data_dir, needed=file.stat().st_size if file.exists() else 0),
            place.examine_lock(owner),
        ]

    def _condition(self, *, repair: bool, writing: bool) -> list[Check]:
        """The stores and what is derived; a store that cannot be opened is the one finding."""
        if repair:
            self.engines.forbid_readonly("doctor --repair")
        try:
            self._require_store()
            if not repair:
                return self._doctor(self.engines.reading, writing=writing).examine()
            with self.engines.writing("doctor --repair") as stores:
                return self._doctor(stores, writing=False).mend()
        except NotIndexed as error:
            return [Check("store", CheckStatus.WARNING, error.message, error.hint)]
        except Locked:
            raise
        except EngineError as error:
            return [Check("store", CheckStatus.FAULT, error.message, error.hint)]

    def _doctor(self, stores: Stores, *, writing: bool) -> Doctor:
        from kebab.upkeep.doctor import Doctor

        broken: EngineError | None = None
        try:
            self._meaning(None)
        except EngineError as error:
            broken = error
        return Doctor(
            file=stores.database,
            store=stores.documents,
            embeddings=stores.embeddings,
            ledger=stores.ledger,
            analyzer=self.engines.analyzer,
            indexer=self.indexer(stores),
            model_error=broken,
            writing=writing,
        )

    def _memory(self, *, repair: bool) -> list[Check]:
        """The execution memory, where there is one; its indexes are derived too."""
        from kebab.upkeep.doctor import guarded

        if not self.settings.memory.url and not self.engines.memory_dir.exists():
            return []
        check = guarded(MEMORY, self._look_at_memory)
        if not repair or check.status is not CheckStatus.FAULT:
            return [check]
        again = guarded(MEMORY, self._mend_memory)
        if again.status is CheckStatus.OK:
            again = Check(MEMORY, CheckStatus.REPAIRED, f"{again.detail}; was: {check.detail}")
        return [again]

    def _look_at_memory(self) -> Check:
        try:
            stats = self.engines.execution_store.stats()
        except Locked as error:
            return Check(MEMORY, CheckStatus.OK, f"not looked at: {error.message}")
        for kind in MemoryKind:
            index = self.engines.execution_index(kind)
            index.words("kebab", filters=ExecutionFilters(), limit=1)
            index.spaces()
        return Check(MEMORY, CheckStatus.OK, f"{stats.executions} executions")

    def _mend_memory(self) -> Check:
        from kebab.memory.follow import catch_up

        for kind in MemoryKind:
            index = self.engines.execution_index(kind)
            index.clear()
            store = self.engines.execution_store
            catch_up(store, index, kind, latest=store.revision(kind))
        return self._look_at_memory()

    def schema(self) -> SchemaReport:
        from kebab.ingest.parse.formats import FORMATS
        from kebab.upkeep.schema import describe

        stores = self.engines.reading_or_none
        embedder = self.engines.embedder_or_none
        versions = {
            "lexical": self.engines.lexical_index.version,
            "analyzer": self.engines.analyzer.version,
            **{f"parser{extension}": kind.version for extension, kind in FORMATS.items()},
        }
        if stores:
            versions["store"] = str(stores.database.schema_version())
        if embedder:
            versions["vector"] = self.engines.vector_index(ModelKey.of(embedder)).version
        capabilities = {
            "indexed": stores is not None,
            "lexical": True,
            "vector": embedder is not None,
            "hybrid": embedder is not None,
            "ask": True,
            "memory": self.engines.has_memory,
            "network": bool(self.engines.endpoints),
            "writable": not self.engines.readonly,
        }
        return describe(
            kebab_version=kebab.__version__,
            versions=versions,
            capabilities=capabilities,
            documents=stores.documents if stores else None,
            embeddings=stores.embeddings if stores else None,
        )
