"""The engines a configuration asks for, built when first used: alone in naming adapters.

A choice is a dict from the name in the settings to a function that imports and builds the engine.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kebab.config import EmbeddingModel, LlmModel, RerankerModel, Settings
from kebab.errors import ConfigInvalid, EngineError, ModelUnavailable, NotIndexed, ReadOnly
from kebab.ports import (
    Embedder,
    ExecutionIndex,
    LanguageModel,
    LexicalIndex,
    MemoryKind,
    ModelKey,
    Reranker,
    VectorIndex,
)

if TYPE_CHECKING:
    from kebab.adapters.source_files import DiskSourceFiles
    from kebab.adapters.sqlite.answer_store import SqliteAnswerStore
    from kebab.adapters.sqlite.connection import Database
    from kebab.adapters.sqlite.document_store import SqliteDocumentStore
    from kebab.adapters.sqlite.embedding_store import SqliteEmbeddingStore
    from kebab.adapters.sqlite.eval_store import SqliteEvalStore
    from kebab.adapters.sqlite.ledger import SqliteLedger
    from kebab.adapters.surreal.connection import SurrealConnection
    from kebab.adapters.surreal.store import SurrealExecutionStore
    from kebab.search.analyze import Analyzer


T = TypeVar("T")

OLLAMA = "http://127.0.0.1:11434"


class Stores:
    """The tables of one SQLite file, over one way of opening it."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @cached_property
    def documents(self) -> SqliteDocumentStore:
        from kebab.adapters.sqlite.document_store import SqliteDocumentStore

        return SqliteDocumentStore(self.database)

    @cached_property
    def embeddings(self) -> SqliteEmbeddingStore:
        from kebab.adapters.sqlite.embedding_store import SqliteEmbeddingStore

        return SqliteEmbeddingStore(self.database)

    @cached_property
    def ledger(self) -> SqliteLedger:
        from kebab.adapters.sqlite.ledger import SqliteLedger

        return SqliteLedger(self.database)

    @cached_property
    def answers(self) -> SqliteAnswerStore:
        from kebab.adapters.sqlite.answer_store import SqliteAnswerStore

        return SqliteAnswerStore(self.database)

    @cached_property
    def evaluations(self) -> SqliteEvalStore:
        from kebab.adapters.sqlite.eval_store import SqliteEvalStore

        return SqliteEvalStore(self.database)


