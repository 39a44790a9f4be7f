"""The words index inside walls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kebab.adapters.walled.documents import WalledDocumentStore
from kebab.domain.chunk_words import ChunkWords
from kebab.domain.chunks import StoredChunk
from kebab.domain.fusion import Ranked
from kebab.domain.ids import ChunkId, DocId
from kebab.errors import OutsideWalls
from kebab.ports import NONE_CUT, IndexShape, LexicalIndex, LexicalQuery


class WalledLexicalIndex:
    """LexicalIndex for reading. A word that stands only outside is unknown here.

    How many chunks hold a word that stands inside is told of all of them: it weighs words and is shown to
    nobody.
    """

    def __init__(self, inner: LexicalIndex, documents: WalledDocumentStore) -> None:
        self._inner = inner
        self._documents = documents

    @property
    def version(self) -> str:
        return self._inner.version

    def checkpoint(self) -> int:
        return self._inner.checkpoint()

    def search(
        self, query: LexicalQuery, *, limit: int, docs: frozenset[DocId] | None = None
    ) -> list[Ranked]:
        return self._inner.search(query, limit=limit, docs=self._bound(docs))

    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        inside = self._documents.inside()
        counts = self._inner.document_frequencies(terms)
        return {
            term: count if count and self._inner.search(LexicalQuery((term,)), limit=1, docs=inside) else 0
            for term, count in counts.items()
        }

    def named(self, key: str, *, docs: frozenset[DocId] | None = None) -> list[ChunkId]:
        return self._inner.named(key, docs=self._bound(docs))

    def words_from(self, beginning: str) -> dict[str, int]:
        """Those of all documents: who proposes one first looks whether a document in sight holds it."""
        return self._inner.words_from(beginning)

    def count(self) -> int:
        return self._documents.counts()[1]

    def chunk_ids(self) -> set[ChunkId]:
        return self._documents.chunk_ids()

    def faults(self) -> list[str]:
        return self._inner.faults()

    def shape(self) -> IndexShape:
        return self._inner.shape()

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        checkpoint: int,
        cut: Mapping[ChunkId, ChunkWords] = NONE_CUT,
    ) -> None:
        raise OutsideWalls("the words index is read inside walls, not written")

    def clear(self) -> None:
        raise OutsideWalls("the words index is read inside walls, not written")

    def _bound(self, docs: frozenset[DocId] | None) -> frozenset[DocId]:
        return self._documents.inside() if docs is None else docs
