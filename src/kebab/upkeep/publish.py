"""Publishing: what changed since the last time is sent, and readers see all of it at once or nothing."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import groupby
from pathlib import Path

from kebab.disk.private import make_folder, replacing
from kebab.disk.scratch import scratch_folder
from kebab.domain.chunks import StoredChunk, about, name_of, searchable_text
from kebab.domain.ids import DocId, content_hash
from kebab.domain.ingests import IngestPhase, IngestProgress
from kebab.domain.layout import DataLayout
from kebab.domain.plurals import count_of
from kebab.domain.progress import Progress, counted, silent, whole_job
from kebab.domain.publications import Collected, Contents, Part, PublishReport, Release, publisher_name
from kebab.domain.turns import InCharge
from kebab.errors import InvalidInput, MassDelete
from kebab.ingest.lean import leaning
from kebab.ports import (
    Analyzer,
    Edition,
    ModelKey,
    Publication,
    PublishedChunk,
    PublishedDocument,
    RecordStore,
    StoreAccess,
    Stores,
)
from kebab.upkeep.index import IndexBuilder

GRACE = timedelta(hours=1)
"""What is younger is never collected: a reader may be in the middle of it."""
_DOCS_AT_ONCE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """Publishes one knowledge base. The store is read as of one moment, while others may write."""

    layout: DataLayout
    access: StoreAccess
    builder: IndexBuilder
    analyzer: Analyzer
    records: Callable[[Stores], RecordStore]
    word_files: Callable[[], list[Path]]
    """The files of the words index, where it has such that can be carried elsewhere."""
    open_publication: Callable[[str], Publication]
    kebab_version: str
    now: Callable[[], str]
    default_name: str

    def publish(
        self,
        uri: str,
        *,
        name: str | None = None,
        everything: bool = False,
        progress: Progress = silent,
    ) -> PublishReport:
        """Publish what changed, or everything. Raises NotIndexed, Locked, Conflict, EngineUnavailable, and
        MassDelete where most of what has this name there is not here, nothing was published from here,
        and not everything is to be sent.

        One terminal event ends the progress. Whoever interrupts it leaves readers what they had.
        """
        with whole_job(progress, IngestPhase.PUBLISH) as heard:
            return self._publish(uri, name, everything, heard)

    def _publish(self, uri: str, name: str | None, everything: bool, progress: Progress) -> PublishReport:
        began = time.perf_counter()
        publication = self.open_publication(uri)
        publisher = publisher_name(name or self.default_name)
        before = publication.newest()
        base = before.part(publisher) if before else None
        self.access.require()
        with self._snapshot(progress) as (stores, words, notes):
            edition, counts = self._edition(
                publication, stores, words, publisher=publisher, base=base, everything=everything
            )
            changed = _sent(edition.changed, counts[0], progress)
            edition = replace(edition, changed=changed)
            if base is not None and before is not None and not everything and _is_same(base, edition, counts):
                return _report(publication, before, publisher, (0, 0), began, notes)
            release = publication.publish(edition)
            self._remember(publication, release.part(publisher), stores)
        return _report(publication, release, publisher, counts, began, notes)

    def remove(self, uri: str, *, name: str) -> PublishReport:
        """Take a publisher's part out of what readers see. Raises InvalidInput where it has none."""
        began = time.perf_counter()
        publication = self.open_publication(uri)
        before = publication.newest()
        part = before.part(name) if before else None
        release = publication.remove(name)
        gone = part.contents.documents if part else 0
        return _report(publication, release, name, (0, gone), began)

    def roll_back(self, uri: str, *, number: int) -> PublishReport:
        """Show readers an earlier release again."""
        began = time.perf_counter()
        publication = self.open_publication(uri)
        return _report(publication, publication.roll_back(number), None, (0, 0), began)

    def collect(self, uri: str, *, older_than: timedelta = GRACE) -> PublishReport:
        """Remove what only releases before the newest needed. Raises NotIndexed."""
        began = time.perf_counter()
        publication = self.open_publication(uri)
        collected = publication.collect(older_than=older_than)
        release = publication.newest()
        if release is None:
            raise nothing_at(publication.uri)
        return _report(publication, release, None, (0, 0), began, collected=collected)

    @contextmanager
    def _snapshot(self, progress: Progress) -> Iterator[tuple[Stores, Path | None, tuple[str, ...]]]:
        """The stores as of one moment, and the files of the words index that belong to it."""
        with self.access.session("publish", in_charge=True) as (stores, turns):
            notes = self._caught_up(stores, InCharge(turns), progress)
            reading = self.access.reading
            with ExitStack() as stack:
                scratch = stack.enter_context(scratch_folder(self.layout.folder, "publish"))
                # Nobody else changes the indexes while this run is in charge, or the store in this turn.
                with turns.turn():
                    stack.enter_context(reading.documents.at_one_moment())
                    reading.documents.revision()  # the moment is that of the first look
                    words = self._linked(scratch)
                yield reading, words, notes

    def _caught_up(self, stores: Stores, turns: InCharge, progress: Progress) -> tuple[str, ...]:
        report = self.builder.indexer(stores, turns=turns).run(progress=progress)
        lacking = count_of(report.missing, "text has", "texts have")
        missing = f"{lacking} no vector yet" if report.missing else ""
        return tuple(filter(None, (*report.degraded, missing)))

    def _linked(self, scratch: Path) -> Path | None:
        """Links to the files, which an engine may remove while they are sent; copies where that fails."""
        files = self.word_files()
        if not files:
            return None
        folder = scratch / "words"
        make_folder(folder)
        for file in files:
            try:
                os.link(file, folder / file.name)
            except OSError:
                (folder / file.name).write_bytes(file.read_bytes())
        return folder

    def _edition(
        self,
        publication: Publication,
        stores: Stores,
        words: Path | None,
        *,
        publisher: str,
        base: Part | None,
        everything: bool,
    ) -> tuple[Edition, tuple[int, int]]:
        model = self._model()
        records = self.records(stores)
        marks = records.marks(model)
        known = self._known(publication, base) if base else {}
        changed = sorted(doc for doc, mark in marks.items() if everything or known.get(doc) != mark)
        removed = sorted(set(known) - set(marks))
        if base is not None and not everything and 2 * len(removed) > len(known):
            self._require_own(publication, base, len(removed), len(known))
        edition = Edition(
            publisher=publisher,
            contents=self._contents(stores, words, model),
            removed=removed,
            changed=self._documents(stores, records, changed, model),
            words=words,
            base=base,
        )
        return edition, (len(changed), len(removed))

    def _known(self, publication: Publication, base: Part) -> dict[DocId, str]:
        """What was published last, as remembered here, or else as it is told there."""
        try:
            found = json.loads(self._memory_of(publication, base.publisher).read_bytes())
            if found["state"] == base.state:
                return {DocId(doc_id): str(mark) for doc_id, mark in found["marks"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        return publication.marks(base)

    def _require_own(self, publication: Publication, base: Part, removed: int, known: int) -> None:
        """Raise MassDelete where nothing was ever published from here under this name.

        Who names no source of their own is called ``default``, like the next one who does not.
        """
        name = base.publisher
        if not self._memory_of(publication, name).exists():
            there = count_of(known, "document")
            raise MassDelete(
                f"{name!r} has {there} at {publication.uri}, of which {removed} are not here",
                hint="if they are somebody else's, give your source an id of your own in [[sources]] and run "
                f"`kebab ingest`; if they are yours: kebab publish {publication.uri} --all",
            )

    def _remember(self, publication: Publication, part: Part | None, stores: Stores) -> None:
        """Note what was published: the next time nothing of it need be read there."""
        if part is None:
            return
        note = {"state": part.state, "marks": self.records(stores).marks(self._model())}
        file = self._memory_of(publication, part.publisher)
        with suppress(OSError):
            make_folder(file.parent)
            with replacing(file) as draft:
                draft.write(json.dumps(note).encode())

    def _memory_of(self, publication: Publication, publisher: str) -> Path:
        name = content_hash(f"{publication.uri} {publisher}".encode())[:32]
        return self.layout.folder / "published" / f"{name}.json"

    def _model(self) -> ModelKey | None:
        embedder = self.builder.shelf.available.embedder_or_none
        return ModelKey.of(embedder) if embedder else None

    def _contents(self, stores: Stores, words: Path | None, model: ModelKey | None) -> Contents:
        documents, chunks = stores.documents.counts()
        files = sorted(path.name for path in words.iterdir()) if words else []
        return Contents(
            sources=tuple(sorted(stores.documents.source_counts())),
            documents=documents,
            chunks=chunks,
            lexical=self.builder.indexes.lexical_index.version,
            model=(model.model_id, model.version, model.dimensions) if model else None,
            missing=stores.embeddings.count_missing(model) if model else 0,
            kebab=self.kebab_version,
            published_at=self.now(),
            revision=stores.documents.revision(),
            vector=self.builder.indexes.vector_index(model).version if model else "",
            words=content_hash(" ".join(files).encode())[:16] if files else "",
        )

    def _documents(
        self, stores: Stores, records: RecordStore, doc_ids: Sequence[DocId], model: ModelKey | None
    ) -> Iterator[PublishedDocument]:
        for start in range(0, len(doc_ids), _DOCS_AT_ONCE):
            some = doc_ids[start : start + _DOCS_AT_ONCE]
            chunks = self._chunks(stores, some, model)
            for record in records.records(some, model):
                yield PublishedDocument(record, chunks.get(record.doc_id, ()))

    def _chunks(
        self, stores: Stores, doc_ids: Sequence[DocId], model: ModelKey | None
    ) -> Mapping[DocId, tuple[PublishedChunk, ...]]:
        stored = list(stores.documents.stored_chunks(doc_ids))
        keys = sorted({one.content_key for one in stored})
        vectors = leaning(stored, stores.embeddings.vectors(model, keys)) if model else {}

        def published(one: StoredChunk) -> PublishedChunk:
            read = self.analyzer.index_text
            texts = read(searchable_text(one)), read(name_of(one)), read(about(one))
            return PublishedChunk(one, texts[0], vectors.get(one.chunk.chunk_id), texts[1], texts[2])

        grouped = groupby(stored, key=lambda one: one.chunk.doc_id)
        return {doc_id: tuple(map(published, some)) for doc_id, some in grouped}


def nothing_at(uri: str) -> InvalidInput:
    return InvalidInput(f"nothing is published at {uri}", hint="publish first: kebab publish URI")


def _is_same(base: Part, edition: Edition, counts: tuple[int, int]) -> bool:
    """Whether readers would find nothing new: the same documents, by the same words index and model."""
    said = replace(edition.contents, kebab=base.contents.kebab, published_at=base.contents.published_at)
    return counts == (0, 0) and said == base.contents


def _sent(
    changed: Iterable[PublishedDocument], count: int, progress: Progress
) -> Iterator[PublishedDocument]:
    """The documents, each told of as it goes. What the address still makes of them comes after the last."""
    yield from counted(changed, IngestPhase.PUBLISH, total=count, progress=progress)
    progress(IngestProgress("progress", IngestPhase.FINISH))


def _report(
    publication: Publication,
    release: Release,
    publisher: str | None,
    counts: tuple[int, int],
    began: float,
    notes: tuple[str, ...] = (),
    collected: Collected | None = None,
) -> PublishReport:
    return PublishReport(
        uri=publication.uri,
        release=release.number,
        publisher=publisher,
        changed=counts[0],
        removed=counts[1],
        documents=sum(part.contents.documents for part in release.parts),
        chunks=sum(part.contents.chunks for part in release.parts),
        publishers=release.publishers,
        duration_ms=round((time.perf_counter() - began) * 1000),
        collected=collected,
        degraded=notes,
    )
