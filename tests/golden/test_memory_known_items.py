"""A run is found again by some of its words in another order, in English and Korean: floors on real tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("surrealdb", reason="the memory extra is not installed")

from benchmarks import memory as bench
from kebab.adapters.embedders.static import StaticEmbedder

DATA = Path(__file__).parents[2].parent / "shared" / "data"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not there"),
]


def test_paraphrases_find_their_run_in_the_first_five(tmp_path: Path) -> None:
    embedder = StaticEmbedder()
    records = bench._embedded(list(bench.real_records(DATA))[:3000], embedder)
    queries = bench._queries(records, embedder)
    memory = bench.open_memory(tmp_path)
    memory.record_many(records)
    found: dict[bool, list[bool]] = {False: [], True: []}
    for query in queries:
        hits = memory.hybrid_search(query.text, embedding=query.vector, limit=5).hits
        found[query.korean].append(query.target in {hit.execution.id for hit in hits})
    memory.close()

    english, korean = (sum(found[kind]) / len(found[kind]) for kind in (False, True))
    assert len(queries) == 2 * bench.QUERIES
    assert english >= 0.90, english
    assert korean >= 0.90, korean
