"""The application object: one knowledge base, and everything one can do with it.

Everything is lazy. An engine is imported when a room that needs it is first used, so that ``kebab --help``
loads none and searching works where the memory engine is not installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec

from kebab import config
from kebab.domain.hits import Leg, SearchResponse
from kebab.domain.ids import encodable
from kebab.domain.queries import SearchFilters, SearchMode, SearchQuery
from kebab.engines import Engines, Stores, model_key
from kebab.errors import EngineError, InvalidInput, Locked, ModelUnavailable, Timeout

# What only annotations name is not loaded: making its dataclasses would be a third of a cold search.
if TYPE_CHECKING:
    from kebab.answer.gate import Gate
    from kebab.answer.pipeline import Asker
    from kebab.config import Settings
    from kebab.domain.answers import Answer, AnswerComparison, AnswerEvent, AskRequest
    from kebab.domain.documents import DocumentSummary
    from kebab.domain.evaluations import EvalReport
    from kebab.domain.ingests import IngestItem, IngestProgress, IngestReport, IngestRun
    from kebab.domain.inspections import ChunkInspection, DocumentInspection, FetchResult
    from kebab.domain.reports import (
        BundleReport,
        DoctorReport,
        IndexReport,
        ModelStatus,
        ResetReport,
        SchemaReport,
    )
    from kebab.domain.why import WhyReport
    from kebab.evaluate.archive import Archive
    from kebab.evaluate.laboratory import Laboratory, Measured
    from kebab.ingest.pipeline import IngestPipeline
    from kebab.keeper.care import Caretaker
    from kebab.keeper.models import ModelShelf
    from kebab.keeper.moving import Mover
    from kebab.memory.room import ExecutionMemory
    from kebab.ports import Embedder, VectorIndex
    from kebab.search.fusion import QueryEvidence
    from kebab.search.hybrid import HybridRetriever, LegRetriever
    from kebab.search.present import Presenter
    from kebab.search.read import Reader
    from kebab.search.rerank import Stage

Progress = Callable[["IngestProgress"], None]
Cancelled = Callable[[], bool]


def _silent(_: IngestProgress) -> None:
    """Progress that nobody watches."""


def _never() -> bool:
    return False


class Kebab:
    """A knowledge base.

    >>> kb = Kebab.open(root=Path("notes"))              # doctest: +SKIP
    >>> kb.ingest()                                      # doctest: +SKIP
    >>> kb.search("소유권 rules").hits[0].citation.uri   # doctest: +SKIP
    'rust/ownership.md#L12-L34'

    Reading never writes: searching a place that holds no knowledge base raises NotIndexed. Every method may
    raise a KebabError; nothing else is meant to reach the caller.
    """

    def __init__(self, settings: Settings, *, readonly: bool = False) -> None:
        self.settings = settings
        self.engines = Engines(settings, readonly=readonly)

    @classmethod
    def open(
        cls,
        config_file: Path | None = None,
        *,
        root: Path | None = None,
        data_dir: Path | None = None,
        readonly: bool = False,
        overrides: Mapping[str, object] | None = None,
    ) -> Kebab:
        """Read the settings once and build on them.

        ``root`` and ``data_dir`` replace what the file says; ``overrides`` does so for any dotted key.
        """
        given: dict[str, object] = dict(overrides or {})
        if root is not None:
            given["workspace.root"] = str(root.expanduser().absolute())
        if data_dir is not None:
            given["storage.data_dir"] = str(data_dir.expanduser().absolute())
        return cls(config.load(config_file, overrides=given), readonly=readonly)

    def close(self) -> None:
        """Release files. The object is not used afterwards."""
        self.engines.close()

    def __enter__(self) -> Kebab:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- ingest ------------------------------------------------------------------------------------

    def ingest(
        self,
        paths: Sequence[Path] = (),
        *,
        dry_run: bool = False,
        force: bool = False,
        allow_mass_delete: bool = False,
        progress: Progress = _silent,
        cancelled: Cancelled = _never,
    ) -> IngestReport:
        """Index what is new or changed and remove what is gone; with ``paths``, only those."""
        with self.engines.writing("ingest") as stores:
            return self._pipeline(stores).run(
                tuple(paths),
                dry_run=dry_run,
                force=force,
                allow_mass_delete=allow_mass_delete,
                progress=progress,
                cancelled=cancelled,
            )

    def ingest_text(self, text: str, *, title: str) -> IngestReport:
        """Store a text that is no file, such as standard input, under its title."""
        with self.engines.writing("ingest") as stores:
            return self._pipeline(stores).ingest_text(title, text)

    def runs(self, limit: int = 20) -> list[IngestRun]:
        """The latest ingest runs, newest first."""
        return self.engines.reading.ledger.runs(limit)

    def run_items(self, run_id: str) -> list[IngestItem]:
        return self.engines.reading.ledger.items(run_id)

    def _pipeline(self, stores: Stores) -> IngestPipeline:
        from kebab.ingest.chunk.policy import ChunkPolicy
        from kebab.ingest.pipeline import IngestLimits, IngestPipeline
        from kebab.ingest.scan import SourceFolder

        settings = self.settings
        embedder, vectors, notes = self._embedding()
        return IngestPipeline(
            sources=tuple(
                SourceFolder(s.id, Path(s.root), s.exclude, s.trust_level, s.source_type)
                for s in settings.sources
            ),
            inbox=self.engines.inbox_dir,
            policy=ChunkPolicy(
                settings.chunking.target_tokens,
                settings.chunking.overlap_tokens,
                settings.chunking.max_tokens,
            ),
            limits=IngestLimits(
                max_file_bytes=settings.ingest.max_file_mb << 20,
                follow_symlinks=settings.ingest.follow_symlinks,
                workers=settings.ingest.workers,
                batch_size=settings.models.embedding.batch_size,
            ),
            store=stores.documents,
            embeddings=stores.embeddings,
            ledger=stores.ledger,
            lexical=self.engines.lexical_index,
            make_analyzer=self.engines.make_analyzer,
            embedder=embedder,
            embed_apart=self.engines.embeds_apart,
            vectors=vectors,
            notes=notes,
        )

    def _embedding(self) -> tuple[Embedder | None, VectorIndex | None, tuple[str, ...]]:
        """The model and its index; without a usable model, what the report is to say about it."""
        try:
            embedder = self.engines.embedder
            vectors = self.engines.vector_index(model_key(embedder)) if embedder else None
        except (ModelUnavailable, Timeout) as error:
            return None, None, (f"not embedded: {error.message}",)
        return embedder, vectors, ()

    # --- search ------------------------------------------------------------------------------------

    def search(
        self,
        text: str,
        *,
        mode: SearchMode | None = None,
        k: int | None = None,
        filters: SearchFilters | None = None,
        fusion: str | None = None,
        explain: bool = False,
        trace: bool = False,
        cursor: str | None = None,
        max_tokens: int | None = None,
        snippet_chars: int | None = None,
    ) -> SearchResponse:
        """One page of hits, best first; ``next_cursor`` of the response gives the next page."""
        from kebab.search import page

        text = encodable(text)
        query = self._query(text, mode=mode, k=k, filters=filters, explain=explain)
        revision = self.engines.reading.documents.revision()
        retriever = self.retriever(fusion=fusion, snippet_chars=snippet_chars)
        policy = retriever.fusion.kind.value
        offset = page.read_cursor(cursor, revision=revision, query=query, fusion=policy) if cursor else 0
        found = retriever.search(replace(query, k=offset + query.k + 1))
        hits, truncated = page.within_budget(found.hits[offset : offset + query.k], max_tokens)
        more = len(found.hits) > offset + len(hits)
        end = offset + len(hits)
        following = page.make_cursor(end, revision=revision, query=query, fusion=policy) if more else None
        return SearchResponse(
            query=text,
            mode=query.mode,
            hits=hits,
            next_cursor=following,
            truncated=truncated,
            degraded=found.degraded,
            index_version=retriever.version_in(query.mode),
            fusion=found.fusion,
            trace=found.trace if trace else None,
        )

    def why(
        self,
        reference: str,
        text: str,
        *,
        mode: SearchMode | None = None,
        k: int | None = None,
        filters: SearchFilters | None = None,
        fusion: str | None = None,
    ) -> WhyReport:
        """Why a document (by id or path) or a chunk (by id) was, or was not, among the results."""
        from kebab.search.why import WhyReader

        query = self._query(text, mode=mode, k=k, filters=filters, explain=False)
        reader = WhyReader(
            self.retriever(fusion=fusion), self.engines.reading.documents, self.engines.analyzer
        )
        # Documents first: the beginning of a path must not be taken for that of a chunk's id.
        if not self.engines.reading.documents.find_documents(reference):
            chunk = self._reader.find_chunk(reference)
            if chunk is not None:
                return reader.explain(chunk.chunk.doc_id, query, only=chunk.chunk.chunk_id)
        return reader.explain(self._reader.document(reference).doc_id, query)

    def retriever(self, *, fusion: str | None = None, snippet_chars: int | None = None) -> HybridRetriever:
        """Search as a service for the other rooms: dispatches by the query's mode."""
        from kebab.search.evidence import CoverageReader
        from kebab.search.fusion import Adaptive, policies
        from kebab.search.hybrid import HybridRetriever
        from kebab.search.lexical import LexicalRetriever

        search = self.settings.search
        learned = search.adaptive
        named = policies(
            k=search.rrf_k,
            lexical=search.weights.lexical,
            vector=search.weights.vector,
            adaptive=Adaptive(learned.held, learned.unheld, learned.enough, learned.bridge),
        )
        name = fusion or search.hybrid_fusion
        if name not in named:
            raise InvalidInput(f"there is no fusion policy {name!r}", hint=f"one of {', '.join(named)}")
        store, index = self.engines.reading.documents, self.engines.lexical_index
        presenter = self._presenter(snippet_chars)
        return HybridRetriever(
            lexical=LexicalRetriever(index, store, self.engines.analyzer, presenter),
            vector=self._vector_leg(presenter),
            store=store,
            fusion=named[name],
            evidence=CoverageReader(index, store, self.engines.analyzer),
            presenter=presenter,
            candidates=search.candidates,
            stages=self._stages(),
        )

    def _stages(self) -> tuple[Stage, ...]:
        reranker = self.engines.reranker
        if reranker is None:
            return ()
        from kebab.search.rerank import RerankStage

        top = self.settings.models.reranker.top
        return (RerankStage(reranker, self.engines.reading.documents, top),)

    def _vector_leg(self, presenter: Presenter) -> LegRetriever | None:
        from kebab.search.hybrid import UnavailableLeg
        from kebab.search.vector import VectorRetriever

        stores = self.engines.reading
        try:
            embedder = self.engines.embedder
            if embedder is None:
                return None
            index = self.engines.vector_index(model_key(embedder))
        except EngineError as error:
            return UnavailableLeg(Leg.VECTOR, error)
        return VectorRetriever(
            index, embedder, stores.documents, stores.embeddings, self.engines.analyzer, presenter
        )

    def _presenter(self, snippet_chars: int | None) -> Presenter:
        from kebab.search.present import Presenter

        search = self.settings.search
        return Presenter(
            store=self.engines.reading.documents,
            analyzer=self.engines.analyzer,
            files=self.engines.files,
            snippet_chars=snippet_chars or search.snippet_chars,
            stale_after=timedelta(days=search.stale_threshold_days) if search.stale_threshold_days else None,
        )

    def _query(
        self,
        text: str,
        *,
        mode: SearchMode | None,
        k: int | None,
        filters: SearchFilters | None,
        explain: bool,
    ) -> SearchQuery:
        from kebab.search.parse import parse_query

        wanted = self.settings.search.default_k if k is None else k
        if not 1 <= wanted <= 1000:
            raise InvalidInput(f"k is {wanted}; it must lie between 1 and 1000")
        chosen = mode or self.settings.search.default_mode
        return replace(parse_query(text, mode=chosen, k=wanted, filters=filters), explain=explain)

    # --- asking ------------------------------------------------------------------------------------

    def ask(
        self,
        question: str,
        *,
        mode: SearchMode | None = None,
        k: int | None = None,
        filters: SearchFilters | None = None,
    ) -> Answer:
        """An answer with citations, or a refusal: ``grounded`` tells which. Both are stored."""
        return self._asker.ask(self._ask_request(question, mode=mode, k=k, filters=filters))

    def ask_stream(
        self,
        question: str,
        *,
        mode: SearchMode | None = None,
        k: int | None = None,
        filters: SearchFilters | None = None,
    ) -> Iterator[AnswerEvent]:
        """The same as it is written. Closing the iterator stops the model and stores what had arrived."""
        return self._asker.stream(self._ask_request(question, mode=mode, k=k, filters=filters))

    def ask_again(self, trace_id: str) -> AnswerComparison:
        """Repeat a stored answer and say what changed."""
        return self._asker.again(trace_id)

    def _ask_request(
        self, question: str, *, mode: SearchMode | None, k: int | None, filters: SearchFilters | None
    ) -> AskRequest:
        from kebab.domain.answers import AskRequest

        question = encodable(question)
        query = self._query(question, mode=mode, k=k, filters=filters, explain=False)
        return AskRequest(question, query.mode, query.k, filters or SearchFilters())

    def _gate(self, retriever: HybridRetriever) -> Gate:
        from kebab.answer.background import Background
        from kebab.answer.gate import Gate, GateWeights
        from kebab.search.vector import VectorRetriever

        fitted, leg = self.settings.rag.gate, retriever.vector
        return Gate(
            analyzer=self.engines.analyzer,
            lexical=self.engines.lexical_index,
            weights=GateWeights(**{item.name: getattr(fitted, item.name) for item in fields(GateWeights)}),
            threshold=fitted.threshold,
            background=Background(leg.embedder, leg.index) if isinstance(leg, VectorRetriever) else None,
        )

    @cached_property
    def _asker(self) -> Asker:
        from kebab.answer.extract import ExtractiveWriter
        from kebab.answer.generate import ModelWriter, Writer
        from kebab.answer.pipeline import Asker
        from kebab.answer.prompt import load_template

        engines, retriever = self.engines, self.retriever()
        gate = self._gate(retriever)
        model = engines.build_language_model(self.settings.models.llm)
        writer: Writer = ExtractiveWriter(gate, engines.analyzer, engines.embedder_or_none)
        if model is not None:
            writer = ModelWriter(model, load_template())
        return Asker(
            retriever=retriever,
            store=engines.reading.documents,
            analyzer=engines.analyzer,
            gate=gate,
            writer=writer,
            answers=engines.answers,
            max_context_tokens=self.settings.rag.max_context_tokens,
            read_query=lambda asked: self._query(
                asked.question, mode=asked.mode, k=asked.k, filters=asked.filters, explain=False
            ),
            keeps=not engines.readonly,
        )

    # --- reading -----------------------------------------------------------------------------------

    def list_docs(self, filters: SearchFilters | None = None) -> list[DocumentSummary]:
        """Every document the filters let through, by source and path."""
        return self.engines.reading.documents.list_documents(filters)

    def inspect_doc(self, reference: str) -> DocumentInspection:
        """A document with its chunks; ``reference`` is an id, a beginning of one, or a path."""
        return self._reader.inspect_document(reference)

    def inspect_chunk(self, chunk_id: str) -> ChunkInspection:
        return self._reader.inspect_chunk(chunk_id)

    def fetch_chunk(self, chunk_id: str, *, context: int = 0) -> FetchResult:
        """A chunk's text as indexed, with ``context`` neighbouring chunks on each side."""
        return self._reader.fetch_chunk(chunk_id, context=context)

    def fetch_doc(self, reference: str, *, max_tokens: int | None = None) -> FetchResult:
        """A document's text as indexed, cut to whole lines within the budget."""
        return self._reader.fetch_document(reference, max_tokens=max_tokens)

    def fetch_span(self, reference: str, start: int, end: int) -> FetchResult:
        """Lines ``start`` to ``end`` of a document as indexed, inclusive."""
        return self._reader.fetch_span(reference, start, end)

    @cached_property
    def _reader(self) -> Reader:
        from kebab.search.read import Reader

        stores = self.engines.reading
        return Reader(stores.documents, stores.embeddings, self.engines.files)

    # --- upkeep ------------------------------------------------------------------------------------

    def index(
        self,
        *,
        embeddings: bool = False,
        lexical: bool = False,
        rebuild: bool = False,
        model: str | None = None,
        batch_size: int | None = None,
        progress: Progress = _silent,
        cancelled: Cancelled = _never,
    ) -> IndexReport:
        """Bring derived data up to date with the store; without a flag, all of it.

        ``model`` embeds with another model, for a later switch. Raises NotIndexed, and ModelUnavailable where
        embedding was asked for.
        """
        return self._caretaker.index(
            embeddings=embeddings,
            lexical=lexical,
            rebuild=rebuild,
            model=model,
            batch_size=batch_size,
            progress=progress,
            cancelled=cancelled,
        )

    def doctor(self, *, repair: bool = False) -> DoctorReport:
        """Check everything; ``repair`` mends what is derived from the store."""
        return self._caretaker.doctor(repair=repair)

    def schema(self) -> SchemaReport:
        """Capabilities, versions and statistics; works before the first ingest too."""
        return self._caretaker.schema()

    def models(self, *, everything: bool = False) -> list[ModelStatus]:
        """The embedding models there are; with ``everything`` also those that could be downloaded."""
        return self._shelf.models(everything=everything)

    def use_model(self, model: str) -> ModelStatus:
        """Write another model into the configuration file; a Kebab opened afterwards uses it.

        ``model`` is static, none, a registered name, a folder, or provider:name. One that cannot be loaded is
        refused, and so is a configuration without a file.
        """
        return self._shelf.use_model(model)

    def add_model(self, folder: Path, *, name: str | None = None) -> ModelStatus:
        """Register a folder with an ONNX model under a name, by default the folder's."""
        return self._shelf.add_model(folder, name=name)

    def reset(self, scope: str) -> ResetReport:
        """Wipe what kebab made: index, vectors, data, memory, config or all. Sources are never touched."""
        return self._mover.reset(scope)

    def export_bundle(self, path: Path) -> BundleReport:
        """Write the knowledge base into one file, also while others write."""
        return self._mover.export_bundle(path)

    def import_bundle(self, path: Path, *, force: bool = False) -> BundleReport:
        """Open a bundle here and build its indexes.

        Refused where documents are stored already or the vectors are of another model, unless ``force``.
        """
        return self._mover.import_bundle(path, force=force, indexer=self._caretaker.indexer)

    @property
    def _shelf(self) -> ModelShelf:
        from kebab.keeper.models import ModelShelf

        return ModelShelf(self.settings, self.engines)

    @property
    def _mover(self) -> Mover:
        from kebab.keeper.moving import Mover

        return Mover(self.settings, self.engines)

    @property
    def _caretaker(self) -> Caretaker:
        from kebab.keeper.care import Caretaker

        return Caretaker(self.settings, self.engines)

    # --- evaluation --------------------------------------------------------------------------------

    @cached_property
    def laboratory(self) -> Laboratory[QueryEvidence]:
        """Golden queries, standard collections and tuning, measured on this configuration."""
        from kebab.evaluate.laboratory import Laboratory

        return Laboratory(here=self._measured, temporary=self._temporary)

    @property
    def evaluations(self) -> Archive:
        """The evaluation runs kept in this knowledge base."""
        from kebab.evaluate.archive import Archive

        return Archive(self.engines.reading.evaluations)

    def keep_evaluation(self, report: EvalReport) -> bool:
        """Keep a run where there is a knowledge base to keep it in and nothing forbids writing."""
        from kebab.evaluate.archive import Archive

        if self.engines.readonly or not self.engines.database_file.is_file():
            return False
        try:
            with self.engines.writing("eval run") as stores:
                Archive(stores.evaluations).keep(report)
        except Locked:
            return False
        return True

    def _measured(self) -> Measured[QueryEvidence]:
        from kebab.evaluate.laboratory import CURRENT, Measured
        from kebab.evaluate.tune import Candidate
        from kebab.search.grid import grid
        from kebab.search.parse import parse_query

        embedder = self.engines.embedder
        candidates = {CURRENT: Candidate(self.retriever().fusion)}
        candidates |= {name: Candidate(point.policy, point.settings) for name, point in grid().items()}
        return Measured(
            documents=self.engines.reading.documents,
            retriever=lambda fusion: self.retriever(fusion=fusion),
            fusion=self.settings.search.hybrid_fusion,
            embedding_model=embedder.model_id if embedder else None,
            read=parse_query,
            policies=candidates,
            refuses=self._refuses,
        )

    def _refuses(self, question: str, mode: SearchMode) -> bool:
        """Whether asking ends in a refusal; questions of an evaluation are not kept as answers."""
        request = self._ask_request(question, mode=mode, k=None, filters=None)
        return not replace(self._asker, keeps=False).ask(request).grounded

    @contextmanager
    def _temporary(self, root: Path) -> Iterator[Measured[QueryEvidence]]:
        """A knowledge base of one folder, with these settings, that is gone afterwards."""
        with TemporaryDirectory(prefix="kebab-eval-") as data_dir:
            source = config.Source(id="eval", root=str(root.expanduser().absolute()))
            settings = msgspec.structs.replace(self.settings, data_dir=Path(data_dir), sources=(source,))
            with Kebab(settings) as base:
                base.ingest()
                yield base._measured()

    # --- execution memory --------------------------------------------------------------------------

    @cached_property
    def memory(self) -> ExecutionMemory:
        """What agents did before. Nothing is opened until it is used."""
        from kebab.memory.embedding import UnavailableEmbedder
        from kebab.memory.room import ExecutionMemory
        from kebab.ports import MemoryKind

        try:
            embedder: Embedder | None = self.engines.embedder
        except EngineError as error:
            embedder = UnavailableEmbedder(error)
        return ExecutionMemory(
            self.engines.execution_store,
            self.engines.execution_index(MemoryKind.EXECUTIONS),
            self.engines.execution_index(MemoryKind.TASKS),
            embedder,
            readonly=self.engines.readonly,
        )
