"""A replica: the newest release of a publication, in a folder of this computer that can be lost.

Each release has a folder of its own, a knowledge base like any other, made beside the one before it from what
differs, and given its name when it is whole. Whoever searches one goes on while the next is made.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar

from kebab.disk.data_folder import DataFolder
from kebab.disk.named_files import storing
from kebab.disk.private import make_folder
from kebab.disk.scratch import scratch_folder
from kebab.domain.ids import DocId
from kebab.domain.layout import DataLayout
from kebab.domain.publications import Part, Release
from kebab.domain.queries import SearchFilters
from kebab.domain.turns import Waiting, unheard
from kebab.errors import Corrupt, EngineUnavailable, Locked, NotIndexed
from kebab.ingest.catch_up import catch_up_lexical, catch_up_vector
from kebab.ports import Analyzer, Indexes, ModelKey, Publication, RecordStore, StoreAccess, Stores
from kebab.upkeep.cache import NOTE, Held, ReplicaCache, write_note

_ATTEMPTS = 5
_RECORDS_AT_ONCE = 200
_BYTES_A_CHUNK = {"int8": 8000, "lance": 13000}
"""What a chunk needs in the cache while the next release is made, by the engine of its vectors."""
_TOLD_EVERY_S = 5.0

T = TypeVar("T")


class Base(StoreAccess, Indexes, Protocol):
    """A knowledge base in some folder, with the engines of this computer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """Keeps the newest release of one publication in a folder. Several processes may share it."""

    publication: Publication
    cache: ReplicaCache
    analyzer: Analyzer
    base: Callable[[Path, Release], Base]
    """Opens the knowledge base in a folder that is to hold a release."""
    records: Callable[[Stores], RecordStore]
    locked: Callable[[Path, bool], AbstractContextManager[None]]
    """Keeps other processes from making a release in the same folder; the flag says whether to wait for one
    that does. Raises Locked."""
    waiting: Waiting = unheard
    """Hears what is fetched: the first time may take minutes."""

    def follow(self) -> Held:
        """Bring the newest release here, from what differs. Raises NotIndexed where nothing is published.

        Where a release is collected while it is read, the next one is taken.
        """
        self.cache.used()
        for attempt in range(_ATTEMPTS):
            release = self.publication.newest()
            if release is None:
                uri = self.publication.uri
                raise NotIndexed(f"nothing is published at {uri}", hint=f"run: kebab publish {uri}")
            held = self.cache.holding(release)
            if held is not None:
                return held
            try:
                return self._brought(release)
            except (Corrupt, EngineUnavailable):
                newer = self.publication.newest()
                if attempt + 1 == _ATTEMPTS or newer is None or newer.number == release.number:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _brought(self, release: Release) -> Held:
        DataFolder(self.cache.folder).prepare()
        older = self.cache.newest()
        try:
            # Where another process is at it, what there is will do meanwhile.
            with self.locked(self.cache.lock, older is None):
                return self.cache.holding(release) or self._placed(release)
        except Locked:
            if older is None:
                raise
            return older

    def _placed(self, release: Release) -> Held:
        self.cache.make_room(_room(release), what=f"{self.publication.uri}: {_told(release)}")
        if self.cache.newest() is None:
            self.waiting(f"fetching release {release.number} of {self.publication.uri}: {_told(release)}")
        with storing(self.cache.folder), scratch_folder(self.cache.folder, "release") as scratch:
            return self.cache.put(self._made(release, scratch / "base"))

    def _made(self, release: Release, folder: Path) -> Held:
        before = self.cache.newest()
        make_folder(folder)
        if before is not None:
            _copy(before.folder, folder)
        base = self.base(folder, release)
        try:
            with base.writing("follow") as stores:
                self._fill(stores, release, before.release if before else None)
                checkpoint = self._index(base, stores, release, folder)
        finally:
            base.close()
        made = Held(release, folder, checkpoint, before.serial + 1 if before else 1)
        write_note(made, self.publication.uri)
        return made

    def _fill(self, stores: Stores, release: Release, before: Release | None) -> None:
        """Let the store hold the documents of the release, from what differs. Raises Corrupt."""
        sources = {source for part in release.parts for source in part.contents.sources}
        left = set(stores.documents.source_counts()) - sources
        stores.documents.remove(sorted(_documents_of(stores, left)))
        for part in release.parts:
            if before is None or before.part(part.publisher) != part:
                self._take(stores, part)
        told = [(part.contents.documents, part.contents.chunks) for part in release.parts]
        if stores.documents.counts() != (sum(docs for docs, _ in told), sum(chunks for _, chunks in told)):
            raise Corrupt(f"release {release.number} of {self.publication.uri} is not whole")
        self.records(stores).take_revision(sum(part.contents.revision for part in release.parts))

    def _take(self, stores: Stores, part: Part) -> None:
        """Let the store hold what a part has of its sources."""
        records, model = self.records(stores), _model(part)
        remote, local = self.publication.marks(part), records.marks(model)
        gone = _documents_of(stores, set(part.contents.sources)) - set(remote)
        stores.documents.remove(sorted(gone))
        wanted = [doc_id for doc_id, mark in remote.items() if local.get(doc_id) != mark]
        everything = len(wanted) == len(remote)
        arriving = self.publication.records(part, None if everything else wanted)
        done, told_at = 0, time.monotonic()
        for some in _some(arriving, _RECORDS_AT_ONCE):
            records.put(some, model)
            done += len(some)
            if time.monotonic() - told_at >= _TOLD_EVERY_S:
                told_at = time.monotonic()
                self.waiting(f"fetched {done:,} of {len(wanted):,} documents of {part.publisher}")

    def _index(self, indexes: Indexes, stores: Stores, release: Release, folder: Path) -> int:
        """Bring or make the indexes; returns the position that they stand at."""
        checkpoint = stores.documents.latest()
        layout = DataLayout(folder)
        if self.publication.words(release, layout.index, self.analyzer, checkpoint=checkpoint) is None:
            catch_up_lexical(stores.documents, indexes.lexical_index)
        for model in sorted({model for part in release.parts if (model := _model(part))}, key=str):
            if self.publication.vectors(release, model, checkpoint=checkpoint) is None:
                index = indexes.vector_index(model)
                catch_up_vector(stores.documents, stores.embeddings, index)
                index.optimize()
        stores.documents.prune_outbox(checkpoint)
        return checkpoint


