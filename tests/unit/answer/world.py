"""A small knowledge base on fakes with the real analyzer and search; a model that says what it is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from kebab.answer.background import Background
from kebab.answer.converse import Conversation
from kebab.answer.extract import ExtractiveWriter
from kebab.answer.gate import Gate
from kebab.answer.generate import ModelWriter, Writer
from kebab.answer.meeting import WordSpace
from kebab.answer.pipeline import Asker
from kebab.answer.prompt import load_template
from kebab.answer.rank import Ranker
from kebab.answer.weights import load_weights
from kebab.config.sections import Gate as GateSettings
from kebab.domain.answers import Answer, AskRequest, Budget, Evidence
from kebab.domain.citations import Citation, CitationKind
from kebab.domain.documents import Metadata, TrustLevel
from kebab.domain.ids import ChunkId, DocId
from kebab.ports import EmbeddingKind
from kebab.search.analyze import Analyzer
from kebab.search.build import SearchParts, build_retriever
from kebab.search.fusion import Rrf
from kebab.search.hybrid import HybridRetriever
from kebab.search.read import Reader
from kebab.search.searcher import Searcher
from tests.fakes import (
    FakeDocumentStore,
    FakeEmbedder,
    FakeEmbeddingStore,
    FakeLexicalIndex,
    FakeVectorIndex,
)
from tests.model_fakes import FakeLanguageModel
from tests.samples import sample
from tests.store_fakes import FakeAnswerStore, FakeSourceFiles

ANALYZER = Analyzer()
DEFAULTS = GateSettings()
FITTED = load_weights()
WEIGHTS = FITTED.gate_weights
NOTES = {
    "bread.md": "Sourdough dough rises for twelve hours at 24 degrees before it goes into the oven.",
    "trip.md": "The night train to Vienna leaves Zurich at 21:40 and arrives at 07:52.",
    "rust.md": "Each value in Rust has an owner. When the owner goes out of scope, the value is dropped.",
    "cert.md": "The certificate of the mail server expires on 3 March 2027 and is renewed by certbot.",
    "전세.md": "전세 계약 갱신은 만료 2개월 전까지 집주인에게 알려야 합니다.",
    "garden.md": "Tomatoes need six hours of sun a day and water every second evening.",
}


@dataclass
class World:
    store: FakeDocumentStore = field(default_factory=FakeDocumentStore)
    answers: FakeAnswerStore = field(default_factory=FakeAnswerStore)
    embedder: FakeEmbedder | None = None
    threshold: float = DEFAULTS.threshold

    def __post_init__(self) -> None:
        self.lexical = FakeLexicalIndex(ANALYZER)
        self.embeddings = FakeEmbeddingStore(self.store)
        self.vectors = FakeVectorIndex(self.embedder.key) if self.embedder else None

    def add(self, path: str, *texts: str, trust: TrustLevel = TrustLevel.PRIMARY, lang: str = "en") -> None:
        made = sample(
            path, *texts, title=path.removesuffix(".md"), lang=lang, metadata=Metadata(trust_level=trust)
        )
        self.store.put(made.document, made.chunks, made.state)
        self.lexical.apply(removed=(), chunks=made.stored(), checkpoint=self.store.latest())
        if self.embedder and self.vectors:
            keys = [stored.content_key for stored in made.stored()]
            rows = self.embedder.embed(
                [stored.chunk.text for stored in made.stored()], EmbeddingKind.DOCUMENT
            )
            self.embeddings.put_vectors(self.embedder.key, keys, rows)
            by_id = {stored.chunk.chunk_id: row for stored, row in zip(made.stored(), rows, strict=True)}
            self.vectors.apply(
                removed=(), chunks=made.stored(), vectors=by_id, checkpoint=self.store.latest()
            )

    def retriever(self) -> HybridRetriever:
        vectors = (self.embedder, self.vectors) if self.embedder and self.vectors else None
        parts = SearchParts(
            store=self.store,
            embeddings=self.embeddings,
            files=FakeSourceFiles(),
            analyzer=ANALYZER,
            lexical=self.lexical,
            vectors=vectors,
        )
        return build_retriever(parts, fusion=Rrf())

    def searcher(self) -> Searcher:
        reader = Reader(self.store, self.embeddings, FakeSourceFiles())
        return Searcher(retriever=self.retriever(), reader=reader, policies={})

    def gate(self) -> Gate:
        background = Background(self.embedder, self.vectors) if self.embedder and self.vectors else None
        return Gate(
            ANALYZER,
            self.lexical,
            WEIGHTS,
            self.threshold,
            background,
            self.space,
            DEFAULTS.keyword_threshold,
        )

    @property
    def space(self) -> WordSpace:
        return WordSpace(self.embedder)

    def ranker(self) -> Ranker:
        return Ranker(ANALYZER, self.space, FITTED.selection)

    def asker(
        self, model: FakeLanguageModel | None = None, *, keeps: bool = True, writer: Writer | None = None
    ) -> Asker:
        gate = self.gate()
        if model is not None:
            writer = ModelWriter(model, load_template())
        writer = writer or ExtractiveWriter()
        return Asker(
            searcher=self.searcher(),
            store=self.store,
            analyzer=ANALYZER,
            gate=gate,
            ranker=self.ranker(),
            writer=writer,
            answers=self.answers,
            conversation=Conversation(ANALYZER, model),
            budget=Budget(2000, 1024, 60.0) if model else Budget(2000),
            keeps=keeps,
            now=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        )

    def ask(self, question: str, model: FakeLanguageModel | None = None) -> Answer:
        return self.asker(model).ask(AskRequest(question))


def notes(**changes: object) -> World:
    """A world of a few everyday notes."""
    world = World(**changes)  # type: ignore[arg-type]
    for path, text in NOTES.items():
        world.add(path, text, lang="ko" if path.startswith("전세") else "en")
    return world


def evidence(*texts: str, lang: str = "en", path: str = "note.md") -> tuple[Evidence, ...]:
    """Packed evidence of these texts, marked from 1."""
    return tuple(
        Evidence(
            marker=n,
            chunk_id=ChunkId(f"c{n}"),
            doc_id=DocId(f"d{n}"),
            doc_path=path,
            title="Note",
            heading_path=("Note",),
            citation=Citation(CitationKind.LINE, path, 10 * n, 10 * n + text.count("\n")),
            source_id="default",
            trust_level="primary",
            lang=lang,
            text=text,
            tokens=10,
        )
        for n, text in enumerate(texts, start=1)
    )
