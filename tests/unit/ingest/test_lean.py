"""Vectors lean towards their document, and a rebuild never splits one."""

from __future__ import annotations

import numpy as np

from kebab.ingest.catch_up import _batches
from kebab.ingest.lean import DOCUMENT_SHARE, leaning
from tests.samples import sample


def test_a_chunk_leans_towards_the_mean_of_its_document() -> None:
    first, second = sample("a.md", "one", "two").stored()
    vectors = {first.content_key: np.array([1.0, 0.0]), second.content_key: np.array([0.0, 1.0])}
    leant = leaning([first, second], vectors)
    mean = np.sqrt(0.5)
    expected = np.array([1 - DOCUMENT_SHARE + DOCUMENT_SHARE * mean, DOCUMENT_SHARE * mean])
    np.testing.assert_allclose(leant[first.chunk.chunk_id], expected / np.linalg.norm(expected), rtol=1e-6)


def test_a_document_of_one_chunk_keeps_its_vector() -> None:
    (only,) = sample("a.md", "one").stored()
    vector = np.array([0.6, 0.8], dtype=np.float32)
    np.testing.assert_array_equal(leaning([only], {only.content_key: vector})[only.chunk.chunk_id], vector)


def test_a_chunk_without_a_vector_is_left_out_and_does_not_count() -> None:
    first, second = sample("a.md", "one", "two").stored()
    vector = np.array([0.6, 0.8], dtype=np.float32)
    leant = leaning([first, second], {first.content_key: vector})
    np.testing.assert_array_equal(leant[first.chunk.chunk_id], vector)
    assert second.chunk.chunk_id not in leant


def test_batches_hold_whole_documents() -> None:
    """Applying a part of a document drops its other part from the index."""
    chunks = [s for name in "abc" for s in sample(f"{name}.md", *(f"{name} {n}" for n in range(3))).stored()]
    batches = list(_batches(chunks, 4))
    assert [len(batch) for batch in batches] == [6, 3]
    assert [stored for batch in batches for stored in batch] == chunks
