"""What every reranker promises."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

import pytest

from kebab.adapters.rerankers.fastembed import FastembedReranker
from kebab.ports import Reranker
from tests.adapters.rerankers.small_cross_encoder import write_cross_encoder
from tests.fakes import FakeReranker

QUERY = "seat held 예약"
TEXTS = ["the seat is held for minutes", "환불", "예약 한 좌석", "", "seat " * 200, "no word of it"]


@pytest.fixture(params=["fake", "fastembed"])
def reranker(request: pytest.FixtureRequest, tmp_path: Path) -> Reranker:
    if request.param == "fake":
        return FakeReranker()
    folder = write_cross_encoder(tmp_path / "small")
    return FastembedReranker("", cache_dir=tmp_path / "cache", threads=1, folder=folder)


def test_there_is_one_finite_number_for_each_text(reranker: Reranker) -> None:
    scores = reranker.score(QUERY, TEXTS)
    assert len(scores) == len(TEXTS)
    assert all(type(score) is float and isfinite(score) for score in scores)


def test_no_texts_give_no_numbers(reranker: Reranker) -> None:
    assert reranker.score(QUERY, []) == []


def test_a_text_that_fits_scores_above_one_that_does_not(reranker: Reranker) -> None:
    fits, other, korean, *_ = reranker.score(QUERY, TEXTS)
    assert fits > other
    assert korean > other


def test_a_score_depends_on_neither_the_other_texts_nor_their_order(reranker: Reranker) -> None:
    alone = [reranker.score(QUERY, [text])[0] for text in TEXTS]
    assert reranker.score(QUERY, TEXTS) == alone
    assert reranker.score(QUERY, TEXTS[::-1]) == alone[::-1]


def test_the_same_call_gives_the_same_numbers(reranker: Reranker) -> None:
    assert reranker.score(QUERY, TEXTS) == reranker.score(QUERY, TEXTS)


def test_it_has_a_name(reranker: Reranker) -> None:
    assert reranker.model_id
