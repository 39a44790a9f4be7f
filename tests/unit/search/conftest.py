"""A small knowledge base on fakes, searched through the real room."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from kebab.domain.chunks import Chunk
from kebab.domain.documents import Document, LineSpan, Media, Metadata
from kebab.domain.ids import asset_id, chunk_id, doc_id
from kebab.domain.ingests import FileState
from kebab.domain.tokens import estimate_tokens
from kebab.ports import Analyzer, Vocabulary
from kebab.search.build import SearchParts, build_retriever
from kebab.search.fusion import FusionPolicy, Rrf
from kebab.search.hybrid import HybridRetriever
from kebab.search.lexical import LexicalRetriever
from kebab.search.present import Presenter
from kebab.search.vector import VectorRetriever
from tests.fakes import (
    FakeAnalyzer,
    FakeDocumentStore,
    FakeEmbedder,
    FakeEmbeddingStore,
    FakeLexicalIndex,
    FakePatternMatcher,
    FakeVectorIndex,
)
from tests.store_fakes import FakeSourceFiles


@dataclass
class Shelf:
    """Documents of one chunk for each paragraph, put into store and both indexes."""

    analyzer: Analyzer = field(default_factory=FakeAnalyzer)
    store: FakeDocumentStore = field(default_factory=FakeDocumentStore)
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)
    files: FakeSourceFiles = field(default_factory=FakeSourceFiles)
    vocabulary: Vocabulary | None = None

    def __post_init__(self) -> None:
        self.embeddings = FakeEmbeddingStore(self.store)
        self.lexical_index = FakeLexicalIndex(self.analyzer)
        self.vector_index = FakeVectorIndex(self.embedder.key)

    def add(
        self, path: str, *paragraphs: str, metadata: Metadata | None = None, lang: str = "en"
    ) -> Document:
        document = _document(path, paragraphs, metadata or Metadata(), lang)
        chunks = [_chunk(document, n, text) for n, text in enumerate(paragraphs)]
        state = FileState(path, 1, 1, document.asset_id, document.doc_id, "fp")
        self.store.put(document, chunks, state)
        self.catch_up()
        return document

    def catch_up(self) -> None:
        key = self.embedder.key
        while missing := self.embeddings.missing(key, limit=100):
            from kebab.ports import EmbeddingKind

            vectors = self.embedder.embed(list(missing.values()), EmbeddingKind.DOCUMENT)
            self.embeddings.put_vectors(key, list(missing), vectors)
        while pending := self.store.pending(self.lexical_index.checkpoint()):
            chunks = list(self.store.stored_chunks(pending.changed))
            self.lexical_index.apply(removed=pending.removed, chunks=chunks, checkpoint=pending.upto)
        while pending := self.store.pending(self.vector_index.checkpoint(), model=key):
            chunks = list(self.store.stored_chunks(pending.changed))
            cached = self.embeddings.vectors(key, [c.content_key for c in chunks])
            found = {c.chunk.chunk_id: cached[c.content_key] for c in chunks}
            self.vector_index.apply(
                removed=pending.removed, chunks=chunks, vectors=found, checkpoint=pending.upto
            )

    def parts(self) -> SearchParts:
        return SearchParts(
            store=self.store,
            embeddings=self.embeddings,
            files=self.files,
            analyzer=self.analyzer,
            lexical=self.lexical_index,
            matcher=FakePatternMatcher(),
            vocabulary=self.vocabulary,
            vectors=(self.embedder, self.vector_index),
        )

    def hybrid(self, fusion: FusionPolicy | None = None, *, candidates: int = 100) -> HybridRetriever:
        return build_retriever(self.parts(), fusion=fusion or Rrf(), candidates=candidates)

    def presenter(self) -> Presenter:
        return self.hybrid().presenter

    def lexical(self) -> LexicalRetriever:
        leg = self.hybrid().lexical
        assert isinstance(leg, LexicalRetriever)
        return leg

    def vector(self) -> VectorRetriever:
        leg = self.hybrid().vector
        assert isinstance(leg, VectorRetriever)
        return leg


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def _document(path: str, paragraphs: tuple[str, ...], metadata: Metadata, lang: str) -> Document:
    text = "\n\n".join(paragraphs)
    asset = asset_id(text)
    return Document(
        doc_id=doc_id(source_id="default", path=path, asset=asset, parser_version="test"),
        source_id="default",
        path=path,
        asset_id=asset,
        title=path,
        lang=lang,
        media=Media.MARKDOWN,
        parser_version="test",
        metadata=metadata,
        text=text,
    )


def _chunk(document: Document, n: int, text: str) -> Chunk:
    return Chunk(
        chunk_id=chunk_id(document.doc_id, chunker_version="test", policy_hash="p", block_ids=(), part=n),
        doc_id=document.doc_id,
        ordinal=n,
        text=text,
        heading_path=(),
        spans=(LineSpan(2 * n + 1, 2 * n + 1),),
        block_ids=(),
        part=n,
        token_estimate=estimate_tokens(text),
        chunker_version="test",
        policy_hash="p",
    )
