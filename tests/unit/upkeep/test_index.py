"""The indexer: what is derived follows the store."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kebab.domain.ingests import IngestPhase, IngestProgress
from kebab.errors import ModelUnavailable
from kebab.ports import EmbeddingKind, Vectors
from tests.fakes import FakeEmbedder, FakeVectorIndex
from tests.unit.upkeep.conftest import Ward


def test_everything_is_brought_up_to_date_and_counted(ward: Ward) -> None:
    ward.put("new.md", "a new rope")
    report = ward.indexer().run()
    assert (report.lexical_chunks, report.vector_chunks, report.embedded, report.missing) == (13, 13, 1, 0)
    assert (report.model, report.rebuilt, report.cancelled) == ("fake-bag", False, False)
    assert ward.indexer().run().embedded == 0


def test_words_alone_leave_the_vectors_behind(ward: Ward) -> None:
    ward.put("new.md", "a new rope")
    report = ward.indexer().run(meaning=False)
    assert (report.lexical_chunks, report.vector_chunks, report.missing) == (13, 12, 1)


def test_a_rebuild_empties_the_indexes_and_embeds_nothing_again(ward: Ward) -> None:
    ward.embedder.calls.clear()
    report = ward.indexer().run(rebuild=True)
    assert (report.lexical_chunks, report.vector_chunks, report.rebuilt) == (12, 12, True)
    assert ward.embedder.calls == []


def test_one_terminal_event_ends_the_progress(ward: Ward) -> None:
    ward.put("new.md", "a new rope")
    events: list[IngestProgress] = []
    ward.indexer().run(progress=events.append)
    assert [event.kind for event in events if event.kind in ("completed", "failed", "cancelled")] == [
        "completed"
    ]
    assert events[-1].kind == "completed"
    embedding = [event for event in events if event.phase is IngestPhase.EMBED]
    assert (embedding[-1].done, embedding[-1].total) == (1, 1)


def test_a_rebuild_tells_how_many_chunks_each_index_has_taken(ward: Ward) -> None:
    events: list[IngestProgress] = []
    ward.indexer().run(rebuild=True, progress=events.append)
    for phase in (IngestPhase.WORDS, IngestPhase.VECTORS):
        told = [(event.done, event.total) for event in events if event.phase is phase]
        assert told[-1] == (12, 12)


def test_cancelled_at_once_it_embeds_nothing_and_says_so(ward: Ward) -> None:
    ward.put("new.md", "a new rope")
    events: list[IngestProgress] = []
    report = ward.indexer().run(progress=events.append, cancelled=lambda: True)
    assert (report.embedded, report.missing, report.cancelled) == (0, 1, True)
    assert events[-1].kind == "cancelled"
    assert ward.indexer().run().embedded == 1


def test_a_failing_model_ends_the_progress_and_keeps_the_words(ward: Ward) -> None:
    class Broken(FakeEmbedder):
        def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> Vectors:
            raise ModelUnavailable("the server is gone")

    ward.put("new.md", "a new rope")
    events: list[IngestProgress] = []
    with pytest.raises(ModelUnavailable):
        ward.indexer(embedder=Broken()).run(progress=events.append)
    assert events[-1].kind == "failed"
    assert ward.lexical.count() == 13


def test_another_model_gets_its_own_vectors_and_the_answering_one_keeps_its_outbox(ward: Ward) -> None:
    other = FakeEmbedder(16, model_id="other")
    ward.put("new.md", "a new rope")
    indexer = ward.indexer(embedder=other, vectors=FakeVectorIndex(other.key), followers=(ward.vectors,))
    report = indexer.run(words=False)
    assert (report.model, report.embedded, report.vector_chunks) == ("other", 13, 13)
    assert ward.store.behind(ward.vectors.checkpoint(), model=ward.model) == 1
    assert ward.embeddings.models() == {ward.model: 12, other.key: 13}
    assert ward.indexer().run().vector_chunks == 13


def test_an_index_that_lacks_nothing_is_put_in_order_all_the_same(ward: Ward) -> None:
    class Ordered(FakeVectorIndex):
        times = 0

        def optimize(self) -> None:
            self.times += 1

    index = Ordered(ward.model)
    for expected in (1, 2):
        ward.indexer(vectors=index).run()
        assert (index.times, index.count()) == (expected, 12)
