"""The recipe of an ingest run: scan, compare, parse and chunk, store, remove, index, embed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from kebab.domain.documents import INBOX_ID
from kebab.domain.ingests import IngestPhase, IngestReport, Outcome, RunStatus
from kebab.domain.progress import Cancelled, Progress, never, silent
from kebab.domain.turns import ALONE, Turns
from kebab.errors import InvalidInput, MassDelete
from kebab.ingest import inbox as inbox_folder
from kebab.ingest.beside import Beside
from kebab.ingest.catch_up import EmbeddingPump
from kebab.ingest.changes import Changes
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.derive import Deriver
from kebab.ingest.fresh import Fresh
from kebab.ingest.ledger import RunLog
from kebab.ingest.limits import IngestLimits
from kebab.ingest.outcomes import record, removed
from kebab.ingest.overtaken import Seen
from kebab.ingest.parse.formats import FORMATS
from kebab.ingest.parse.parsed import Format
from kebab.ingest.parse.reading import BARE, Reading
from kebab.ingest.plan import Admits, Planner, outside
from kebab.ingest.prepare import FileTask, Preparing, Result
from kebab.ingest.refresh import Effort, Refreshed
from kebab.ingest.scan import SourceFolder, too_large
from kebab.ingest.sketch import sketch_the_rest
from kebab.ingest.staff import PREPARE, Cluster, Staff
from kebab.ingest.storing import Storing
from kebab.ingest.targets import Target
from kebab.ingest.workers import needs_workers, prepare_all, prepare_here
from kebab.ports import (
    Analyzer,
    DocumentStore,
    Embedder,
    EmbeddingStore,
    Ledger,
    LexicalIndex,
    ModelKey,
    VectorIndex,
    Workers,
)

FEW_FILES = 8
MANY_MISSING = 1000
"""Texts without a vector that are worth worker processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestPipeline:
    """Brings the knowledge base up to date with its sources.

    Whatever happens, the store holds whole documents: a run that was stopped is continued by the next one.
    """

    sources: tuple[SourceFolder, ...]
    inbox: Path
    """Folder, in kebab's data folder, for texts and files that belong to no source."""
    policy: ChunkPolicy
    limits: IngestLimits = field(default_factory=IngestLimits)
    store: DocumentStore
    embeddings: EmbeddingStore
    ledger: Ledger
    lexical: LexicalIndex
    formats: Mapping[str, Format] = FORMATS
    """What can be read, by extension."""
    reading: Reading = BARE
    """Engines and limits for what is read."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """Extensions that kebab knows and is not to read, each with the reason."""
    make_analyzer: Callable[[], Analyzer] | None = None
    """Makes an analyzer like that of the words index, in worker processes too."""
    embedder: Embedder | None = None
    embed_apart: bool = False
    """The embedder is light and works on one core: worker processes get one of their own."""
    vectors: VectorIndex | None = None
    notes: tuple[str, ...] = ()
    """What the report is to say could not be done, such as loading the embedding model."""
    cluster: Cluster | None = None
    """Other machines that do the work of large runs in place of processes here."""
    turns: Turns = ALONE
    """Every change is made inside a turn; between two of them others write."""
    admits: Admits | None = None
    """Says whether a document may be written, by source and path; None where all may."""

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
        few = len(paths) if all(path.is_file() for path in paths) else None
        with self._at_once(few):
            return self._run(
                paths,
                dry_run=dry_run,
                force=force,
                allow_mass_delete=allow_mass_delete,
                progress=progress,
                cancelled=cancelled,
            )

    def _at_once(self, files: int | None) -> AbstractContextManager[None]:
        """One turn for a few files beside a long run: each further turn would wait for a step of that run."""
        few = files is not None and 0 < files <= FEW_FILES
        return self.turns.turn() if few and not self.turns.take_charge() else nullcontext()

    def _run(
        self,
        paths: Sequence[Path],
        *,
        dry_run: bool,
        force: bool,
        allow_mass_delete: bool,
        progress: Progress,
        cancelled: Cancelled,
    ) -> IngestReport:
        log = RunLog(progress, None if dry_run else self.ledger, self.turns)
        log.degraded.extend(self.notes)
        log.begin()
        try:
            changes = self._planner.plan(
                paths, log, dry_run=dry_run, force=force, remove_abandoned=allow_mass_delete
            )
            if dry_run:
                self._rehearse(changes, log, allow_mass_delete=allow_mass_delete)
            else:
                if not allow_mass_delete:
                    for change in changes:
                        change.check_removals()
                self._carry_out(changes, log, cancelled, tidy=not paths)
        except BaseException as error:
            log.fail(error)
            raise
        return log.finish(RunStatus.CANCELLED if cancelled() else RunStatus.COMPLETED)

    def refresh(
        self,
        targets: Sequence[Target] = (),
        *,
        most: Effort | None = None,
        progress: Progress = silent,
        cancelled: Cancelled = never,
    ) -> Refreshed:
        """Look at the targets, or at every source, and read what changed; records no run without a change.

        Nothing is read where that would take more than ``most``. Where more than half of a source would be
        removed, its removals are held back, and the rest is done. Without ``most`` also what an earlier run
        left to do is done.
        """
        seen = RunLog(silent, None)
        changes = self._planner.look(targets, seen)
        held = [message for change in changes if (message := change.mass_delete())]
        changes = [change.keeping() if change.mass_delete() else change for change in changes]
        effort = Effort.of(changes)
        failures = tuple(item for item in seen.items if item.outcome is Outcome.FAILED)
        found = Refreshed(failures=failures, held_back=tuple(held))
        tasks = [task for change in changes for task in change.tasks]
        if most is not None and (effort.exceeds(most) or needs_workers(tasks, self.formats)):
            return replace(found, unread=effort.files)
        if not effort and (most is not None or not self._is_behind()):
            return found
        log = RunLog(progress, self.ledger, self.turns)
        log.degraded.extend((*self.notes, *held))
        with self._at_once(effort.files):
            log.begin()
            try:
                log.skipped(failures)
                self._carry_out(changes, log, cancelled)
            except BaseException as error:
                log.fail(error)
                raise
            status = RunStatus.CANCELLED if cancelled() else RunStatus.COMPLETED
            return replace(found, report=log.finish(status))

    def _is_behind(self) -> bool:
        """Whether something derived is missing that nobody is about to make."""
        if not self.turns.take_charge():
            return False
        model = ModelKey.of(self.embedder) if self.embedder else None
        if self.store.behind(self.lexical.checkpoint()) or (model and self.embeddings.count_missing(model)):
            return True
        return self.vectors is not None and bool(
            self.store.behind(self.vectors.checkpoint(), model=self.vectors.model)
        )

    def ingest_text(
        self, title: str, text: str | bytes, *, dry_run: bool = False, progress: Progress = silent
    ) -> IngestReport:
        """Store a text that is no file, beside earlier ones of that title; the same text again is unchanged.

        Raises InvalidInput, before anything is written, for a text that is empty, too large or no text.
        """
        if dry_run:
            log = RunLog(progress, None)
            log.begin()
            log.skipped([self._planner.would_be_kept(self._draft(title, text))])
            return log.finish(RunStatus.COMPLETED)
        alone = self.turns.take_charge()
        with self.turns.turn():
            draft = self._draft(title, text)
            draft.keep()
            if not alone:
                return self.run((draft.path,), progress=progress)
        return self.run((draft.path,), progress=progress)

    def _draft(self, title: str, text: str | bytes) -> inbox_folder.Draft:
        draft = inbox_folder.text_draft(self.inbox, title, text)
        if len(draft.content) > self.limits.max_file_bytes:
            raise InvalidInput(f"{title!r} cannot be stored: {too_large(self.limits.max_file_bytes)}")
        path = draft.path.relative_to(self.inbox).as_posix()
        if self.admits is not None and not self.admits(INBOX_ID, path):
            raise outside(f"{INBOX_ID}/{path}")
        return draft

    @property
    def _planner(self) -> Planner:
        return Planner(
            sources=self.sources,
            inbox=self.inbox,
            policy=self.policy,
            limits=self.limits,
            store=self.store,
            formats=self.formats,
            unread=self.unread,
            reading=self.reading,
            turns=self.turns,
            admits=self.admits,
        )

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

    def _carry_out(
        self, changes: Sequence[Changes], log: RunLog, cancelled: Cancelled, *, tidy: bool = False
    ) -> None:
        """``tidy`` for a run that nobody waits for with a note in hand: it may write an index anew."""
        with ExitStack() as stack:
            tasks = [task for change in changes for task in change.tasks]
            workers = self._workers(tasks, stack)
            derived = self._deriver(log, workers, stack, cancelled)
            log.enter(IngestPhase.INDEX, total=len(tasks))
            derived.mend()
            if not self.lexical.checkpoint() and self.store.counts() == (0, 0):
                # Begun while there is nothing, the index takes what this run keeps ready for it; begun later,
                # it would be built from the store, which means reading all of it back.
                derived.words(Fresh())
            seen = Seen.of(changes, self.store)
            storing = Storing(store=self.store, turns=self.turns, seen=seen, log=log, derived=derived)
            storing.all(self._results(tasks, workers, derived.settle), cancelled)
            if not cancelled():
                for change in changes:
                    storing.remove(change)
            derived.words(Fresh())
            derived.embed()
            log.enter(IngestPhase.FINISH)
            if tidy:
                derived.tidy(cancelled)
            derived.finish(cancelled)
            sketch_the_rest(self.store, self.turns, cancelled)

    def _deriver(
        self, log: RunLog, workers: Workers | None, stack: ExitStack, cancelled: Cancelled
    ) -> Deriver:
        pump = self._pump(workers, stack, cancelled)
        return Deriver(
            store=self.store,
            embeddings=self.embeddings,
            lexical=self.lexical,
            vectors=self.vectors,
            log=log,
            pump=pump,
            beside=stack.enter_context(Beside(self.turns)),
            turns=self.turns,
            embeds_on_the_way=pump is not None and self._staff.embeds_on_the_way(workers),
        )

    @property
    def _staff(self) -> Staff:
        return Staff(
            preparing=Preparing(self.policy, self.make_analyzer, self.formats, self.reading),
            limits=self.limits,
            embedder=self.embedder,
            embed_apart=self.embed_apart,
            cluster=self.cluster,
        )

    def _workers(self, tasks: list[FileTask], stack: ExitStack) -> Workers | None:
        """Who reads the files, and embeds; None where there is too little to do for others."""
        shared = self.embedder if self._staff.shares_embedding else None
        # Much is to embed, and nothing to read, after a run that was stopped and after a change of model.
        much = shared is not None and self.embeddings.count_missing(ModelKey.of(shared)) >= MANY_MISSING
        workers = self._staff.hired(tasks, much_to_embed=much)
        return stack.enter_context(workers) if workers is not None else None

    def _results(
        self, tasks: list[FileTask], workers: Workers | None, idle: Callable[[], object] = never
    ) -> Iterator[list[Result]]:
        if workers is None:
            return prepare_here(tasks, Preparing(self.policy, formats=self.formats, reading=self.reading))
        return prepare_all(tasks, workers, job=PREPARE, seconds=self.limits.file_seconds, idle=idle)

    def _pump(self, workers: Workers | None, stack: ExitStack, cancelled: Cancelled) -> EmbeddingPump | None:
        if self.embedder is None:
            return None
        return stack.enter_context(
            EmbeddingPump(
                self.embeddings,
                self.embedder,
                batch_size=self.limits.batch_size,
                cancelled=cancelled,
                workers=workers if workers is not None and self._staff.embeds(workers) else None,
                turns=self.turns,
            )
        )
