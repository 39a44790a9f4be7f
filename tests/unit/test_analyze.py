"""What text analysis promises: text and query meet, phrases hold, marks lie on the original text."""

from __future__ import annotations

import threading
import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.search.analyze import Analyzer

ANALYZER = Analyzer()
# Any code point, and, as chance rarely brings these together, strings of the signs that tokens are made of.
ANY_TEXT = st.text() | st.text(alphabet="aB3Zé_-.'’,/ 값을의이 규칙日本ｱﬁİß½１각", max_size=30)
LINKS = st.text(alphabet="aB3_-.'’,/:?=&%#()값é ", max_size=30).map("https://".__add__)


def finds(query: str, text: str) -> bool:
    return not set(ANALYZER.query_terms(query)).isdisjoint(ANALYZER.terms(text))


def holds(phrase: str, text: str) -> bool:
    """Whether an index of the text finds the phrase: its terms as neighbours."""
    return f" {' '.join(ANALYZER.phrase_terms(phrase))} " in f" {ANALYZER.index_text(text)} "


def marked(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in ANALYZER.matches(text, ANALYZER.query_terms(query))]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("값", "값을 돌려준다"),
        ("값", "기본값이 있다"),
        ("값을", "이 값이 크다"),
        ("키는", "키를 돌린다"),
        ("책", "전자책"),
        ("소유", "소유권을 옮긴다"),
        ("소유권", "소유권이란 무엇인가"),
        ("소유권이", "소유권을"),
        ("은행", "인터넷은행의 인가 요건"),
        ("시중은행", "지방은행은 시중은행으로 전환"),
        ("rust", "Rust의 소유권"),
        ("API를", "그 API가"),
        ("API", "API에서는"),
        ("10만", "10만원"),
        ("빌림 검사기", "빌림검사기가"),
    ],
)
def test_particles_and_compounds_do_not_hide_a_korean_word(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"), [("하는", "하늘"), ("회의", "회사"), ("나이", "나라"), ("소유", "유소")]
)
def test_korean_words_that_share_a_syllable_do_not_meet(query: str, text: str) -> None:
    assert not finds(query, text)


@pytest.mark.parametrize("query", ["API를 Rust의", "Rust에서 API는"])
def test_a_particle_behind_a_latin_word_is_not_asked_for(query: str) -> None:
    assert sorted(ANALYZER.query_terms(query)) == ["api", "rust"]


def test_the_pairs_of_a_korean_word_count_less_than_as_many_words_and_the_last_the_least() -> None:
    weights = ANALYZER.query_weights("인터넷은행의 요건 rust")
    assert weights["인터"] == weights["터넷"] == weights["은행"] == pytest.approx(5**-0.5)
    assert weights["행의"] == pytest.approx(5**-0.5 / 2)
    assert weights["요건"] == weights["rust"] == 1.0


def test_a_pair_counts_what_it_counts_where_it_counts_most() -> None:
    assert ANALYZER.query_weights("지방은행 은행")["은행"] == 1.0


def test_what_a_long_question_repeats_counts_as_often_in_whatever_form() -> None:
    text = "Which titles describe an article? How does the title of articles relate to retrieval?"
    weights = ANALYZER.query_weights(text)
    assert (weights["titl"], weights["articl"], weights["retriev"]) == (2.0, 2.0, 1.0)


@pytest.mark.parametrize(
    ("query", "term"),
    [("HybridRetriever hybrid", "hybrid"), ("src/find/src", "src"), ("지방은행 은행", "은행")],
)
def test_a_query_that_repeats_no_word_counts_none_twice(query: str, term: str) -> None:
    assert ANALYZER.query_weights(query)[term] == 1.0


def test_a_korean_word_that_stands_there_twice_counts_twice() -> None:
    assert ANALYZER.query_weights("은행 이자 은행")["은행"] == 2.0


