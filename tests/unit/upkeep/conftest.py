"""A knowledge base of stand-ins, with everything up to date."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

import pytest

from kebab.domain.reports import Check, CheckStatus
from kebab.ports import ModelKey
from kebab.upkeep.doctor import Doctor
from kebab.upkeep.index import Indexer
from tests.fakes import (
    FakeAnalyzer,
    FakeDocumentStore,
    FakeEmbedder,
    FakeEmbeddingStore,
    FakeLedger,
    FakeLexicalIndex,
    FakeVectorIndex,
)
from tests.samples import sample
from tests.store_fakes import FakeStoreFile


@dataclass
class Ward:
    """The parts, so that a test can spoil one of them."""

    store: FakeDocumentStore
    embeddings: FakeEmbeddingStore
    ledger: FakeLedger
    lexical: FakeLexicalIndex
    embedder: FakeEmbedder
    vectors: FakeVectorIndex

    @property
    def model(self) -> ModelKey:
        return self.embedder.key

    def put(self, path: str, *texts: str) -> None:
        made = sample(path, *texts, title=path)
        self.store.put(made.document, made.chunks, made.state)

    def indexer(self, **changes: Any) -> Indexer:
        made = Indexer(
            store=self.store,
            embeddings=self.embeddings,
            lexical=self.lexical,
            embedder=self.embedder,
            vectors=self.vectors,
        )
        return replace(made, **changes)

    def doctor(self, *faults: str, **changes: Any) -> Doctor:
        made = Doctor(
            file=FakeStoreFile(*faults),
            store=self.store,
            embeddings=self.embeddings,
            ledger=self.ledger,
            analyzer=FakeAnalyzer(),
            indexer=self.indexer(),
            rng=random.Random(3),
        )
        return replace(made, **changes)


@pytest.fixture
def ward() -> Ward:
    store, embedder = FakeDocumentStore(), FakeEmbedder()
    made = Ward(
        store,
        FakeEmbeddingStore(store),
        FakeLedger(),
        FakeLexicalIndex(FakeAnalyzer()),
        embedder,
        FakeVectorIndex(embedder.key),
    )
    for number in range(6):
        made.put(f"n{number}.md", f"rope of ship{number}", f"anchor {number} holds")
    made.indexer().run()
    return made


def states(checks: list[Check]) -> dict[str, CheckStatus]:
    """What is not well, by name."""
    return {check.name: check.status for check in checks if check.status is not CheckStatus.OK}
