"""Ingest on the real stores and indexes: what is edited or deleted is gone from all of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from kebab.adapters.lance_vector import LanceVectorIndex
from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.document_store import SqliteDocumentStore
from kebab.adapters.sqlite.embedding_store import SqliteEmbeddingStore
from kebab.adapters.sqlite.ledger import SqliteLedger
from kebab.adapters.tantivy_lexical import TantivyLexicalIndex
from kebab.domain.chunks import embedding_input
from kebab.errors import ModelUnavailable
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.limits import IngestLimits
from kebab.ingest.pipeline import IngestPipeline
from kebab.ingest.scan import SourceFolder
from kebab.ports import EmbeddingKind, LexicalQuery, Vectors
from kebab.search.analyze import Analyzer
from tests.fakes import FakeEmbedder


@dataclass
class Engines:
    root: Path
    store: SqliteDocumentStore
    lexical: TantivyLexicalIndex
    vectors: LanceVectorIndex
    pipeline: IngestPipeline

    def write(self, name: str, text: str) -> Path:
        file = self.root / name
        file.write_text(text, encoding="utf-8")
        return file

    def found(self, word: str) -> set[str]:
        terms = tuple(Analyzer().query_terms(word))
        hits = self.lexical.search(LexicalQuery(terms), limit=1000)
        stored = self.store.hydrate([hit.id for hit in hits])  # type: ignore[misc]
        assert len(stored) == len(hits)
        return {chunk.path for chunk in stored.values()}

    def assert_in_step(self) -> None:
        """Store, words index and vector index hold the same chunks."""
        chunks = {stored.chunk.chunk_id for stored in self.store.stored_chunks()}
        assert self.lexical.chunk_ids() == chunks
        assert self.vectors.chunk_ids() == chunks


@pytest.fixture
def engines(tmp_path: Path) -> Engines:
    root, data = tmp_path / "notes", tmp_path / "data"
    root.mkdir()
    database = Database(data / "kebab.sqlite")
    store, embedder = SqliteDocumentStore(database), FakeEmbedder()
    lexical = TantivyLexicalIndex(data / "words", Analyzer())
    vectors = LanceVectorIndex(data / "vectors", embedder.key)
    pipeline = IngestPipeline(
        sources=(SourceFolder("notes", root),),
        inbox=data / "inbox",
        policy=ChunkPolicy(),
        limits=IngestLimits(workers=1),
        store=store,
        embeddings=SqliteEmbeddingStore(database),
        ledger=SqliteLedger(database),
        lexical=lexical,
        make_analyzer=Analyzer,
        embedder=embedder,
        vectors=vectors,
    )
    return Engines(root, store, lexical, vectors, pipeline)


def test_edits_and_deletions_reach_every_index(engines: Engines) -> None:
    engines.write("a.md", "# 소유권\n\n이전 규칙은 지워진다\n")
    gone = engines.write("b.md", "# Borrowing\n\nreferences\n")
    engines.write("c.txt", "lifetimes\n")
    engines.pipeline.run()
    engines.assert_in_step()
    assert engines.found("references") == {"b.md"}
    engines.write("a.md", "# 소유권\n\n새로운 문장\n")
    gone.unlink()
    engines.pipeline.run()
    engines.assert_in_step()
    assert engines.found("이전") == set()
    assert engines.found("문장") == {"a.md"}
    assert engines.found("references") == set()


def test_a_second_run_over_unchanged_files_changes_nothing(engines: Engines) -> None:
    engines.write("a.md", "apple")
    engines.pipeline.run()
    before = engines.store.revision(), engines.store.latest(), engines.lexical.checkpoint()
    report = engines.pipeline.run()
    assert (report.run.unchanged, report.run.indexed, report.run.embedded) == (1, 0, 0)
    assert (engines.store.revision(), engines.store.latest(), engines.lexical.checkpoint()) == before


def test_cleared_indexes_are_built_again_by_the_next_run(engines: Engines) -> None:
    engines.write("a.md", "apple")
    engines.write("b.md", "banana")
    engines.pipeline.run()
    engines.lexical.clear()
    engines.vectors.clear()
    engines.pipeline.run()
    engines.assert_in_step()
    assert engines.found("banana") == {"b.md"}


def test_many_files_go_through_worker_processes_and_are_all_found(engines: Engines) -> None:
    for n in range(230):
        engines.write(f"{n}.md", f"# Note {n}\n\nunique{n} 문서{n}번\n")
    report = engines.pipeline.run()
    assert report.run.indexed == 230
    engines.assert_in_step()
    assert engines.found("unique117") == {"117.md"}
    assert engines.pipeline.ledger.runs(1) == [report.run]


@pytest.mark.parametrize("embed_apart", [False, True])
def test_both_indexes_follow_piece_by_piece_while_the_run_goes_on(
    engines: Engines, monkeypatch: pytest.MonkeyPatch, embed_apart: bool
) -> None:
    monkeypatch.setattr("kebab.ingest.storing.CHUNKS_A_CATCH_UP", 50)
    monkeypatch.setattr("kebab.ingest.workers._BATCH_FILES", 16)
    for n in range(230):
        engines.write(f"{n}.md", f"# Note {n}\n\nunique{n}\n\n## More\n\nmore{n}\n")
    report = replace(engines.pipeline, embed_apart=embed_apart).run()
    assert (report.run.indexed, report.run.embedded, report.degraded) == (230, 460, ())
    engines.assert_in_step()
    assert engines.found("unique117") == engines.found("more117") == {"117.md"}


class Elsewhere(FakeEmbedder):
    """Notes in which process it was asked: each one leaves a file named by its number."""

    def __init__(self, folder: Path, *, breaks_apart: bool = False) -> None:
        super().__init__()
        self.folder, self.home, self.breaks_apart = folder, os.getpid(), breaks_apart

    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> Vectors:
        (self.folder / str(os.getpid())).touch()
        if self.breaks_apart and os.getpid() != self.home:
            raise ModelUnavailable("not here")
        return super().embed(texts, kind)


@pytest.mark.parametrize("breaks_apart", [False, True])
def test_a_light_model_embeds_in_the_worker_processes_and_here_when_they_cannot(
    engines: Engines, tmp_path: Path, breaks_apart: bool
) -> None:
    asked = tmp_path / "asked"
    asked.mkdir()
    embedder = Elsewhere(asked, breaks_apart=breaks_apart)
    pipeline = replace(engines.pipeline, embedder=embedder, embed_apart=True)
    for n in range(230):
        engines.write(f"{n}.md", f"# Note {n}\n\nunique{n}\n")
    report = pipeline.run()
    assert (report.run.embedded, report.degraded) == (230, ())
    engines.assert_in_step()
    processes = {int(file.name) for file in asked.iterdir()}
    assert (os.getpid() in processes) == breaks_apart
    assert processes - {os.getpid()}
    assert pipeline.run().run.embedded == 0


def test_moved_files_are_embedded_in_the_worker_processes_but_have_no_new_vectors(
    engines: Engines, tmp_path: Path
) -> None:
    pipeline = replace(engines.pipeline, embed_apart=True)
    for n in range(230):
        engines.write(f"{n}.md", f"# Note\n\nunique{n} {'twice' if n > 200 else ''}\n")
    engines.write("copy.md", "# Note\n\nunique7 \n")
    assert pipeline.run().run.embedded == 230
    engines.root.rename(tmp_path / "before")
    (engines.root / "moved").mkdir(parents=True)
    for file in (tmp_path / "before").iterdir():
        file.rename(engines.root / "moved" / file.name)
    report = pipeline.run(allow_mass_delete=True)
    assert (report.run.indexed, report.run.embedded) == (231, 0)
    engines.assert_in_step()
    stored = list(engines.store.stored_chunks())
    held = pipeline.embeddings.vectors(FakeEmbedder().key, [one.content_key for one in stored])
    texts = [embedding_input(title=one.title, heading_path=("Note",), text=one.chunk.text) for one in stored]
    rows = FakeEmbedder().embed(texts, EmbeddingKind.DOCUMENT)
    assert all(np.array_equal(held[one.content_key], row) for one, row in zip(stored, rows, strict=True))


def test_after_a_change_of_model_the_workers_embed_though_no_file_is_read(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kebab.ingest.pipeline.MANY_MISSING", 3)
    asked = tmp_path / "asked"
    asked.mkdir()
    for n in range(3):
        engines.write(f"{n}.md", f"# Note {n}\n\nunique{n}\n")
    replace(engines.pipeline, embedder=None, vectors=None).run()
    report = replace(engines.pipeline, embedder=Elsewhere(asked), embed_apart=True).run()
    assert (report.run.indexed, report.run.unchanged, report.run.embedded) == (0, 3, 3)
    engines.assert_in_step()
    assert str(os.getpid()) not in {file.name for file in asked.iterdir()}