class Engines:
    """Stores, indexes and models of one knowledge base."""

    def __init__(self, settings: Settings, *, readonly: bool = False) -> None:
        self.settings = settings
        self.readonly = readonly
        self._databases: list[Database] = []

    @property
    def database_file(self) -> Path:
        return self.settings.data_dir / "kebab.sqlite"

    @property
    def lock_file(self) -> Path:
        return self.settings.data_dir / "writer.lock"

    @property
    def index_dir(self) -> Path:
        return self.settings.data_dir / "index"

    @property
    def inbox_dir(self) -> Path:
        """Texts and files that belong to no source."""
        return self.settings.data_dir / "inbox"

    def close(self) -> None:
        for database in self._databases:
            database.close()
        if "_surreal" in self.__dict__:
            self._surreal.close()

    # --- truth -------------------------------------------------------------------------------------

    @cached_property
    def reading(self) -> Stores:
        """The stores, for reading; raises NotIndexed where there is no knowledge base."""
        return Stores(self._database(readonly=True))

    @property
    def reading_or_none(self) -> Stores | None:
        """Like ``reading``, and None where there is no knowledge base yet."""
        try:
            return self.reading
        except NotIndexed:
            return None

    @cached_property
    def _writing(self) -> Stores:
        return Stores(self._database(readonly=False))

    @contextmanager
    def writing(self, command: str) -> Iterator[Stores]:
        """The stores, for writing, while no other process writes; created where they are missing.

        Raises ReadOnly in read-only mode and Locked, naming the owner, while another process writes.
        """
        with self.locked(command):
            yield self._writing

    @contextmanager
    def locked(self, command: str) -> Iterator[None]:
        """Keep other writers out, without opening the stores; raises like ``writing``."""
        from kebab.adapters.writer_lock import writer_lock

        self.forbid_readonly(command)
        with writer_lock(self.lock_file, command=command):
            yield

    def forbid_readonly(self, command: str) -> None:
        if self.readonly:
            raise ReadOnly(f"{command} writes, and kebab runs read-only", hint="leave --readonly out")

    def lock_owner(self) -> str | None:
        """Who writes now, in words; None when nobody does."""
        from kebab.adapters.writer_lock import lock_owner

        owner = lock_owner(self.lock_file)
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
    def answers(self) -> SqliteAnswerStore:
        """The stored answers; writable unless kebab runs read-only.

        Without the writer's lock, which guards the documents and their indexes: an answer is one row, SQLite
        itself lets it in between two documents, and asking must not wait for an ingest to end.
        """
        return self.reading.answers if self.readonly else self._writing.answers

    def _database(self, *, readonly: bool) -> Database:
        from kebab.adapters.sqlite.connection import Database

        database = Database(self.database_file, readonly=readonly)
        self._databases.append(database)
        return database

    @cached_property
    def files(self) -> DiskSourceFiles:
        from kebab.adapters.source_files import DiskSourceFiles

        roots = {source.id: Path(source.root) for source in self.settings.sources}
        roots.setdefault("inbox", self.inbox_dir)
        return DiskSourceFiles(roots, self.reading.documents.file_state)

    # --- words -------------------------------------------------------------------------------------

    @cached_property
    def analyzer(self) -> Analyzer:
        return self.make_analyzer()

    @property
    def make_analyzer(self) -> Callable[[], Analyzer]:
        """Makes analyzers like that of the words index; other processes know it by its name."""
        from kebab.search.analyze import Analyzer

        return Analyzer

    @cached_property
    def lexical_index(self) -> LexicalIndex:
        builders: dict[str, Callable[[], LexicalIndex]] = {"tantivy": self._tantivy, "fts5": self._fts5}
        return _chosen(builders, self.settings.search.lexical_engine, key="search.lexical_engine")()

    def _tantivy(self) -> LexicalIndex:
        from kebab.adapters.tantivy_lexical import TantivyLexicalIndex

        return TantivyLexicalIndex(self.index_dir / "tantivy", self.analyzer)

    def _fts5(self) -> LexicalIndex:
        from kebab.adapters.fts5_lexical import Fts5LexicalIndex

        return Fts5LexicalIndex(self.index_dir / "fts5.sqlite", self.analyzer)

    # --- meaning -----------------------------------------------------------------------------------

    @cached_property
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
        builders: dict[str, Callable[[EmbeddingModel], Embedder | None]] = {
            "static": _static,
            "fastembed": self._fastembed,
            "onnx": _onnx,
            "ollama": _ollama,
            "openai": _openai,
            "none": lambda _: None,
        }
        return _chosen(builders, model.provider, key="models.embedding.provider")(model)

    @cached_property
    def reranker(self) -> Reranker | None:
        """The configured reranker, or None where the order of the search stands."""
        builders: dict[str, Callable[[RerankerModel], Reranker | None]] = {
            "none": lambda _: None,
            "fastembed": self._fastembed_reranker,
        }
        model = self.settings.models.reranker
        return _chosen(builders, model.provider, key="models.reranker.provider")(model)

    def _fastembed_reranker(self, model: RerankerModel) -> Reranker:
        from kebab.adapters.rerankers.fastembed import FastembedReranker

        return FastembedReranker(
            model.model,
            cache_dir=self.settings.data_dir / "models",
            threads=model.threads or None,
            folder=Path(model.path) if model.path else None,
        )

    def vector_index(self, model: ModelKey) -> VectorIndex:
        from kebab.adapters.lance_vector import LanceVectorIndex

        return LanceVectorIndex(self.index_dir / "vectors", model)

    def fastembed_models(self) -> list[tuple[str, int]]:
        """What fastembed could download, with dimensions; raises ModelUnavailable without the package."""
        from kebab.adapters.embedders.fastembed import supported_models

        return supported_models()

    # --- network -----------------------------------------------------------------------------------

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Every network address that these settings may contact, sorted; empty means none, ever."""
        embedding, llm = self.settings.models.embedding, self.settings.models.llm
        found = {_endpoint(embedding.provider, embedding.endpoint), _endpoint(llm.provider, llm.endpoint)}
        local = (embedding, self.settings.models.reranker)
        if any(model.provider == "fastembed" and not model.path for model in local):
            found.add("https://huggingface.co (fastembed, to download the model once)")
        url = self.settings.memory.url
        found.add(url if url.startswith(("ws:", "wss:", "http:", "https:")) else "")
        return tuple(sorted(found - {""}))

    # --- answers -----------------------------------------------------------------------------------

    def build_language_model(self, model: LlmModel) -> LanguageModel | None:
        """The configured model, or None where answers are extracted without one."""
        builders: dict[str, Callable[[LlmModel], LanguageModel | None]] = {
            "extractive": lambda _: None,
            "ollama": _ollama_llm,
            "openai": _openai_llm,
        }
        return _chosen(builders, model.provider, key="models.llm.provider")(model)

    def _fastembed(self, model: EmbeddingModel) -> Embedder:
        from kebab.adapters.embedders.fastembed import FastembedEmbedder

        return FastembedEmbedder(
            model.model,
            cache_dir=self.settings.data_dir / "models",
            threads=model.threads or None,
            folder=Path(model.path) if model.path else None,
        )

    # --- execution memory --------------------------------------------------------------------------

    @property
    def has_memory(self) -> bool:
        """Whether the memory's engine is installed."""
        return importlib.util.find_spec("surrealdb") is not None

    @property
    def memory_dir(self) -> Path:
        """The embedded store, and the indexes derived from whichever store is used."""
        return self.settings.data_dir / "memory"

    @cached_property
    def _surreal(self) -> SurrealConnection:
        from kebab.adapters.surreal.connection import SurrealConnection
        from kebab.adapters.surreal.schema import migrate

        memory = self.settings.memory
        return SurrealConnection(
            memory.url or f"surrealkv://{self.memory_dir / 'store'}",
            namespace=memory.namespace,
            database=memory.database,
            username=os.environ.get("KEBAB_MEMORY_USER", ""),
            password=os.environ.get("KEBAB_MEMORY_PASSWORD", ""),
            on_open=migrate,
        )

    @cached_property
    def execution_store(self) -> SurrealExecutionStore:
        from kebab.adapters.surreal.store import SurrealExecutionStore

        return SurrealExecutionStore(self._surreal, analyzer=self.analyzer)

    def execution_index(self, kind: MemoryKind) -> ExecutionIndex:
        builders = {"derived": self._derived_executions, "native": self._native_executions}
        return _chosen(builders, self.settings.memory.search, key="memory.search")(kind)

    def _derived_executions(self, kind: MemoryKind) -> ExecutionIndex:
        from kebab.adapters.execution_index.index import SidecarExecutionIndex

        def folder() -> Path:
            return self.memory_dir / "index" / self.execution_store.identity() / kind

        return SidecarExecutionIndex(folder, analyzer=self.analyzer)

    def _native_executions(self, kind: MemoryKind) -> ExecutionIndex:
        from kebab.adapters.surreal.native import SurrealExecutionIndex

        return SurrealExecutionIndex(self._surreal, kind=kind, analyzer=self.analyzer)


