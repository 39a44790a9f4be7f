"""The recipe of an ingest run: scan, compare, parse and chunk, store, remove, index, embed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from kebab.domain.documents import INBOX_ID
from kebab.domain.ingests import IngestItem, IngestPhase, IngestReport, Outcome, RunStatus
from kebab.domain.progress import Cancelled, Progress, never, silent
from kebab.errors import InvalidInput, MassDelete, ModelUnavailable, StorageError, Timeout
from kebab.ingest import inbox as inbox_folder
from kebab.ingest.catch_up import EMBED, EmbeddingPump, catch_up_lexical, catch_up_vector, prune
from kebab.ingest.changes import Changes, compare, removal
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.fresh import Fresh
from kebab.ingest.inbox import Draft
from kebab.ingest.ledger import RunLog
from kebab.ingest.outcomes import record, removed, unstorable
from kebab.ingest.parse.formats import FORMATS, extension
from kebab.ingest.prepare import FileTask, Prepared, Preparing, Result, SameContent
from kebab.ingest.scan import SourceFolder, scan, too_large
from kebab.ingest.targets import Target, find_targets
from kebab.ingest.workers import Job, Workers, is_large, prepare_all, prepare_here
from kebab.ports import (
    Analyzer,
    DocumentStore,
    Embedder,
    EmbeddingKind,
    EmbeddingStore,
    Ledger,
    LexicalIndex,
    ModelKey,
    VectorIndex,
)

CHUNKS_A_CATCH_UP = 4096
VECTORS_A_CATCH_UP = 4096
DOCS_A_STEP = 20
"""How often the embedding beside the run is looked after."""
MANY_MISSING = 1000
"""Texts without a vector that are worth worker processes."""

_PREPARE = "prepare"


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestLimits:
    max_file_bytes: int = 50 << 20
    follow_symlinks: bool = False
    workers: int = 0
    """Worker processes; 0 means one a core: they have more to do than the process that writes."""
    batch_size: int = 64
    """Texts given to the embedding model at once."""

    @property
    def processes(self) -> int:
        return self.workers or os.cpu_count() or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestPipeline:
    """Brings the knowledge base up to date with its sources.

    Whatever happens, the store holds whole documents: a run that was stopped is continued by the next one.
    """

    sources: tuple[SourceFolder, ...]
    inbox: Path
    """Folder, in kebab's data folder, for texts and files that belong to no source."""
    policy: ChunkPolicy
    limits: IngestLimits = IngestLimits()
    store: DocumentStore
    embeddings: EmbeddingStore
    ledger: Ledger
    lexical: LexicalIndex
    make_analyzer: Callable[[], Analyzer] | None = None
    """Makes an analyzer like that of the words index, in worker processes too."""
    embedder: Embedder | None = None
    embed_apart: bool = False
    """The embedder is light and works on one core: worker processes get one of their own."""
    vectors: VectorIndex | None = None
    notes: tuple[str, ...] = ()
    """What the report is to say could not be done, such as loading the embedding model."""

    def run(
        self,
        paths: Sequence[Path] = (),
        *,
        dry_run: bool = False,
        force: bool = False,
        allow_mass_delete: bool = False,
        progress: Progress = silent,
        cancelled: Cancelled = never,
    ) -> IngestReport:
        """Index what is new or changed and remove what is gone; with ``paths``, only at those.

        A source whose folder is missing is reported as failed and keeps its documents, as does one that the
        configuration no longer names; the latter are removed with ``allow_mass_delete``. Raises MassDelete,
        before anything is written, when more than half of a source would be removed.
        """
        log = RunLog(progress, None if dry_run else self.ledger)
        log.degraded.extend(self.notes)
        log.begin()
        try:
            changes = list(self._changes(self._targets(paths, log, dry_run=dry_run), log, force=force))
            if not paths:
                changes += self._abandoned(log, remove=allow_mass_delete)
            if dry_run:
                self._rehearse(changes, log, allow_mass_delete=allow_mass_delete)
            else:
                if not allow_mass_delete:
                    for change in changes:
                        change.check_removals()
                self._carry_out(changes, log, cancelled)
        except BaseException as error:
            log.fail(error)
            raise
        return log.finish(RunStatus.CANCELLED if cancelled() else RunStatus.COMPLETED)

    def ingest_text(
        self, title: str, text: str | bytes, *, dry_run: bool = False, progress: Progress = silent
    ) -> IngestReport:
        """Store a text that is no file, in place of an earlier one of that title.

        Raises InvalidInput, before anything is written, for bytes that are no text, and for too many.
        """
        draft = inbox_folder.text_draft(self.inbox, title, text)
        if len(draft.content) > self.limits.max_file_bytes:
            raise InvalidInput(f"{title!r} cannot be stored: {too_large(self.limits.max_file_bytes)}")
        if not dry_run:
            draft.keep()
            return self.run((draft.path,), progress=progress)
        log = RunLog(progress, None)
        log.begin()
        log.skipped([self._would_be_kept(draft)])
        return log.finish(RunStatus.COMPLETED)

    # --- what is to be done ------------------------------------------------------------------------

    @property
    def _inbox_source(self) -> SourceFolder:
        return SourceFolder(INBOX_ID, self.inbox, exclude=(".*.part",))

    def _targets(self, paths: Sequence[Path], log: RunLog, *, dry_run: bool) -> list[Target]:
        inbox = self._inbox_source
        if not paths:
            return [Target(source) for source in (*self.sources, *([inbox] if self.inbox.is_dir() else []))]

        def adopt(file: Path) -> Target | None:
            draft = self._draft(file)
            if isinstance(draft, Draft) and not dry_run:
                draft.keep()
                return Target(inbox, draft.path.relative_to(self.inbox).as_posix())
            log.skipped([self._would_be_kept(draft) if isinstance(draft, Draft) else draft])
            return None

        return find_targets(paths, (*self.sources, inbox), adopt=adopt)

    def _draft(self, file: Path) -> Draft | IngestItem:
        """A copy of a file outside every source, or why none is made."""
        if extension(file.name) not in FORMATS:
            reason = f"unsupported format {extension(file.name) or '(none)'}"
            return IngestItem(INBOX_ID, file.name, Outcome.SKIPPED, reason)
        size = file.stat().st_size
        if size > self.limits.max_file_bytes:
            reason = too_large(self.limits.max_file_bytes)
            return IngestItem(INBOX_ID, file.name, Outcome.SKIPPED, reason, byte_len=size)
        draft = inbox_folder.file_draft(self.inbox, file)
        if isinstance(draft, Draft):
            return draft
        return IngestItem(INBOX_ID, file.name, Outcome.SKIPPED, draft.reason, byte_len=size)

    def _would_be_kept(self, draft: Draft) -> IngestItem:
        path = draft.path.relative_to(self.inbox).as_posix()
        reason = "would be kept in the inbox and indexed"
        return IngestItem(INBOX_ID, path, Outcome.INDEXED, reason, byte_len=len(draft.content))

    def _changes(self, targets: Sequence[Target], log: RunLog, *, force: bool) -> Iterator[Changes]:
        for target in targets:
            try:
                with log.stage("scan"):
                    change = self._change(target, force=force)
            except StorageError as error:
                log.skipped([IngestItem(target.source.id, target.under, Outcome.FAILED, error.message)])
                continue
            log.skipped(change.scan.skipped)
            log.unchanged(change.unchanged)
            if target.under and not (change.scan.files or change.scan.skipped or change.gone):
                reason = "there is no such file"
                log.skipped([IngestItem(target.source.id, target.under, Outcome.FAILED, reason)])
            yield change

    def _change(self, target: Target, *, force: bool) -> Changes:
        found = scan(
            target.source,
            max_file_bytes=self.limits.max_file_bytes,
            follow_symlinks=self.limits.follow_symlinks,
            under=target.under,
            own=self.inbox.parent,
        )
        known = self.store.file_states(target.source.id)
        return compare(target.source, found, known, policy=self.policy, force=force, under=target.under)

    def _abandoned(self, log: RunLog, *, remove: bool) -> list[Changes]:
        """What is stored of sources that the configuration does not name: to be removed, or to be told of.

        Kept unless somebody says so: it may have come with a bundle, without its source.
        """
        configured = {INBOX_ID, *(source.id for source in self.sources)}
        left = {name: count for name, count in self.store.source_counts().items() if name not in configured}
        if remove:
            return [removal(name, self.store.file_states(name)) for name in left]
        if left:
            named = ", ".join(f"{name} ({count})" for name, count in left.items())
            log.degraded.append(
                f"documents of sources that are not configured are kept: {named}; "
                "--allow-mass-delete removes them"
            )
        return []

    def _rehearse(self, changes: Sequence[Changes], log: RunLog, *, allow_mass_delete: bool) -> None:
        """Say what a run would do, down to reading the files, and write nothing."""
        tasks = [task for change in changes for task in change.tasks]
        log.enter(IngestPhase.INDEX, total=len(tasks))
        for change in changes:
            try:
                if not allow_mass_delete:
                    change.check_removals()
            except MassDelete as error:
                log.degraded.append(f"would be stopped: {error.message}")
            log.skipped(removed(change.source.id, state) for state in change.gone)
        # Only reading is rehearsed: nothing is cut into terms, and nothing is going to be embedded.
        reader = replace(self, make_analyzer=None, embedder=None)
        with ExitStack() as stack:
            for results in reader._results(tasks, reader._workers(tasks, stack)):
                for result in results:
                    record(result, log)

    # --- doing it ----------------------------------------------------------------------------------

    def _carry_out(self, changes: Sequence[Changes], log: RunLog, cancelled: Cancelled) -> None:
        with ExitStack() as stack:
            tasks = [task for change in changes for task in change.tasks]
            workers = self._workers(tasks, stack)
            pump = self._pump(workers, stack, cancelled)
            log.enter(IngestPhase.INDEX, total=len(tasks))
            if self.store.counts() == (0, 0):
                # Begun while there is nothing, the index takes what this run keeps ready for it; begun later,
                # it would be built from the store, which means reading all of it back.
                self._catch_up_words(log, Fresh())
            pump = self._store_all(self._results(tasks, workers), log, pump, cancelled)
            if not cancelled():
                for change in changes:
                    self._remove(change, log)
            self._catch_up_words(log, Fresh())
            self._embed(pump, log)
        log.enter(IngestPhase.FINISH)
        with log.stage("vectors"):
            self._catch_up_vectors()

    def _workers(self, tasks: list[FileTask], stack: ExitStack) -> Workers | None:
        """Processes to read the files with, and to embed with; None where there is too little to do."""
        light = self.embedder if self.embed_apart else None
        # Much is to embed, and nothing to read, after a run that was stopped and after a change of model.
        much = light is not None and self.embeddings.count_missing(ModelKey.of(light)) >= MANY_MISSING
        if not ((is_large(tasks) or much) and sys.executable):
            return None
        jobs: dict[str, Job] = {_PREPARE: Preparing(self.policy, self.make_analyzer)}
        if light is not None:
            jobs[EMBED] = partial(light.embed, kind=EmbeddingKind.DOCUMENT)
        return stack.enter_context(Workers(jobs, processes=self.limits.processes))

    def _results(self, tasks: list[FileTask], workers: Workers | None) -> Iterator[list[Result]]:
        if workers is None:
            return prepare_here(tasks, Preparing(self.policy))
        return prepare_all(tasks, workers, job=_PREPARE)

    def _pump(self, workers: Workers | None, stack: ExitStack, cancelled: Cancelled) -> EmbeddingPump | None:
        if self.embedder is None:
            return None
        return stack.enter_context(
            EmbeddingPump(
                self.embeddings,
                self.embedder,
                batch_size=self.limits.batch_size,
                cancelled=cancelled,
                workers=workers if self.embed_apart else None,
            )
        )

    def _store_all(
        self, batches: Iterator[list[Result]], log: RunLog, pump: EmbeddingPump | None, cancelled: Cancelled
    ) -> EmbeddingPump | None:
        """Store what was read as it comes; gives the pump back, or None once it broke."""
        fresh = Fresh()
        unstepped = unindexed = 0
        while not cancelled():
            with log.stage("parse"):
                results = next(batches, None)
            if results is None:
                break
            self._keep_all(results, fresh, log)
            written = [len(result.chunks) for result in results if isinstance(result, Prepared)]
            unstepped += len(written)
            unindexed += sum(written)
            if unstepped >= DOCS_A_STEP:
                unstepped = 0
                pump = self._step(pump, log)
            if unindexed >= CHUNKS_A_CATCH_UP:
                unindexed = 0
                self._catch_up_words(log, fresh)
        self._catch_up_words(log, fresh)
        return pump

    def _keep_all(self, results: Sequence[Result], fresh: Fresh, log: RunLog) -> None:
        """Store the results in one transaction; where one of them cannot be stored, each in its own."""
        try:
            with log.stage("store"), self.store.together():
                for result in results:
                    self._keep(result, fresh)
        except InvalidInput as error:
            if len(results) > 1:
                for result in results:
                    self._keep_all([result], fresh, log)
                return
            results = [unstorable(result, error) for result in results]
        for result in results:
            record(result, log)

    def _keep(self, result: Result, fresh: Fresh) -> None:
        match result:
            case Prepared(document, chunks, state, terms):
                fresh.keep(document.doc_id, self.store.put(document, chunks, state), terms)
            case SameContent(source_id, state):
                self.store.touch(source_id, [state])

    def _remove(self, change: Changes, log: RunLog) -> None:
        with log.stage("store"):
            if change.gone:
                self.store.remove([state.doc_id for state in change.gone])
        log.skipped(removed(change.source.id, state) for state in change.gone)

    def _step(self, pump: EmbeddingPump | None, log: RunLog) -> EmbeddingPump | None:
        if pump is not None:
            try:
                pump.step()
            except (ModelUnavailable, Timeout) as error:
                log.embedded = pump.done
                _note_missing_model(error, log)
                return None
        return pump

    def _embed(self, pump: EmbeddingPump | None, log: RunLog) -> None:
        if pump is None or self.embedder is None:
            return
        try:
            total = pump.done + self.embeddings.count_missing(ModelKey.of(self.embedder))
            if total:
                log.enter(IngestPhase.EMBED, total=total, message=self.embedder.model_id)
            with log.stage("embed"):
                pump.drain(self._vectors_follow(log))
        except (ModelUnavailable, Timeout) as error:
            _note_missing_model(error, log)
        finally:
            log.embedded = pump.done

    def _vectors_follow(self, log: RunLog) -> Callable[[int], None]:
        """Hears how many vectors there are, and lets the vector index follow while the model works."""
        applied = 0

        def heard(done: int) -> None:
            nonlocal applied
            log.advance(done)
            if self.vectors is not None and done - applied >= VECTORS_A_CATCH_UP:
                catch_up_vector(self.store, self.embeddings, self.vectors)
                applied = done

        return heard

    def _catch_up_words(self, log: RunLog, fresh: Fresh) -> None:
        with log.stage("words"):
            catch_up_lexical(self.store, self.lexical, fresh=fresh)
            fresh.forget()

    def _catch_up_vectors(self) -> None:
        indexes: list[LexicalIndex | VectorIndex] = [self.lexical]
        if self.vectors is not None:
            if catch_up_vector(self.store, self.embeddings, self.vectors):
                self.vectors.optimize()
            indexes.append(self.vectors)
        prune(self.store, indexes)


def _note_missing_model(error: ModelUnavailable | Timeout, log: RunLog) -> None:
    """The words are indexed all the same; the next run embeds what is missing."""
    log.degraded.append(f"not embedded: {error.message}")