def test_pairs_of_scripts_without_spaces_count_alike() -> None:
    assert set(ANALYZER.query_weights("東京タワー").values()) == {1.0}


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("running", "it runs"),
        ("RETRIEVER", "retrievers"),
        ("find_similar_executions", "findSimilarExecutions()"),
        ("similar", "find_similar_executions"),
        ("execution", "find_similar_executions"),
        ("hybridretriever", "class HybridRetriever:"),
        ("hybrid", "class HybridRetriever:"),
        ("http", "HTTPServer"),
        ("c3po", "c-3po"),
        ("C-3PO", "c3po"),
        ("3po", "c-3po"),
        ("email", "e-mail"),
        ("names", "path/names"),
        ("pathnames", "path/names"),
        ("init", "def __init__(self)"),
        ("einstein", "Einstein’s"),
        ("don't", "don’t"),
        ("dont", "don't"),
        ("reilly", "O'Reilly"),
        ("1000", "1,000"),
        ("cafe", "café"),
        ("fine", "ﬁne"),
        ("ＡＰＩ", "api"),
        ("straße", "STRASSE"),
        ("日本", "日本語"),
        ("本", "日本語"),
        ("東京", "東京タワー"),
    ],
)
def test_forms_of_a_word_meet(query: str, text: str) -> None:
    assert finds(query, text)


def test_identifiers_are_kept_whole_and_split() -> None:
    assert ANALYZER.terms("v1.2.3") == ["v1", "2", "3", "v1_2_3"]
    assert ANALYZER.terms("c-3po") == ["c", "3po", "c3po"]
    assert ANALYZER.terms("HybridRetriever") == ["hybridretriev", "hybrid", "retriev"]
    assert ANALYZER.terms("find_similar") == ["find", "similar", "findsimilar"]


def test_a_name_that_ends_in_signs_is_a_word_of_its_own() -> None:
    assert ANALYZER.terms("C++ and C") == ["c", "and", "c", "cpp"]
    assert ANALYZER.query_terms("C#") == ["c", "csharp"]
    assert ANALYZER.query_terms("cpp") == ["cpp"]
    assert ANALYZER.terms("C++로") == ["c", "로", "cpp"]
    assert ANALYZER.terms("page#part 1++ a+b") == ["page", "part", "1", "a", "b"]
    assert ANALYZER.terms("http://# https://x.y/c++ HttpC#") == ["x", "y", "c", "httpc", "http", "httpcsharp"]
    text = "in C++, not C"
    assert [text[start:end] for start, end in ANALYZER.matches(text, ["cpp"])] == ["C++"]


def test_a_point_between_digits_matters() -> None:
    assert "1_23" in ANALYZER.terms("1.23")
    assert not set(ANALYZER.terms("1.23")) & set(ANALYZER.terms("12.3"))


def test_punctuation_alone_has_no_terms() -> None:
    assert ANALYZER.terms(" -- ** _ ' \x00 \ud800 ") == []
    assert ANALYZER.query_terms("") == []


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("소유권 규칙", "첫째, 소유권 규칙을 적용한다"),
        ("소유권 규칙", "소유권 규칙"),
        ("소유권 규칙", "비소유권 규칙에서는"),
        ("규칙 값", "그 규칙 값을 쓴다"),
        ("Rust의 소유권", "이것이 Rust의 소유권이다"),
        ("two dimensional flow", "a two-dimensional flow"),
        ("two-dimensional flow", "the two dimensional flow of"),
        ("on github pages", "Hosted on GitHub Pages."),
        ("hybrid retriever", "the HybridRetriever class"),
        ("find_similar_executions now", "call find_similar_executions now"),
        ("path/names", "a path names it"),
        ("日本語 text", "in 日本語 text"),
    ],
)
def test_a_phrase_is_a_row_of_neighbours(phrase: str, text: str) -> None:
    assert holds(phrase, text)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [("소유권 규칙", "규칙 소유권"), ("소유권 규칙", "소유권의 규칙"), ("black cat", "cat black")],
)
def test_a_phrase_does_not_hold_in_another_order(phrase: str, text: str) -> None:
    assert not holds(phrase, text)


def test_marks_cover_the_word_without_its_particle() -> None:
    assert marked("러스트의 소유권을 배운다", "소유권") == ["소유권"]
    assert marked("Rust의 API를 쓴다", "rust api") == ["Rust", "API"]


def test_marks_cover_the_hump_that_matched() -> None:
    assert marked("class HybridRetriever: pass", "retrievers") == ["Retriever"]
    assert marked("find_similar_executions", "similar") == ["similar"]


def test_marks_lie_on_decomposed_text() -> None:
    text = unicodedata.normalize("NFD", "é 이 소유권을")
    assert marked(text, "소유권") == [unicodedata.normalize("NFD", "소유권")]
    assert marked("x q\u0307\u0323 y", "q") == ["q\u0307\u0323"]


def test_a_run_of_any_length_gives_a_bounded_term() -> None:
    start = time.process_time()
    terms = ANALYZER.terms("a" * 5_000_000)
    assert max(map(len, terms)) <= 64
    assert finds("a" * 70, "a" * 80)
    assert time.process_time() - start < 5


