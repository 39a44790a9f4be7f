"""Indexes over the chunks: derived from the stores, deleted and built again at any time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from kebab.domain.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from kebab.domain.chunk_words import ChunkWords
    from kebab.domain.chunks import StoredChunk
    from kebab.domain.fusion import Ranked
    from kebab.domain.ids import ChunkId, DocId
    from kebab.ports.models import ModelKey, Vectors


@dataclass(frozen=True, slots=True)
class FieldWeights:
    """What a term counts beside the body, where it also stands in another field; measured, see quality.md."""

    name: float = 0.4
    """In the note's title, aliases or file name."""
    about: float = 0.2
    """In its folders, tags or summary; the chunk that opens the note has them."""
    exact: float = 0.3
    """As it was typed, and not only by its stem."""


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """Terms as the analyzer gave them. A hit meets at least one term, every phrase and no excluded one."""

    terms: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()
    """Each a word of one or several terms; a chunk that holds all of them in a row is left out."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """What a term counts; 1 where nothing is said. An engine that cannot weigh counts all alike."""
    words: tuple[str, ...] = ()
    """Words as they are written (``plain_words``): a chunk that holds one so is better than by its stem."""
    required: tuple[str, ...] = ()
    """Words as they are written, each of which every hit holds."""
    fields: FieldWeights = field(default_factory=lambda: FieldWeights())


NONE_CUT: Mapping[ChunkId, ChunkWords] = {}


@dataclass(frozen=True, slots=True)
class IndexShape:
    """How an index lies on disk: many pieces, or much that is gone, make a search slower than need be."""

    pieces: int = 0
    """Files, or groups of files, that a search asks one after the other; 0 where nothing was built."""
    removed: int = 0
    """Rows that are gone and still lie in the files."""
    outside: int = 0
    """Rows that a search reads one by one, because what makes it fast does not know them yet."""
    byte_len: int = 0


class LexicalIndex(Protocol):
    """BM25 over analysed chunks. Applying the same change twice is applying it once."""

    @property
    def version(self) -> str:
        """Engine, layout and analyzer, such as ``lexical:tantivy-3:words-bigrams-v3``."""
        ...

    def checkpoint(self) -> int:
        """The outbox position up to which everything is searchable; 0 for a new index."""
        ...

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        checkpoint: int,
        cut: Mapping[ChunkId, ChunkWords] = NONE_CUT,
    ) -> None:
        """Drop these documents' chunks, add these chunks, then record the position; searchable on return.

        ``cut`` holds the words of some of the chunks, as a ``ChunkCutter`` with the index's analyzer makes
        them, where they are known already.
        """
        ...

    def search(
        self, query: LexicalQuery, *, limit: int, docs: frozenset[DocId] | None = None
    ) -> list[Ranked]:
        """Chunk ids by BM25, best first, ties by id. Only chunks that match something; maybe none."""
        ...

    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many chunks each term stands; 0 for an unknown one."""
        ...

    def named(self, key: str, *, docs: frozenset[DocId] | None = None) -> list[ChunkId]:
        """The chunks that open the notes of this name (``name_key``), by id; some where there are many."""
        ...

    def words_from(self, beginning: str) -> dict[str, int]:
        """The words, as they are written, that begin so, each with the number of chunks that hold it."""
        ...

    def chunk_ids(self) -> set[ChunkId]:
        """All of them, for the doctor."""
        ...

    def count(self) -> int: ...

    def faults(self) -> list[str]:
        """What is wrong with the files that searches read, in words; empty when each is as it was written.

        Reads every byte of them. Says nothing of an index at checkpoint 0.
        """
        ...

    def shape(self) -> IndexShape:
        """How it lies on disk, looked at without reading its rows."""
        ...

    def clear(self) -> None:
        """Back to an empty index at checkpoint 0."""
        ...


class VectorIndex(Protocol):
    """Nearest neighbours by cosine over one model's vectors; otherwise like LexicalIndex."""

    @property
    def version(self) -> str:
        """Engine, layout, model and dimensions."""
        ...

    @property
    def model(self) -> ModelKey: ...

    def checkpoint(self) -> int: ...

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        vectors: Mapping[ChunkId, Vectors],
        checkpoint: int,
    ) -> None:
        """Like LexicalIndex.apply; a chunk without a vector is left out."""
        ...

    def search(self, vector: Vectors, *, limit: int, docs: frozenset[DocId] | None = None) -> list[Ranked]:
        """Chunk ids by cosine, best first, ties by id. A query of length 0 finds nothing."""
        ...

    def optimize(self) -> None:
        """Compact the files and build or refresh the approximate index where the size pays for it."""
        ...

    def chunk_ids(self) -> set[ChunkId]: ...

    def count(self) -> int: ...

    def faults(self) -> list[str]: ...

    def shape(self) -> IndexShape: ...

    def clear(self) -> None: ...


class Indexes(Protocol):
    """The indexes that the settings choose."""

    @property
    def lexical_index(self) -> LexicalIndex: ...

    def vector_index(self, model: ModelKey) -> VectorIndex: ...

    def other_vector_files(self, models: Sequence[ModelKey]) -> list[Path]:
        """The files of the vector indexes of all models but these."""
        ...
