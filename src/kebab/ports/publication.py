"""A published knowledge base: what publishers write to one address, and replicas read from it.

A replica keeps the documents in a store of its own, filled from records, so that everything that is read of
documents is the product's own code wherever they were published. Only the indexes may be the engine's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from kebab.domain.chunks import StoredChunk
    from kebab.domain.ids import DocId
    from kebab.domain.publications import Collected, Contents, Part, Release
    from kebab.ports.indexes import LexicalIndex, VectorIndex
    from kebab.ports.models import ModelKey, Vectors
    from kebab.ports.text import Analyzer


@dataclass(frozen=True, slots=True)
class Record:
    """One document as a store holds it, whole: what publishing takes out and a replica puts in."""

    doc_id: DocId
    source_id: str
    mark: str
    """Another one whenever anything of the document is, its vectors included."""
    rows: bytes
    """Its rows, packed; only stores read them."""
    vectors: bytes = b""
    """The vectors of its chunks, packed; empty where it has none."""


class RecordStore(Protocol):
    """The documents of a store as records. Two stores that hold equal records answer alike."""

    def marks(self, model: ModelKey | None) -> dict[DocId, str]:
        """The mark of every document, with its vectors of the model."""
        ...

    def records(self, doc_ids: Sequence[DocId], model: ModelKey | None) -> Iterator[Record]:
        """The documents that exist, some at a time, with their vectors of the model."""
        ...

    def put(self, records: Sequence[Record], model: ModelKey | None) -> None:
        """Store these in place of what stood at their paths, in one transaction.

        Appends to the outbox like DocumentStore. Raises Corrupt for what no store packed.
        """
        ...

    def take_revision(self, revision: int) -> None:
        """Stand at this revision: a cursor made where the records come from holds here too."""
        ...


@dataclass(frozen=True, slots=True)
class PublishedChunk:
    """A chunk with what the indexes are made of."""

    stored: StoredChunk
    terms: str
    """The analyzer's terms of its body, with spaces between them."""
    vector: Vectors | None = None
    name: str = ""
    """The analyzer's terms of what its note is called."""
    about: str = ""
    """The analyzer's terms of what is said of its note, for the chunk that opens it."""


@dataclass(frozen=True, slots=True)
class PublishedDocument:
    record: Record
    chunks: tuple[PublishedChunk, ...]


@dataclass(frozen=True, slots=True)
class Edition:
    """What a publisher puts in the place of what it published before."""

    publisher: str
    contents: Contents
    removed: Sequence[DocId]
    changed: Iterable[PublishedDocument]
    """New ones and those whose mark changed; read once, as they are written."""
    words: Path | None = None
    """The folder of a whole and closed words index of these documents, for engines that carry its files."""
    base: Part | None = None
    """What ``removed`` and ``changed`` are relative to; None at the first time."""


class Publication(Protocol):
    """One address that publishers write and replicas read.

    Every change makes a new release, in one step: readers see the one before it or all of it, also when the
    publisher is killed. Raises EngineUnavailable where the address cannot be reached or used.
    """

    @property
    def uri(self) -> str:
        """The address, without credentials."""
        ...

    def newest(self) -> Release | None:
        """None where nothing was ever published. One or two small requests: replicas ask all the time."""
        ...

    def releases(self) -> list[Release]:
        """Newest first; those that are still whole."""
        ...

    def marks(self, part: Part) -> dict[DocId, str]:
        """The documents of a part, each with its mark."""
        ...

    def records(self, part: Part, doc_ids: Sequence[DocId] | None = None) -> Iterator[Record]:
        """Those of these documents that the part has, or all of them, in no order."""
        ...

    def words(
        self, release: Release, folder: Path, analyzer: Analyzer, *, checkpoint: int
    ) -> LexicalIndex | None:
        """The words index of a release, for reading; None where a replica is to make one from the records.

        ``checkpoint`` is what it says of itself: the position of the replica's store that holds the release.
        An engine that carries files puts them into ``folder``, where those of an earlier release may lie.
        Raises EngineUnavailable where the parts were made by another analyzer.
        """
        ...

    def vectors(self, release: Release, model: ModelKey, *, checkpoint: int) -> VectorIndex | None:
        """The vector index of a release, for reading; None where a replica is to make one."""
        ...

    def publish(self, edition: Edition) -> Release:
        """Make a release in which the publisher's part is this edition.

        Raises InvalidInput where another publisher has one of its sources, Conflict where somebody else
        published under its name since ``base``.
        """
        ...

    def remove(self, publisher: str) -> Release:
        """Make a release without the publisher's part. Raises InvalidInput where it has none."""
        ...

    def roll_back(self, number: int) -> Release:
        """Make a release with the parts of an earlier one. Raises InvalidInput where that one is gone."""
        ...

    def collect(self, *, older_than: timedelta) -> Collected:
        """Remove what only releases before the newest need that were made longer ago than this."""
        ...
