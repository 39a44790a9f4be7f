"""The indexes of a release as the cluster holds them, for reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from kebab.adapters.qdrant_published import points
from kebab.adapters.qdrant_published.server import Missing, Server
from kebab.domain.chunk_words import ChunkWords
from kebab.domain.chunks import StoredChunk
from kebab.domain.fusion import Ranked
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.publications import Release
from kebab.errors import ReadOnly
from kebab.ports import NONE_CUT, IndexShape, LexicalQuery, ModelKey, Vectors

LAYOUT = "qdrant-1"
_TIES = 64
"""Hits beyond the cut that are fetched to order equal scores by id."""
_MOST_NAMED = 1000
_MOST_COUNTED = 100_000


class _Reading:
    """What both indexes do alike."""

    def __init__(self, server: Server, collection: str, release: Release, checkpoint: int) -> None:
        self._server = server
        self._collection = collection
        self._release = release
        self._checkpoint = checkpoint

    def checkpoint(self) -> int:
        return self._checkpoint

    def chunk_ids(self) -> set[ChunkId]:
        try:
            found = self._server.scroll(self._collection, points.seen_in(self._release), ["chunk_id"])
            return {ChunkId(point["payload"]["chunk_id"]) for point in found}
        except Missing:
            return set()

    def count(self) -> int:
        return self._count(points.seen_in(self._release))

    def faults(self) -> list[str]:
        return []  # the server keeps sums of its own files

    def shape(self) -> IndexShape:
        return IndexShape()  # nothing of it lies here

    def clear(self) -> None:
        self._refuse()

    def optimize(self) -> None:
        """The server does it by itself."""

    def _count(self, where: points.Where) -> int:
        try:
            return self._server.count(self._collection, where)
        except Missing:
            return 0

    def _ranked(self, body: Mapping[str, Any], limit: int) -> list[Ranked]:
        if limit <= 0:
            return []
        asked = {**body, "limit": limit + _TIES, "with_payload": ["chunk_id"]}
        try:
            hits = self._server.query(self._collection, asked)
        except Missing:
            return []
        found = sorted((-float(hit["score"]), str(hit["payload"]["chunk_id"])) for hit in hits)
        return [Ranked(ChunkId(chunk_id), -score) for score, chunk_id in found[:limit]]

    def _refuse(self) -> NoReturn:
        raise ReadOnly(
            f"{self._server.address.uri} is only read here", hint="publish to it with: kebab publish URI"
        )


class QdrantLexicalIndex(_Reading):
    """LexicalIndex over sparse vectors: BM25 with fixed mean lengths, rarity as the server counts it."""

    def __init__(
        self, server: Server, collection: str, release: Release, *, analyzer: str, checkpoint: int
    ) -> None:
        super().__init__(server, collection, release, checkpoint)
        self.version = f"lexical:{LAYOUT}:{analyzer}"
        self._counted: dict[str, int] = {}

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        checkpoint: int,
        cut: Mapping[ChunkId, ChunkWords] = NONE_CUT,
    ) -> None:
        self._refuse()

    def search(
        self, query: LexicalQuery, *, limit: int, docs: frozenset[DocId] | None = None
    ) -> list[Ranked]:
        vector = points.query_vector(query)
        if not vector["indices"] or (docs is not None and not docs):
            return []
        where = points.seen_in(self._release, docs)
        musts, nots = points.must_hold(query)
        where = {**where, "must": [*where.get("must", []), *musts], "must_not": nots}
        return self._ranked({"query": vector, "using": "words", "filter": where}, limit)

    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        # A release does not change, and every count is a request.
        if len(self._counted) > _MOST_COUNTED:
            self._counted.clear()
        for term in dict.fromkeys(terms):
            if term not in self._counted:
                self._counted[term] = self._having(term)
        return {term: self._counted[term] for term in terms}

    def named(self, key: str, *, docs: frozenset[DocId] | None = None) -> list[ChunkId]:
        if not key:
            return []
        where = points.seen_in(self._release, docs)
        where = {**where, "must": [*where.get("must", []), points.match("called", key)]}
        try:
            found = self._server.scroll(self._collection, where, ["chunk_id"])
            return sorted(ChunkId(point["payload"]["chunk_id"]) for point in found)[:_MOST_NAMED]
        except Missing:
            return []

    def words_from(self, beginning: str) -> dict[str, int]:
        if not beginning:
            return {}
        start = beginning[: points.LONGEST_START]
        where = points.seen_in(self._release)
        where = {**where, "must": [{"key": "starts", "match": {"text": start}}]}
        found: Counter[str] = Counter()
        with self._server.or_nothing():
            for point in self._server.scroll(self._collection, where, ["words"]):
                found.update(word for word in point["payload"]["words"] if word.startswith(beginning))
        return dict(found)

    def _having(self, term: str) -> int:
        where = points.seen_in(self._release)
        held = {"key": "terms", "match": {"phrase": term}}
        return self._count({**where, "must": [held]}) if term else 0


class QdrantVectorIndex(_Reading):
    """VectorIndex over dense vectors: int8 in the server's memory, compared again in full where it counts."""

    def __init__(
        self, server: Server, collection: str, release: Release, *, model: ModelKey, checkpoint: int
    ) -> None:
        super().__init__(server, collection, release, checkpoint)
        self.model = model
        self.version = f"vector:{LAYOUT}:{model.model_id}@{model.version}:{model.dimensions}"

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        vectors: Mapping[ChunkId, Vectors],
        checkpoint: int,
    ) -> None:
        self._refuse()

    def search(self, vector: Vectors, *, limit: int, docs: frozenset[DocId] | None = None) -> list[Ranked]:
        if not vector.any() or (docs is not None and not docs):
            return []
        body = {
            "query": vector.astype(float).tolist(),
            "filter": points.seen_in(self._release, docs),
            "params": {"hnsw_ef": 128, "quantization": {"rescore": True, "oversampling": 3.0}},
        }
        return self._ranked(body, limit)
