"""What every vocabulary promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from kebab.adapters.embedders.shipped_words import ShippedWords
from kebab.ports import Vocabulary
from tests.fakes import FakeVocabulary


@pytest.fixture(params=["fake", "shipped"])
def vocabulary(request: pytest.FixtureRequest) -> Vocabulary:
    return FakeVocabulary("shop", "station", "예약") if request.param == "fake" else ShippedWords()


@pytest.mark.parametrize("word", ["shop", "Shop", "SHOPS", "stations", "예약"])
def test_a_word_is_known_in_any_case_and_in_the_plural(vocabulary: Vocabulary, word: str) -> None:
    assert vocabulary.has(word)


@pytest.mark.parametrize("typo", ["", "shpo", "statoin", "예냑", "s"])
def test_a_typo_is_no_word(vocabulary: Vocabulary, typo: str) -> None:
    assert not vocabulary.has(typo)


@pytest.mark.parametrize("word", ["refused", "died", "happily", "parties", "cones", "trusting", "internal"])
def test_the_shipped_words_are_known_in_their_forms(word: str) -> None:
    assert ShippedWords().has(word)


@pytest.mark.parametrize("typo", ["paymnet", "abstreact", "matasteses", "casues", "datases", "recieve"])
def test_what_is_often_mistyped_is_not_shipped(typo: str) -> None:
    assert not ShippedWords().has(typo)


def test_without_its_file_no_word_is_known(tmp_path: Path) -> None:
    assert not ShippedWords(tmp_path).has("shop")
