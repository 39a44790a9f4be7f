"""Derived data follows the store: after a crash, after a clear, after the outbox was pruned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kebab.domain.chunk_words import ChunkWords
from kebab.errors import ModelUnavailable
from kebab.ingest.catch_up import catch_up_lexical, catch_up_vector, embed_missing, prune
from kebab.ingest.fresh import Fresh
from kebab.ingest.prepare import Prepared
from kebab.ports import EmbeddingKind, Vectors
from tests.fakes import (
    FakeDocumentStore,
    FakeEmbedder,
    FakeEmbeddingStore,
    FakeLexicalIndex,
    FakeVectorIndex,
)
from tests.unit.ingest.building import prepared


def put(store: FakeDocumentStore, folder: Path, name: str, text: str) -> Prepared:
    result = prepared(folder, name, text.encode())
    assert isinstance(result, Prepared)
    store.put(result.document, result.chunks, result.state)
    return result


def ids(store: FakeDocumentStore) -> set[str]:
    return {stored.chunk.chunk_id for stored in store.stored_chunks()}


@pytest.fixture
def store(tmp_path: Path) -> FakeDocumentStore:
    made = FakeDocumentStore()
    for n in range(5):
        put(made, tmp_path, f"{n}.md", f"# Note {n}\n\ntext\n")
    return made


def test_an_index_applies_only_what_it_lacks(store: FakeDocumentStore, tmp_path: Path) -> None:
    index = FakeLexicalIndex()
    assert catch_up_lexical(store, index) == 5
    assert catch_up_lexical(store, index) == 0
    put(store, tmp_path, "0.md", "# Changed\n")
    batches: list[int] = []
    assert catch_up_lexical(store, index, applied=batches.append) == 1
    assert batches == [1]
    assert index.chunk_ids() == ids(store)


def test_an_index_that_stands_before_the_pruned_outbox_is_built_anew(store: FakeDocumentStore) -> None:
    index = FakeLexicalIndex()
    catch_up_lexical(store, index)
    store.remove([stored.chunk.doc_id for stored in store.stored_chunks()][:1])
    store.prune_outbox(store.latest())
    assert catch_up_lexical(store, index) == 4
    assert index.chunk_ids() == ids(store)
    assert index.checkpoint() == store.latest()


class Killed(Exception):
    pass


class DyingIndex(FakeLexicalIndex):
    """Dies after a batch was applied, before the next."""

    lives = 1

    def apply(self, **change: Any) -> None:
        if not self.lives:
            raise Killed
        self.lives -= 1
        super().apply(**change)


def test_a_rebuild_that_was_killed_is_begun_again(store: FakeDocumentStore) -> None:
    index = DyingIndex()
    with pytest.raises(Killed):
        catch_up_lexical(store, index)
    assert (index.count(), index.checkpoint()) == (5, 0)
    index.lives = 100
    catch_up_lexical(store, index)
    assert index.chunk_ids() == ids(store)
    assert index.checkpoint() == store.latest()


def test_only_what_every_index_applied_is_forgotten(store: FakeDocumentStore, tmp_path: Path) -> None:
    ahead, behind = FakeLexicalIndex(), FakeLexicalIndex()
    catch_up_lexical(store, behind)
    put(store, tmp_path, "new.md", "new")
    catch_up_lexical(store, ahead)
    prune(store, [ahead, behind])
    assert store.oldest() == behind.checkpoint() < ahead.checkpoint()
    assert catch_up_lexical(store, behind) == 1


def test_vectors_reach_their_index_once_they_exist(store: FakeDocumentStore) -> None:
    embedder = FakeEmbedder()
    embeddings, index = FakeEmbeddingStore(store), FakeVectorIndex(embedder.key)
    catch_up_vector(store, embeddings, index)
    assert index.count() == 0
    seen: list[int] = []
    assert embed_missing(embeddings, embedder, batch_size=2, progress=seen.append) == 5
    assert seen[-1] == 5
    catch_up_vector(store, embeddings, index)
    assert index.chunk_ids() == ids(store)
    assert embed_missing(embeddings, embedder) == 0


class FailingEmbedder(FakeEmbedder):
    """Embeds a few batches and then cannot any more."""

    left = 2

    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> Vectors:
        if not self.left:
            raise ModelUnavailable("gone")
        self.left -= 1
        return super().embed(texts, kind)


def test_cancelling_keeps_what_was_embedded_and_resuming_embeds_the_rest(store: FakeDocumentStore) -> None:
    embeddings, embedder = FakeEmbeddingStore(store), FakeEmbedder()
    done = embed_missing(embeddings, embedder, batch_size=2, cancelled=lambda: len(embedder.calls) >= 1)
    assert done == 2
    assert embed_missing(embeddings, embedder, batch_size=2) == 3
    texts = [text for _, batch in embedder.calls for text in batch]
    assert len(texts) == len(set(texts)) == 5
    assert {kind for kind, _ in embedder.calls} == {EmbeddingKind.DOCUMENT}


def test_a_model_that_breaks_is_an_error_of_its_own(store: FakeDocumentStore) -> None:
    with pytest.raises(ModelUnavailable):
        embed_missing(FakeEmbeddingStore(store), FailingEmbedder(), batch_size=1)


def test_what_was_just_stored_is_neither_read_back_nor_analysed_again(
    store: FakeDocumentStore, tmp_path: Path
) -> None:
    index, fresh = FakeLexicalIndex(), Fresh()
    catch_up_lexical(store, index)
    made = put(store, tmp_path, "a.md", "# Title\n\n## Part\n\nApple pie\n\n## Other\n\nBanana\n")
    put(store, tmp_path, "b.md", "# Known only to the store\n")
    ready = tuple(ChunkWords(body, "exact", "name", "about", "called") for body in ("made", "elsewhere"))
    fresh.keep(replace(made, words=ready), store.chunks_of(made.document.doc_id))
    assert catch_up_lexical(store, index, fresh=fresh) == 3
    bodies = [" ".join(terms) for _, terms in index._bodies.values()]
    assert {"made", "elsewhere"} <= set(bodies)
    assert len(index.named("called")) == 2
    assert any("known only to the store" in body for body in bodies)
    assert index.chunk_ids() == ids(store)
    fresh.forget()
    assert not fresh.cut


def test_words_of_a_document_that_another_writer_cut_anew_are_not_used(
    store: FakeDocumentStore, tmp_path: Path
) -> None:
    index, fresh = FakeLexicalIndex(), Fresh()
    catch_up_lexical(store, index)
    made = put(store, tmp_path, "a.md", "# Apple pie\n")
    old = replace(made.state, fingerprint="of other settings")
    words = (ChunkWords("stale", "", "", "", ""),)
    fresh.keep(replace(made, state=old, words=words), store.chunks_of(made.document.doc_id))
    catch_up_lexical(store, index, fresh=fresh)
    assert not any("stale" in terms for _, terms in index._bodies.values())
