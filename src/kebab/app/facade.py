"""The application object: one knowledge base, and everything one can do with it.

Everything is lazy. An engine is imported when a room that needs it is first used, so that ``kebab --help``
loads none and searching works where the memory engine is not installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from kebab import config
from kebab.app.calls import Calls, call
from kebab.app.connections import Connections
from kebab.app.evaluating import Evaluating
from kebab.app.publishing import Publishing
from kebab.app.upkeeping import Upkeeping
from kebab.assembly.opening import build_engines
from kebab.assembly.rooms import Rooms
from kebab.domain.progress import Cancelled, Progress, never, silent
from kebab.domain.turns import Waiting, unheard
from kebab.wire import requests

# What only annotations name is not loaded: making its dataclasses would be a third of a cold search.
if TYPE_CHECKING:
    from kebab.app.following import Following
    from kebab.app.watching import Watching
    from kebab.assembly.engines import Engines
    from kebab.config import Settings
    from kebab.domain.answers import Answer, AnswerComparison, AnswerEvent
    from kebab.domain.answers import AskRequest as Question
    from kebab.domain.documents import DocumentSummary
    from kebab.domain.hits import SearchResponse
    from kebab.domain.ingests import IngestItem, IngestReport, IngestRun
    from kebab.domain.inspections import ChunkInspection, DocumentInspection, FetchResult
    from kebab.domain.queries import SearchFilters, SearchMode, SortOrder
    from kebab.domain.walls import Walls
    from kebab.domain.why import WhyReport
    from kebab.ingest.watch import Heard
    from kebab.memory.room import ExecutionMemory


class Kebab(Connections, Evaluating, Publishing, Upkeeping):
    """A knowledge base.

    >>> kb = Kebab.open(root=Path("notes"))              # doctest: +SKIP
    >>> kb.ingest()                                      # doctest: +SKIP
    >>> kb.search("소유권 rules").hits[0].citation.uri   # doctest: +SKIP
    'rust/ownership.md#L12-L34'

    Reading never writes: searching a place that holds no knowledge base raises NotIndexed. Every method may
    raise a KebabError; nothing else is meant to reach the caller.

    One object may be used from many threads at once, for days, beside other processes that write: what is
    costly is made once and held, and what others change is seen by the next call.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        readonly: bool = False,
        waiting: Waiting = unheard,
        walls: Walls | None = None,
    ) -> None:
        self.settings = settings
        self._following: Following | None = None
        self._left: list[Engines] = []
        self._turning = Lock()
        if settings.index.url:
            from kebab.app.following import Following

            self._following = Following(settings, waiting=waiting, walls=walls)
            self.engines = self._following.open()
        else:
            self.engines = build_engines(settings, readonly=readonly, waiting=waiting, walls=walls)
        self._rooms = Rooms(self.engines)
        self.calls = Calls(self._follow) if self._following else Calls()

    @classmethod
    def open(
        cls,
        config_file: Path | None = None,
        *,
        root: Path | None = None,
        data_dir: Path | None = None,
        readonly: bool = False,
        overrides: Mapping[str, object] | None = None,
        waiting: Waiting = unheard,
        walls: Walls | None = None,
    ) -> Kebab:
        """Read the settings once and build on them.

        ``root`` and ``data_dir`` replace what the file says; ``overrides`` does so for any dotted key.
        ``waiting`` hears, in words, for whom a call that writes waits. What is outside ``walls`` does not
        exist for the object, and cannot be written.
        """
        given: dict[str, object] = dict(overrides or {})
        if root is not None:
            given["workspace.root"] = str(root.expanduser().absolute())
        if data_dir is not None:
            given["storage.data_dir"] = str(data_dir.expanduser().absolute())
        settings = config.load(config_file, overrides=given)
        return cls(settings, readonly=readonly, waiting=waiting, walls=walls)

    def close(self) -> None:
        """Wait for the calls that run, and release files. Later calls raise Closed; closing twice is fine."""
        if self.calls.close():
            for engines in (self.engines, *self._left):
                engines.close()

    def _follow(self) -> None:
        """Take the newer release of what is published, once it is here; calls that run keep theirs."""
        with self._turning:
            renewed = self._following.renewed() if self._following else None
            if renewed is not None:
                before = self.engines
                self.engines, self._rooms = renewed, Rooms(renewed)
                self._left.append(before)
            if self._left and self.calls.is_idle():
                left, self._left = self._left, []
                for engines in left:
                    engines.close()

    def __enter__(self) -> Kebab:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- ingest ------------------------------------------------------------------------------------

    @call
    def ingest(
        self,
        paths: Sequence[Path] = (),
        *,
        dry_run: bool = False,
        force: bool = False,
        allow_mass_delete: bool = False,
        progress: Progress = silent,
        cancelled: Cancelled = never,
    ) -> IngestReport:
        """Index what is new or changed and remove what is gone; with ``paths``, only those.

        ``dry_run`` tells what would be done and writes nothing, not even an empty knowledge base.
        """
        asked = requests.IngestRequest.of(dry_run=dry_run, force=force, allow_mass_delete=allow_mass_delete)
        flags = {**asked.arguments, "paths": tuple(paths)}
        with self._rooms.ingesting(dry_run=asked.dry_run) as pipeline:
            return pipeline.run(**flags, progress=progress, cancelled=cancelled)

    @call
    def watch(self, heard: Heard | None = None, *, poll: bool = False) -> Watching:
        """Follow the files as they change, in a thread, until the result or this object is closed.

        ``poll`` looks at the files every second, for drives whose changes the system does not tell.
        """
        from kebab.app.watching import watching

        return watching(self._rooms, self.calls, heard, poll=poll)

    @call
    def ingest_text(
        self, text: str | bytes, *, title: str, dry_run: bool = False, progress: Progress = silent
    ) -> IngestReport:
        """Store a text that is no file, such as standard input, under its title.

        Another text of the same title is another note; the same text again is the same note. Bytes are read
        like a file's; those that are no text raise InvalidInput, and so does an empty text.
        """
        requests.IngestTextRequest.of(text=str(text), title=title, dry_run=dry_run)
        with self._rooms.ingesting(dry_run=dry_run) as pipeline:
            return pipeline.ingest_text(title, text, dry_run=dry_run, progress=progress)

    @call
    def runs(self, limit: int = 20) -> list[IngestRun]:
        """The latest ingest runs, newest first."""
        asked = requests.ListRunsRequest.of(limit=limit)
        return self.engines.reading.ledger.runs(asked.limit)

    @call
    def run_items(self, run_id: str) -> list[IngestItem]:
        return self.engines.reading.ledger.items(run_id)

    # --- search ------------------------------------------------------------------------------------

    @call
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
        exact: bool = False,
        sort: SortOrder | None = None,
        by_document: bool = False,
        groups: bool = False,
        min_score: float | None = None,
        fresh: bool | None = None,
    ) -> SearchResponse:
        """One page of hits, best first; ``next_cursor`` of the response gives the next page.

        ``fresh`` looks at the files first and reads what changed; None means ``search.refresh``.
        """
        shown: dict[str, object] = {"explain": explain, "trace": trace, "snippet_chars": snippet_chars}
        shown |= {"exact": exact, "by_document": by_document, "groups": groups, "min_score": min_score}
        paged = {"k": k, "cursor": cursor, "max_tokens": max_tokens}
        asked = requests.SearchRequest.of(
            **requests.flat(filters),
            query=text,
            mode=mode,
            fusion=fusion,
            sort=sort or "score",
            **paged,
            **shown,
        )
        if self.settings.search.refresh if fresh is None else fresh:
            from kebab.app.fresh import fresh_search

            return fresh_search(self._rooms, asked.arguments)
        response = self._rooms.searcher.search(**asked.arguments)
        return self._following.told(response) if self._following else response

    @call
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
        asked = requests.WhyRequest.of(
            **requests.flat(filters), reference=reference, query=text, mode=mode, k=k, fusion=fusion
        )
        return self._rooms.searcher.why(**asked.arguments)

    # --- asking ------------------------------------------------------------------------------------

    @call
    def ask(
        self,
        question: str,
        *,
        mode: SearchMode | None = None,
        k: int | None = None,
        filters: SearchFilters | None = None,
        continue_from: str | None = None,
    ) -> Answer:
        """An answer with citations, or a refusal: ``grounded`` tells which. Both are stored.

        ``continue_from`` is the trace id of an earlier answer: the question is then understood as one that
        follows it, and ``answer.request.asked`` says what it was taken to mean.
        """
        request = self._question(question, mode=mode, k=k, filters=filters, continue_from=continue_from)
        return self._rooms.asker.ask(request)

    @call
    def ask_stream(
        self,
        question: str,
        *,
        mode: SearchMode | None = None,
        k: int | None = None,
        filters: SearchFilters | None = None,
        continue_from: str | None = None,
    ) -> Iterator[AnswerEvent]:
        """The same as it is written. Closing the iterator stops the model and stores what had arrived."""
        request = self._question(question, mode=mode, k=k, filters=filters, continue_from=continue_from)
        return self.calls.each(self._rooms.asker.stream(request))

    @call
    def ask_again(self, trace_id: str) -> AnswerComparison:
        """Repeat a stored answer and say what changed."""
        return self._rooms.asker.again(trace_id)

    def _question(self, question: str, *, filters: SearchFilters | None, **given: Any) -> Question:
        asked = requests.AskRequest.of(**requests.flat(filters), question=question, **given)
        return self._rooms.asker.request(**asked.arguments)

    # --- reading -----------------------------------------------------------------------------------

    @call
    def list_docs(self, filters: SearchFilters | None = None) -> list[DocumentSummary]:
        """Every document the filters let through, by source and path."""
        asked = requests.ListDocsRequest.of(**requests.flat(filters))
        return self.engines.reading.documents.list_documents(asked.filters)

    @call
    def inspect_doc(self, reference: str) -> DocumentInspection:
        """A document with its chunks; ``reference`` is an id, a beginning of one, or a path."""
        asked = requests.InspectDocRequest.of(reference=reference)
        return self._rooms.reader.inspect_document(**asked.arguments)

    @call
    def inspect_chunk(self, chunk_id: str) -> ChunkInspection:
        asked = requests.InspectChunkRequest.of(chunk_id=chunk_id)
        return self._rooms.reader.inspect_chunk(**asked.arguments)

    @call
    def fetch(
        self, reference: str, *, source: str | None = None, context: int = 0, max_tokens: int | None = None
    ) -> FetchResult:
        """The text that a path, a citation or an id names; ``context`` adds lines or chunks around it."""
        asked = requests.FetchRequest.of(
            reference=reference, source=source, context=context, max_tokens=max_tokens
        )
        return self._rooms.reader.fetch(**asked.arguments)

    @call
    def fetch_chunk(self, chunk_id: str, *, context: int = 0) -> FetchResult:
        """A chunk's text as indexed, with ``context`` neighbouring chunks on each side."""
        asked = requests.FetchChunkRequest.of(chunk_id=chunk_id, context=context)
        return self._rooms.reader.fetch_chunk(**asked.arguments)

    @call
    def fetch_doc(self, reference: str, *, max_tokens: int | None = None) -> FetchResult:
        """A document's text as indexed, cut to whole lines within the budget."""
        asked = requests.FetchDocRequest.of(reference=reference, max_tokens=max_tokens)
        return self._rooms.reader.fetch_document(**asked.arguments)

    @call
    def fetch_span(self, reference: str, start: int, end: int) -> FetchResult:
        """Lines ``start`` to ``end`` of a document as indexed, inclusive."""
        asked = requests.FetchSpanRequest.of(reference=reference, start=start, end=end)
        return self._rooms.reader.fetch_span(**asked.arguments)

    @call
    def fetch_citation(self, uri: str) -> FetchResult:
        """What a citation names, as indexed: ``notes/a.md#L12-L34``, ``talk.vtt#t=62.000,75.500``."""
        return self._rooms.reader.fetch_citation(uri)

    # --- execution memory --------------------------------------------------------------------------

    @property
    @call
    def memory(self) -> ExecutionMemory:
        """What agents did before. Nothing is opened until it is used."""
        return self._rooms.memory