def _room(release: Release) -> int:
    """Bytes that the release needs here, beside the one that it is made of."""
    return sum(part.contents.chunks * _BYTES_A_CHUNK[vector_engine(part)] for part in release.parts)


def vector_engine(part: Part) -> str:
    """What compares its vectors, where it was published and here."""
    return "lance" if part.contents.vector.startswith("vector:lance") else "int8"


def _told(release: Release) -> str:
    documents = sum(part.contents.documents for part in release.parts)
    chunks = sum(part.contents.chunks for part in release.parts)
    return f"{documents:,} documents, {chunks:,} chunks"


def _documents_of(stores: Stores, sources: set[str]) -> set[DocId]:
    if not sources:
        return set()
    return set(stores.documents.matching(SearchFilters(source=tuple(sorted(sources)))) or ())


def _model(part: Part) -> ModelKey | None:
    return ModelKey(*part.contents.model) if part.contents.model else None


def _copy(before: Path, folder: Path) -> None:
    """The knowledge base of an earlier release, to be changed: what is written once is linked."""
    for path in sorted(before.rglob("*")):
        target = folder / path.relative_to(before)
        if path.is_dir():
            make_folder(target)
        elif path.name.startswith(".") or path.name == NOTE:
            continue
        elif path.suffix in (".sqlite", ".json") or "-" in path.suffix:
            shutil.copyfile(path, target)
        else:
            _link(path, target)


def _link(path: Path, target: Path) -> None:
    try:
        os.link(path, target)
    except OSError:
        with suppress(FileNotFoundError):
            shutil.copyfile(path, target)


def _some(items: Iterator[T], count: int) -> Iterator[Sequence[T]]:
    while taken := list(islice(items, count)):
        yield taken