def test_more_tokens_than_the_memory_holds_change_nothing() -> None:
    crowded = Analyzer()
    before = crowded.index_text("HybridRetriever c-3po 소유권을")
    for batch in range(3):
        crowded.index_text(" ".join(f"x{batch}y{number}" for number in range(70_000)))
    assert crowded.index_text("HybridRetriever c-3po 소유권을") == before


def test_threads_share_an_analyzer() -> None:
    text = " ".join(f"running{n} caseNumber{n} 소유권{n}을 walking-{n} nationally" for n in range(3000))
    expected = Analyzer().index_text(text)
    shared, seen = Analyzer(), []
    threads = [threading.Thread(target=lambda: seen.append(shared.index_text(text))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [expected] * 4


@given(ANY_TEXT)
def test_terms_are_word_characters(text: str) -> None:
    terms = ANALYZER.terms(text)
    assert ANALYZER.index_text(text) == " ".join(terms)
    assert all(term.replace("_", "a").isalnum() for term in [*terms, *ANALYZER.query_terms(text)])


@given(ANY_TEXT)
def test_a_text_is_found_by_itself(text: str) -> None:
    asked = ANALYZER.query_terms(text)
    assert set(asked) <= set(ANALYZER.terms(text))
    assert len(asked) == len(set(asked))
    assert bool(asked) == bool(ANALYZER.phrase_terms(text))


@given(ANY_TEXT)
def test_every_term_of_a_query_counts_something_and_none_more_than_all_words(text: str) -> None:
    weights = ANALYZER.query_weights(text)
    assert list(weights) == ANALYZER.query_terms(text)
    most = max(1, len(ANALYZER.phrase_terms(text)))
    assert all(0 < weight <= most for weight in weights.values())


@given(ANY_TEXT)
def test_normal_forms_of_a_text_are_equal(text: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert ANALYZER.terms(composed) == ANALYZER.terms(decomposed)
    assert ANALYZER.query_terms(composed) == ANALYZER.query_terms(decomposed)


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_a_phrase_holds_in_every_text_that_has_its_words_in_a_row(
    before: str, phrase: str, after: str
) -> None:
    assert not ANALYZER.phrase_terms(phrase) or holds(phrase, f"{before} {phrase} {after}")


@given(st.text(alphabet="가각규칙소유권을", min_size=1, max_size=8), st.text(alphabet="가을규칙", max_size=4))
def test_a_phrase_holds_whatever_is_attached_to_it(word: str, attached: str) -> None:
    assert holds(f"x {word}", f"x {word}{attached}")
    assert holds(f"{word} x", f"{attached}{word} x")


@given(ANY_TEXT, st.booleans())
def test_ranges_are_sorted_apart_and_inside_the_text(text: str, decompose: bool) -> None:
    text = unicodedata.normalize("NFD", text) if decompose else text
    ranges = ANALYZER.matches(text, ANALYZER.terms(text))
    edges = [edge for pair in ranges for edge in pair]
    assert all(left < right for left, right in pairwise(edges))
    assert all(0 <= edge <= len(text) for edge in edges)
    assert bool(ranges) == bool(ANALYZER.terms(text))


@given(ANY_TEXT, ANY_TEXT)
def test_a_text_holds_the_terms_it_shares_with_another(text: str, other: str) -> None:
    wanted = ANALYZER.terms(other)
    assert ANALYZER.held(text, wanted) == set(ANALYZER.terms(text)).intersection(wanted)


@given(ANY_TEXT)
def test_every_term_of_a_text_can_be_marked_in_it(text: str) -> None:
    assert all(ANALYZER.matches(text, [term]) for term in set(ANALYZER.terms(text)))


def test_a_link_is_found_by_its_words_and_has_no_other_forms() -> None:
    link = "see [this](https://github.com/Owner/MyRepo-tools?tab=issues#L1,000)."
    assert ANALYZER.index_text(link) == "see this github com owner myrepo tool tab issu l1 000"
    assert marked(link, "tools") == ["tools"]
    assert holds("github.com/Owner/MyRepo", link)
    assert finds("https://github.com/owner", link)


@given(LINKS)
def test_terms_of_a_link_are_those_that_are_marked_in_it(text: str) -> None:
    for term in ANALYZER.terms(text):
        assert ANALYZER.matches(text, [term])
