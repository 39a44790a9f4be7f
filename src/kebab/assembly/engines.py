"""The engines a configuration asks for, built when first used: alone in naming adapters.

A choice is a dict from the name in the settings to a function that imports and builds the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kebab.assembly import network, providers, vectors, words
from kebab.assembly.installed import is_installed
from kebab.assembly.once import is_built, once
from kebab.assembly.stores import Stores, Whole
from kebab.config import Settings
from kebab.config.sections import EmbeddingModel, LlmModel
from kebab.disk.data_folder import DataFolder
from kebab.domain.layout import DataLayout
from kebab.domain.turns import ALONE, Turns, Waiting, unheard
from kebab.errors import EngineError, NotIndexed, ReadOnly

if TYPE_CHECKING:
    from kebab.adapters.sqlite.connection import Database
    from kebab.adapters.turns import WriterRun, WriterTurns
    from kebab.assembly.memory import MemoryEngines
    from kebab.assembly.publications import Published
    from kebab.ports import (
        AnswerStore,
        Embedder,
        ExecutionIndex,
        ExecutionStore,
        LanguageModel,
        LexicalIndex,
        MemoryKind,
        ModelKey,
        Reranker,
        SourceFiles,
        VectorIndex,
    )
    from kebab.search.analyze import Analyzer

__all__ = ["Engines", "Stores"]


class Engines(Whole):
    """Stores, indexes and models of one knowledge base."""

    def __init__(
        self,
        settings: Settings,
        *,
        readonly: bool = False,
        downloads: Path | None = None,
        waiting: Waiting = unheard,
        published: Published | None = None,
    ) -> None:
        """``downloads`` is where models are kept, by default in the data folder; ``waiting`` hears for whom a
        writer waits. ``published`` is the release that the data folder holds, where it is a replica's.
        """
        self.settings = settings
        self.readonly = readonly
        self.folder = DataFolder(settings.data_dir)
        self.layout = DataLayout(settings.data_dir)
        self.waiting = waiting
        self.published = published
        self.home = published.home if published else self.layout
        self._downloads = downloads or self.home.models
        self._databases: list[Database] = []
        self._vectors: dict[ModelKey, VectorIndex] = {}

    def beside(self, folder: Path) -> Engines:
        """The same engines and models on the data in another folder."""
        settings = msgspec.structs.replace(self.settings, data_dir=folder)
        return Engines(settings, downloads=self._downloads)

    def close(self) -> None:
        for database in self._databases:
            database.close()
        if is_built(self, "memory"):
            self.memory.close()

    # --- truth -------------------------------------------------------------------------------------

    def require(self) -> None:
        """Raises NotIndexed where there is no knowledge base, without opening one that is there."""
        if not self.layout.database.exists():
            raise self.not_indexed()

    @once
    def reading(self) -> Stores:
        """The stores, for reading; raises NotIndexed where there is no knowledge base."""
        # Looked for by name: a search that has nothing to finish loads nothing for it.
        if not self.readonly and self._import_waits():
            self.folder.check()
            with self._turns.turn("finish an import"):
                self._settle_folder()
        return self.opened(self._database(readonly=True))

    @property
    def reading_or_none(self) -> Stores | None:
        """Like ``reading``, and None where there is no knowledge base yet."""
        try:
            return self.reading
        except NotIndexed:
            return None

    @once
    def _writing(self) -> Stores:
        return Stores(self._database(readonly=False))

    @once
    def _turns(self) -> WriterTurns:
        from kebab.adapters.turns import WriterTurns

        timeout_s = self.settings.lock_timeout_s
        return WriterTurns(self.layout.lock, timeout_s=timeout_s, waiting=self.waiting)

    @contextmanager
    def session(self, command: str, *, in_charge: bool = False) -> Iterator[tuple[Stores, WriterRun]]:
        """The stores, for writing turn by turn while others do too; created where they are missing.

        With ``in_charge`` it begins when no other run brings derived data up to date. Raises ReadOnly in
        read-only mode, and Locked, naming the owner, where it is not let in in time.
        """
        from kebab.adapters.turns import WriterRun

        self.forbid_readonly(command)
        self.folder.prepare()
        if self._is_unsettled():
            with self._turns.turn(command):
                self._settle_folder()
        stores = self._writing
        stores.database.schema_version()  # the file that stands there now is the one
        file = stores.database.identity
        run = WriterRun(self._turns, command, check=lambda: stores.database.require(file))
        try:
            if in_charge:
                run.take_charge(wait=True)
            yield stores, run
            # Whoever is in charge does so at its end; a note does not wait for that.
            if run.take_charge():
                with run.turn():
                    stores.database.settle()
        finally:
            run.leave_charge()
            self.folder.tighten()

    @contextmanager
    def writing(self, command: str) -> Iterator[Stores]:
        """The stores, for writing, while nobody else does; created where they are missing.

        Raises ReadOnly in read-only mode and Locked, naming the owner, where others have not ended in time.
        """
        with self.locked(command):
            yield self._writing
            self._writing.database.settle()

    @contextmanager
    def rehearsing(self) -> Iterator[tuple[Stores, Turns]]:
        """The stores as they are, for reading; empty ones, soon gone, where nothing is stored yet."""
        from tempfile import gettempdir

        from kebab.adapters.sqlite.connection import Database
        from kebab.disk.scratch import scratch_folder

        stores = self.reading_or_none
        if stores:
            yield stores, ALONE
            return
        with scratch_folder(Path(gettempdir()), "rehearsal") as folder:
            database = Database(folder / "kebab.sqlite")
            try:
                yield Stores(database), ALONE
            finally:
                database.close()

    @contextmanager
    def locked(self, command: str) -> Iterator[None]:
        """Keep other writers out, without opening the stores; raises like ``writing``."""
        self.forbid_readonly(command)
        self.folder.prepare()
        with self._turns.charge(command), self._turns.turn(command):
            self._settle_folder()
            try:
                yield
            finally:
                self.folder.tighten()

    def _import_waits(self) -> bool:
        """Whether an import is replacing this knowledge base, or was stopped while it did."""
        return (self.layout.folder / ".import").exists()

    def _is_unsettled(self) -> bool:
        return self._import_waits() or bool(self.folder.leftovers())

    def _settle_folder(self) -> None:
        """Finish what was interrupted, and remove what killed processes left."""
        from kebab.upkeep.swap import swap_of

        swap_of(self.layout).finish()
        self.folder.sweep(writing=True)

    def forbid_readonly(self, command: str) -> None:
        if self.published:
            raise ReadOnly(
                f"{command} writes, and what was published elsewhere can only be read",
                hint="run it without --index and index.url",
            )
        if self.readonly:
            raise ReadOnly.refusing(command)

    def lock_owner(self) -> str | None:
        """Who writes now, in words; None when nobody does."""
        owner = self._turns.owner()
        return str(owner) if owner else None

    @contextmanager
    def opened_copy(self, file: Path) -> Iterator[Stores]:
        """The stores of a copy of some knowledge base, for reading, once it is known to be sound.

        Raises Corrupt, or EngineUnavailable where a newer kebab wrote it.
        """
        from kebab.adapters.sqlite.connection import Database

        database = Database(file, readonly=True, any_schema=True)
        try:
            database.require_sound()
            yield Stores(database)
        finally:
            database.close()

    @property
    def answers(self) -> AnswerStore:
        """The stored answers; writable unless kebab runs read-only.

        Without the writer's lock, which guards the documents and their indexes: an answer is one row, SQLite
        itself lets it in between two documents, and asking must not wait for an ingest to end.
        """
        return self.reading.answers if self.readonly else self._writing.answers

    def _database(self, *, readonly: bool) -> Database:
        from kebab.adapters.sqlite.connection import Database

        if readonly:
            self.folder.check()
        else:
            self.folder.prepare()
        try:
            database = Database(self.layout.database, readonly=readonly, is_replaced=self._import_waits)
        except NotIndexed as error:
            raise self.not_indexed() from error
        self._databases.append(database)
        return database

    def not_indexed(self) -> NotIndexed:
        """What a command meets where there is no knowledge base; the hint is the step that comes next."""
        step = "kebab init FOLDER, then: kebab ingest" if self.settings.file is None else "kebab ingest"
        return NotIndexed(f"there is no knowledge base at {self.settings.data_dir}", hint=f"run: {step}")

    @once
    def files(self) -> SourceFiles:
        from kebab.adapters.source_files import DiskSourceFiles, PublishedSourceFiles

        roots = {source.id: Path(source.root) for source in self.settings.sources}
        roots.setdefault("inbox", self.home.inbox)
        files = DiskSourceFiles(roots, self.reading.documents.states_of)
        return PublishedSourceFiles(files) if self.published else files

    # --- words -------------------------------------------------------------------------------------

    @once
    def analyzer(self) -> Analyzer:
        return self.make_analyzer()

    @property
    def make_analyzer(self) -> Callable[[], Analyzer]:
        """Makes analyzers like that of the words index; other processes know it by its name."""
        from kebab.search.analyze import Analyzer

        return Analyzer

    @once
    def lexical_index(self) -> LexicalIndex:
        if self.published and (carried := self.published.words(self.analyzer)) is not None:
            return carried
        return words.build_lexical_index(
            self.settings.search.lexical_engine, self.layout.index, self.analyzer
        )

    # --- meaning -----------------------------------------------------------------------------------

    @once
    def embedder(self) -> Embedder | None:
        """The configured model, or None where the configuration asks for words alone."""
        return self.build_embedder(self.settings.models.embedding)

    @property
    def embeds_apart(self) -> bool:
        """Whether each process may have an embedder of its own: one that maps a table and uses one core."""
        return self.settings.models.embedding.provider == "static"

    @property
    def embedder_or_none(self) -> Embedder | None:
        """Like ``embedder``, and None too where the model cannot be loaded: for those who can do without."""
        try:
            return self.embedder
        except EngineError:
            return None

    def build_embedder(self, model: EmbeddingModel) -> Embedder | None:
        """Any model, or None for the provider that is none."""
        return providers.build_embedder(model, downloads=self._downloads)

    @once
    def reranker(self) -> Reranker | None:
        """The configured reranker, or None where the order of the search stands."""
        return providers.build_reranker(self.settings.models.reranker, downloads=self._downloads)

    def build_language_model(self, model: LlmModel) -> LanguageModel | None:
        """The model, or None where answers are extracted without one."""
        return providers.build_language_model(model)

    def vector_index(self, model: ModelKey) -> VectorIndex:
        """One for each model, for searches and ingests alike: what a save leaves alone stays open."""
        held = self._vectors.get(model)
        return held if held is not None else self._vectors.setdefault(model, self._build_vector_index(model))

    def _build_vector_index(self, model: ModelKey) -> VectorIndex:
        if self.published and (remote := self.published.vectors(model)) is not None:
            return remote
        engine = self.settings.search.vector_engine
        return vectors.build_vector_index(engine, self.layout.vectors, model, refill=self._refill)

    def _refill(self, index: VectorIndex) -> None:
        from kebab.ingest.catch_up import catch_up_vector

        catch_up_vector(self._writing.documents, self._writing.embeddings, index)

    def other_vector_files(self, models: Sequence[ModelKey]) -> list[Path]:
        """The vector indexes of all models but these, by path."""
        return vectors.other_vector_files(self.layout.vectors, models)

    def fastembed_models(self) -> list[tuple[str, int]]:
        """What fastembed could download, with dimensions. Raises ModelUnavailable."""
        from kebab.adapters.embedders.fastembed import supported_models

        return supported_models()

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Every network address that these settings may contact, sorted; empty means none, ever."""
        return network.endpoints(self.settings)

    # --- execution memory --------------------------------------------------------------------------

    @property
    def has_memory(self) -> bool:
        """Whether the memory's engine is installed."""
        return is_installed("surrealdb")

    @once
    def memory(self) -> MemoryEngines:
        from kebab.assembly.memory import MemoryEngines

        home = DataFolder(self.home.folder)
        home.check()
        if home.path.exists() and not self.readonly:
            home.prepare()
        return MemoryEngines(
            self.settings.memory, folder=self.home.memory, analyzer=self.analyzer, readonly=self.readonly
        )

    @property
    def execution_store(self) -> ExecutionStore:
        return self.memory.store

    def execution_index(self, kind: MemoryKind) -> ExecutionIndex:
        return self.memory.index(kind)

    def memory_faults(self) -> list[str]:
        return self.memory.faults()

    def mend_memory(self) -> None:
        self.memory.mend()
