"""The rerank stage with a scripted reranker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from kebab.domain.hits import ScoreKind
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.errors import ModelUnavailable
from kebab.search.hybrid import HybridRetriever
from kebab.search.rerank import RerankStage
from kebab.search.spread import WINDOW
from tests.unit.search.conftest import Shelf

TOP = 6


class ScriptedReranker:
    """Gives a text the number of the first word of the script that stands in it."""

    model_id = "scripted"

    def __init__(self, script: Mapping[str, float], *, other: float = 0.0) -> None:
        self.script = script
        self.other = other
        self.calls: list[tuple[str, tuple[str, ...]]] = []

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.calls.append((query, tuple(texts)))
        return [
            next((score for word, score in self.script.items() if word in text.split()), self.other)
            for text in texts
        ]


class BrokenReranker:
    model_id = "broken"

    def __init__(self, scores: list[float] | None = None) -> None:
        self.scores = scores

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        if self.scores is None:
            raise ModelUnavailable("broken cannot be loaded")
        return self.scores


def reranked(shelf: Shelf, reranker: ScriptedReranker | BrokenReranker, top: int = TOP) -> HybridRetriever:
    return replace(shelf.hybrid(), stages=(RerankStage(reranker, shelf.store, top),))


@pytest.fixture
def twelve(shelf: Shelf) -> Shelf:
    for n in range(12):
        shelf.add(f"{n:02}.md", f"alpha word{n} " + "filler " * n)
    return shelf


QUERY = SearchQuery("alpha", k=12)


@pytest.mark.parametrize("mode", list(SearchMode))
def test_the_first_hits_are_ordered_by_the_reranker_and_the_others_follow(
    twelve: Shelf, mode: SearchMode
) -> None:
    query = replace(QUERY, mode=mode)
    before = twelve.hybrid().search(query).hits
    words = [f"word{int(hit.doc_path[:2])}" for hit in before]
    reranker = ScriptedReranker({words[TOP - 1]: 5.0, words[2]: 3.0}, other=-1.0)
    hits = reranked(twelve, reranker).search(query).hits
    order = [TOP - 1, 2, 0, 1, 3, 4, *range(TOP, 12)]
    assert [hit.chunk_id for hit in hits] == [before[place].chunk_id for place in order]
    assert [hit.rank for hit in hits] == list(range(1, 13))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 <= hit.score <= 1 and hit.score_kind is ScoreKind.RERANKER for hit in hits)
    assert [hit.retrieval for hit in hits] == [before[place].retrieval for place in order]


def test_a_hit_says_what_the_reranker_thought_of_it_and_where_it_stood(twelve: Shelf) -> None:
    before = twelve.hybrid().search(QUERY).hits
    word = f"word{int(before[3].doc_path[:2])}"
    found = reranked(twelve, ScriptedReranker({word: 2.5})).search(QUERY)
    first = found.hits[0].rerank
    assert first is not None
    assert (first.model, first.raw_score, first.rank, first.rank_before) == ("scripted", 2.5, 1, 4)
    assert found.hits[TOP].rerank is None
    assert [item.score for item in found.trace.legs["reranker"]] == [2.5, *[0.0] * (TOP - 1)]
    assert "rerank_ms" in found.trace.timings_ms


@pytest.mark.parametrize("mode", list(SearchMode))
def test_the_first_hits_do_not_depend_on_k(twelve: Shelf, mode: SearchMode) -> None:
    reranker = ScriptedReranker({f"word{n}": float(n % 5) for n in range(12)})
    deepest = reranked(twelve, reranker).search(replace(QUERY, mode=mode)).hits
    for k in (1, 2, TOP - 1, TOP, TOP + 1, 11):
        assert reranked(twelve, reranker).search(replace(QUERY, mode=mode, k=k)).hits == deepest[:k]
    assert {len(texts) for _, texts in reranker.calls} == {TOP}


def test_equal_scores_keep_the_order_of_the_search(twelve: Shelf) -> None:
    before = [hit.chunk_id for hit in twelve.hybrid().search(QUERY).hits]
    assert [h.chunk_id for h in reranked(twelve, ScriptedReranker({})).search(QUERY).hits] == before


@pytest.mark.parametrize("mode", list(SearchMode))
def test_the_bare_order_is_the_one_that_is_shown(twelve: Shelf, mode: SearchMode) -> None:
    query = replace(QUERY, mode=mode)
    retriever = reranked(twelve, ScriptedReranker({f"word{n}": float(n) for n in range(12)}))
    shown = [hit.chunk_id for hit in retriever.search(query).hits]
    assert [item.id for item in retriever.rank(query)] == shown


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (None, "broken cannot be loaded"),
        ([float("nan")] * TOP, "broken did not give every text a finite score"),
        ([1.0], "broken did not give every text a finite score"),
    ],
)
def test_a_reranker_that_fails_is_named_and_changes_nothing(
    twelve: Shelf, scores: list[float] | None, message: str
) -> None:
    found = reranked(twelve, BrokenReranker(scores)).search(QUERY)
    assert found.hits == twelve.hybrid().search(QUERY).hits
    assert [(d.part, d.code, d.message) for d in found.degraded] == [
        ("reranker", "model_unavailable", message)
    ]


def test_it_is_not_asked_when_nothing_was_found(twelve: Shelf) -> None:
    reranker = ScriptedReranker({})
    query = SearchQuery("nothing-like-it", SearchMode.LEXICAL)
    assert reranked(twelve, reranker).search(query).hits == ()
    assert reranker.calls == []


def test_huge_scores_stay_in_range_and_in_order(twelve: Shelf) -> None:
    reranker = ScriptedReranker({"word1": 1e4, "word2": -1e4, "word3": 2e4})
    hits = reranked(twelve, reranker, top=12).search(QUERY).hits
    assert [hit.doc_path for hit in hits[:2]] == ["03.md", "01.md"]
    assert hits[-1].doc_path == "02.md"
    assert (hits[0].score, hits[-1].score) == (1.0, 0.0)


def test_repetitions_go_below_after_reranking_too(shelf: Shelf) -> None:
    shelf.add("loud.md", *(f"{'alpha block ' * 8}\n\nend{n}" for n in range(3)))
    for n in range(5):
        shelf.add(f"{n}.md", f"alpha quiet{n}")
    reranker = ScriptedReranker({"end0": 1.0, "end1": 3.0, "end2": 2.0})
    hits = reranked(shelf, reranker, top=WINDOW).search(SearchQuery("alpha block", k=8)).hits
    loud = [hit for hit in hits if hit.doc_path == "loud.md"]
    assert [hit.rank for hit in loud] == [1, 7, 8]
    assert [hit.repeats for hit in loud] == [None, loud[0].chunk_id, loud[0].chunk_id]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
