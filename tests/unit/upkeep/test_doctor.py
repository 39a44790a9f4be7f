"""The doctor finds what was spoilt, one finding for each, and mends what is derived."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kebab.domain.ids import ChunkId, DocId
from kebab.domain.ingests import IngestPhase, IngestProgress, IngestRun, RunStatus
from kebab.domain.reports import CheckStatus
from kebab.errors import Corrupt, ModelUnavailable
from kebab.ports import EmbeddingKind, IndexShape
from tests.fakes import FakeEmbedder, FakeLexicalIndex
from tests.unit.upkeep.conftest import Ward, states

FAULT, WARNING, REPAIRED = CheckStatus.FAULT, CheckStatus.WARNING, CheckStatus.REPAIRED


def test_a_sound_knowledge_base_has_no_finding_and_mending_changes_nothing(ward: Ward) -> None:
    assert states(ward.doctor().examine()) == {}
    assert states(ward.doctor().mend()) == {}


def test_an_empty_one_is_sound_too(ward: Ward) -> None:
    ward.store.remove([doc.doc_id for doc in ward.store.list_documents()])
    ward.indexer().run()
    assert states(ward.doctor().examine()) == {}


def test_a_damaged_store_is_the_only_finding_and_is_not_mended(ward: Ward) -> None:
    checks = ward.doctor("page 3 is lost").mend()
    assert [(check.name, check.status) for check in checks] == [("store", FAULT)]
    assert "page 3 is lost" in checks[0].detail
    assert checks[0].hint


def test_indexes_that_are_behind_warn_and_catch_up(ward: Ward) -> None:
    ward.put("new.md", "a new rope")
    expected = {"words index": WARNING, "vectors": WARNING, "vector index": WARNING}
    assert states(ward.doctor().examine()) == expected
    assert states(ward.doctor().mend()) == dict.fromkeys(expected, REPAIRED)
    assert states(ward.doctor().examine()) == {}


def test_a_words_index_that_was_never_built_is_a_fault(ward: Ward) -> None:
    ward.lexical.clear()
    assert states(ward.doctor().examine()) == {"words index": FAULT}
    assert states(ward.doctor().mend()) == {"words index": REPAIRED}


def test_a_worn_index_is_told_of_and_built_anew(ward: Ward) -> None:
    for number in range(1000):
        ward.put(f"more/{number}.md", "rope")
    ward.indexer().run()
    assert states(ward.doctor().examine()) == {}
    worn = {
        "words index": IndexShape(pieces=3, removed=900, byte_len=10),
        "vector index": IndexShape(pieces=100),
    }
    ward.lexical.lies, ward.vectors.lies = worn.values()
    checks = {check.name: check for check in ward.doctor().examine()}
    assert states(list(checks.values())) == dict.fromkeys(worn, WARNING)
    assert "47 % of it removed rows" in checks["words index"].detail
    assert checks["words index"].figures["removed"] == 900
    assert "more than 64 pieces" in checks["vector index"].detail
    assert "kebab index --rebuild" in str(checks["vector index"].hint)
    assert states(ward.doctor().mend()) == dict.fromkeys(worn, REPAIRED)


def test_a_chunk_missing_from_an_index_is_noticed(ward: Ward) -> None:
    doc = ward.store.list_documents()[0].doc_id
    ward.lexical.apply(removed=[doc], chunks=[], checkpoint=ward.lexical.checkpoint())
    ward.vectors.apply(removed=[doc], chunks=[], vectors={}, checkpoint=ward.vectors.checkpoint())
    checks = ward.doctor().examine()
    assert states(checks) == {"words index": FAULT, "vector index": FAULT}
    assert any("2 stored chunks are not in the index" in check.detail for check in checks)
    assert states(ward.doctor().mend()) == {"words index": REPAIRED, "vector index": REPAIRED}


def test_a_chunk_that_only_the_index_has_is_noticed(ward: Ward) -> None:
    stored = ward.store.chunks_of(ward.store.list_documents()[0].doc_id)[0]
    ghost = replace(stored, chunk=replace(stored.chunk, chunk_id=ChunkId("g" * 32), doc_id=DocId("d" * 32)))
    ward.lexical.apply(removed=(), chunks=[ghost], checkpoint=ward.lexical.checkpoint())
    finding = next(check for check in ward.doctor().examine() if check.name == "words index")
    assert (finding.status, finding.detail) == (FAULT, "1 chunk is in the index and not in the store")
    assert states(ward.doctor().mend()) == {"words index": REPAIRED}


def test_an_index_with_other_words_than_the_store_is_noticed_by_sampling(ward: Ward) -> None:
    for doc in ward.store.list_documents():
        wrong = [
            replace(stored, title="x", chunk=replace(stored.chunk, text="quite other words"))
            for stored in ward.store.chunks_of(doc.doc_id)
        ]
        ward.lexical.apply(removed=(), chunks=wrong, checkpoint=ward.lexical.checkpoint())
    finding = next(check for check in ward.doctor().examine() if check.name == "words index")
    assert finding.status is FAULT
    assert "6 of 6 sampled chunks" in finding.detail
    assert states(ward.doctor().mend()) == {"words index": REPAIRED}


def test_an_index_with_other_vectors_than_the_cache_is_noticed_by_sampling(ward: Ward) -> None:
    chunks = list(ward.store.stored_chunks())
    other = np.eye(ward.model.dimensions, dtype=np.float32)[-1]
    vectors = {stored.chunk.chunk_id: other for stored in chunks}
    ward.vectors.apply(removed=(), chunks=chunks, vectors=vectors, checkpoint=ward.vectors.checkpoint())
    assert states(ward.doctor().examine()) == {"vector index": FAULT}
    assert states(ward.doctor().mend()) == {"vector index": REPAIRED}


def test_a_model_that_changed_behind_its_name_is_noticed_and_everything_embedded_again(ward: Ward) -> None:
    class Changed(FakeEmbedder):
        def embed(self, texts, kind: EmbeddingKind):  # type: ignore[no-untyped-def]
            return np.roll(super().embed(texts, kind), 1, axis=1)

    ward.embedder = Changed()
    assert states(ward.doctor().examine()) == {"embedding model": FAULT}
    mended = ward.doctor().mend()
    assert states(mended) == {"embedding model": REPAIRED}
    assert sum(len(texts) for _, texts in ward.embedder.calls) >= 12
    assert states(ward.doctor().examine()) == {}


def test_a_model_that_cannot_be_loaded_is_a_fault_that_stays_and_the_rest_is_mended(ward: Ward) -> None:
    ward.put("new.md", "a new rope")
    broken = ward.doctor(
        model_error=ModelUnavailable("gone", hint="fetch it"),
        indexer=ward.indexer(embedder=None, vectors=None),
    )
    assert states(broken.mend()) == {"embedding model": FAULT, "words index": REPAIRED}


def test_an_index_that_looks_behind_and_cannot_follow_is_built_anew(ward: Ward) -> None:
    class Stuck(FakeLexicalIndex):
        cleared = False

        def apply(self, **change: Any) -> None:
            if not self.cleared:
                raise Corrupt("a file of that name is there already", hint="repair")
            super().apply(**change)

        def clear(self) -> None:
            self.cleared = True
            super().clear()

    stuck = Stuck()
    stuck.cleared = True
    ward.indexer(lexical=stuck).run()
    stuck.cleared = False
    ward.put("new.md", "a new rope")
    mended = ward.doctor(indexer=ward.indexer(lexical=stuck)).mend()
    assert states(mended) == dict.fromkeys(["words index", "vectors", "vector index"], REPAIRED)


def test_an_engine_that_fails_is_one_finding_and_the_others_are_made(ward: Ward) -> None:
    class Damaged(FakeLexicalIndex):
        cleared = False

        def count(self) -> int:
            if not self.cleared:
                raise Corrupt("segment 3 is unreadable", hint="repair")
            return super().count()

        def clear(self) -> None:
            self.cleared = True
            super().clear()

    ward.lexical = Damaged(ward.lexical._analyzer)
    checks = ward.doctor().examine()
    assert states(checks) == {"words index": FAULT}
    assert len(checks) == 8
    assert states(ward.doctor().mend()) == {"words index": REPAIRED}


def test_runs_that_never_ended_are_noticed_unless_one_is_going_on(ward: Ward) -> None:
    ward.ledger.begin(IngestRun("r1", "2024-05-01T12:00:00Z", RunStatus.RUNNING))
    assert states(ward.doctor().examine()) == {"ingest runs": WARNING}
    assert states(ward.doctor(writing=True).examine()) == {}
    assert states(ward.doctor().mend()) == {"ingest runs": REPAIRED}
    assert ward.ledger.runs()[0].status is RunStatus.FAILED


def test_vectors_that_no_chunk_uses_are_dropped_and_those_of_other_models_kept(ward: Ward) -> None:
    other = FakeEmbedder(16, model_id="other")
    stored = next(ward.store.stored_chunks())
    ward.embeddings.put_vectors(other.key, [stored.content_key], np.ones((1, 16), dtype=np.float32))
    ward.embeddings.put_vectors(ward.model, ["unused"], np.ones((1, ward.model.dimensions), np.float32))
    ward.indexer().run()
    ward.doctor().mend()
    assert ward.embeddings.models() == {ward.model: 12, other.key: 1}


def test_wrong_counts_are_a_fault_and_counted_again(ward: Ward) -> None:
    wrong = ["7 texts are counted, 12 are there"]
    ward.embeddings.count_faults = lambda: list(wrong)  # type: ignore[method-assign]
    ward.embeddings.recount = wrong.clear  # type: ignore[method-assign]
    assert states(ward.doctor().examine()) == {"counts": FAULT}
    assert states(ward.doctor().mend()) == {"counts": REPAIRED}


def test_each_check_is_told_of_and_reading_all_counts_the_documents(ward: Ward) -> None:
    events: list[IngestProgress] = []
    checks = ward.doctor(full=True, progress=events.append).examine()
    assert {event.phase for event in events} == {IngestPhase.CHECK}
    told = {event.path for event in events}
    assert told == {check.name for check in checks} - {"ingest runs"}
    read = [(event.done, event.total) for event in events if event.path == "documents" and event.total]
    assert read[-1] == (len(ward.store.list_documents()),) * 2
