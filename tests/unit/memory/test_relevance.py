from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.memory.relevance import DEFAULT_MIN_SCORE, coverage, relevance
from kebab.ports import Frequencies
from tests.fakes import FakeAnalyzer
from tests.memory_fakes import run
from tests.unit.memory.conftest import Bench

BARE = {"embedding": None, "embedding_model": None}
SHARES = st.floats(0, 1)
KNOWN = Frequencies(100, {"rare": 1, "common": 90})


def test_rare_words_cover_more_of_a_query_than_common_ones() -> None:
    weights = {"rare": 1.0, "common": 1.0}

    assert coverage(weights, {"rare"}, KNOWN) > 0.9
    assert coverage(weights, {"common"}, KNOWN) < 0.1
    assert coverage(weights, {"rare", "common"}, KNOWN) == pytest.approx(1.0)
    assert coverage({}, set(), KNOWN) == 0.0
    assert coverage(weights, {"rare"}, Frequencies(0, {})) == 0.5


@given(SHARES, SHARES, SHARES, SHARES)
def test_more_of_either_signal_is_never_less_relevant(
    one: float, other: float, near: float, far: float
) -> None:
    low, high = sorted((one, other))
    away, close = sorted((near, far))

    assert 0 <= relevance(covered=low, cosine=away) <= relevance(covered=high, cosine=close) <= 1
    assert relevance(covered=low, cosine=None) <= relevance(covered=high, cosine=None)


def test_all_words_are_enough_and_nearness_without_words_is_not() -> None:
    assert relevance(covered=1.0, cosine=0.0) > DEFAULT_MIN_SCORE
    assert relevance(covered=1.0, cosine=None) > DEFAULT_MIN_SCORE
    assert relevance(covered=0.0, cosine=0.6) < DEFAULT_MIN_SCORE


def test_what_is_not_relevant_is_withheld_and_counted(bench: Bench) -> None:
    memory = replace(bench.memory, analyzer=FakeAnalyzer())
    memory.record_many(
        run(n, task_description=text, error=None, **BARE)
        for n, text in enumerate(("repair login page", "write release notes", "page the doctor"), start=1)
    )

    found = memory.hybrid_search("repair login page")
    assert [hit.execution.id for hit in found.hits] == ["run-00001"]
    assert (found.hits[0].relevance or 0.0) > 0.99
    assert found.withheld == 2
    never = memory.hybrid_search("page of sourdough bread recipes")
    assert (never.hits, never.withheld) == ((), 3)
    everything = memory.hybrid_search("page of sourdough bread recipes", min_score=0)
    assert (len(everything.hits), everything.withheld) == (3, 0)
    assert max(1.0 if hit.relevance is None else hit.relevance for hit in everything.hits) < 0.5
    assert memory.find_similar_rlm_tasks("anything").withheld == 0
