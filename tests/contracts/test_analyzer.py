"""What every Analyzer promises: text and queries meet in the same terms."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.ports import Analyzer
from kebab.search.analyze import Analyzer as WordsAnalyzer
from tests.fakes import FakeAnalyzer

REAL = WordsAnalyzer()
each = pytest.mark.parametrize("analyzer", [FakeAnalyzer(), REAL], ids=["fake", "words"])
TEXTS = st.text(max_size=30) | st.text("abc 가나다 -.", max_size=30)


@each
@given(text=TEXTS)
def test_terms_hold_no_space_and_joined_they_are_what_an_index_takes(analyzer: Analyzer, text: str) -> None:
    terms = analyzer.terms(text)

    assert all(term and not any(map(str.isspace, term)) for term in terms)
    assert analyzer.index_text(text) == " ".join(terms)


@each
@given(text=TEXTS)
def test_composed_and_decomposed_text_give_equal_terms(analyzer: Analyzer, text: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))

    assert analyzer.terms(composed) == analyzer.terms(decomposed)


@each
@given(text=TEXTS)
def test_query_terms_are_distinct_each_with_a_weight_and_the_text_holds_them(
    analyzer: Analyzer, text: str
) -> None:
    terms = analyzer.query_terms(text)

    assert len(set(terms)) == len(terms)
    assert list(analyzer.query_weights(text)) == terms
    assert all(weight > 0 for weight in analyzer.query_weights(text).values())
    assert analyzer.held(text, terms) == set(terms)


@each
@given(before=TEXTS, phrase=TEXTS, after=TEXTS)
def test_the_terms_of_a_phrase_stand_together_in_a_text_that_contains_it(
    analyzer: Analyzer, before: str, phrase: str, after: str
) -> None:
    wanted = analyzer.phrase_terms(phrase)
    terms = analyzer.terms(f"{before} {phrase} {after}")

    assert not wanted or any(terms[at : at + len(wanted)] == wanted for at in range(len(terms)))


@each
def test_the_words_that_mean_a_term_are_found_in_their_places(analyzer: Analyzer) -> None:
    text = "The seat is held, the Seat."

    assert [text[a:b] for a, b in analyzer.matches(text, analyzer.query_terms("seat"))] == ["seat", "Seat"]
    assert analyzer.matches(text, analyzer.query_terms("ferry")) == []