def model_key(embedder: Embedder) -> ModelKey:
    return ModelKey(embedder.model_id, embedder.version, embedder.dimensions)


def _endpoint(provider: str, endpoint: str) -> str:
    return (endpoint or {"ollama": OLLAMA}.get(provider, "")) if provider in ("ollama", "openai") else ""


def secret(variable: str) -> str | None:
    """A key from the environment; None when no variable is named. Raises when the named one is empty."""
    if not variable:
        return None
    value = os.environ.get(variable, "")
    if not value:
        raise ModelUnavailable(f"the environment variable {variable} is empty", hint=f"export {variable}=…")
    return value


def _chosen(builders: dict[str, T], name: str, *, key: str) -> T:
    if name not in builders:
        raise ConfigInvalid(f"{key}: there is no {name!r}", hint=f"one of {', '.join(builders)}")
    return builders[name]


def _static(_: EmbeddingModel) -> Embedder:
    from kebab.adapters.embedders.static import StaticEmbedder

    return StaticEmbedder()


def _onnx(model: EmbeddingModel) -> Embedder:
    from kebab.adapters.embedders.onnx_folder import OnnxFolderEmbedder

    if not model.path:
        raise ConfigInvalid("models.embedding.path is empty", hint="the folder of an ONNX model")
    return OnnxFolderEmbedder(Path(model.path), threads=model.threads or None)


def _ollama(model: EmbeddingModel) -> Embedder:
    from kebab.adapters.embedders.remote import ollama_embedder

    return ollama_embedder(model.model, endpoint=model.endpoint or OLLAMA)


def _openai(model: EmbeddingModel) -> Embedder:
    from kebab.adapters.embedders.remote import openai_embedder

    if not model.endpoint:
        raise ConfigInvalid("models.embedding.endpoint is empty", hint="such as http://127.0.0.1:8080/v1")
    return openai_embedder(model.model, endpoint=model.endpoint, api_key=secret(model.api_key_env))


def _ollama_llm(model: LlmModel) -> LanguageModel:
    from kebab.adapters.llms.ollama import OllamaLanguageModel

    return OllamaLanguageModel(
        model.model,
        endpoint=model.endpoint or OLLAMA,
        temperature=model.temperature,
        seed=model.seed,
        timeout_s=model.timeout_s,
        context_tokens=model.context_tokens,
    )


def _openai_llm(model: LlmModel) -> LanguageModel:
    from kebab.adapters.llms.openai_compatible import OpenAiLanguageModel

    return OpenAiLanguageModel(
        model.model,
        endpoint=model.endpoint,
        api_key=secret(model.api_key_env),
        temperature=model.temperature,
        seed=model.seed,
        timeout_s=model.timeout_s,
        context_tokens=model.context_tokens,
    )
