"""The seeds' contract for the three retrievers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kebab.domain.documents import Metadata
from kebab.domain.fusion import Ranked
from kebab.domain.hits import Degradation, FusionNote, Leg, Retrieval
from kebab.domain.ids import DocId
from kebab.domain.queries import SearchFilters, SearchMode, SearchQuery
from kebab.errors import EngineUnavailable, ModelUnavailable
from kebab.ports import LexicalQuery
from kebab.search.analyze import Analyzer as WordsAnalyzer
from kebab.search.fusion import Adaptive, Convex
from kebab.search.hybrid import HybridRetriever
from kebab.search.legs import UnavailableLeg
from kebab.search.parse import parse_query
from kebab.search.quoted import QuoteReader
from kebab.search.vector import VectorRetriever
from tests.fakes import FakeLexicalIndex
from tests.unit.search.conftest import Shelf


class ScriptedLeg:
    """A leg that ranks what it is told to."""

    index_version = "scripted"
    embedding_model = None

    def __init__(self, leg: Leg, ranking: list[str]) -> None:
        self.leg = leg
        self.ranking = ranking
        self.searched: list[SearchQuery] = []

    def search(self, query: SearchQuery) -> Retrieval:
        self.searched.append(query)
        return Retrieval(())

    def rank(self, query: SearchQuery, *, depth: int, docs: frozenset[DocId] | None) -> list[Ranked]:
        return [Ranked(item, 1.0 / rank) for rank, item in enumerate(self.ranking, start=1)][:depth]

    def prepared(
        self, query: SearchQuery, *, depth: int, docs: frozenset[DocId] | None
    ) -> Callable[[], list[Ranked]]:
        return partial(self.rank, query, depth=depth, docs=docs)

    def position(self) -> int:
        return 0

    def degraded(self) -> tuple[Degradation, ...]:
        return ()


def scripted(
    shelf: Shelf, lexical: list[str], vector: list[str]
) -> tuple[HybridRetriever, tuple[ScriptedLeg, ScriptedLeg]]:
    legs = ScriptedLeg(Leg.LEXICAL, lexical), ScriptedLeg(Leg.VECTOR, vector)
    return replace(shelf.hybrid(), lexical=legs[0], vector=legs[1]), legs


def four(shelf: Shelf) -> list[str]:
    documents = [shelf.add(f"{name}.md", f"text {name}") for name in "abcd"]
    return [shelf.store.chunks_of(d.doc_id)[0].chunk.chunk_id for d in documents]


@pytest.mark.parametrize("mode", [SearchMode.LEXICAL, SearchMode.VECTOR])
def test_a_single_mode_is_its_leg_unchanged(shelf: Shelf, mode: SearchMode) -> None:
    shelf.add("a.md", "alpha beta", "gamma delta")
    query = SearchQuery("alpha gamma", mode, k=5)
    leg = shelf.lexical() if mode is SearchMode.LEXICAL else shelf.vector()
    found, alone = shelf.hybrid().search(query), leg.search(query)
    assert (found.hits, found.degraded, found.trace.legs) == (alone.hits, alone.degraded, alone.trace.legs)
    assert list(found.trace.legs) == [mode.value]
    assert set(found.trace.timings_ms) == {f"{mode.value}_ms", "present_ms"}


def test_a_single_mode_never_asks_the_other_leg(shelf: Shelf) -> None:
    retriever, (lexical, vector) = scripted(shelf, ["x"], ["y"])
    retriever.search(SearchQuery("q", SearchMode.LEXICAL))
    assert len(lexical.searched) == 1
    assert vector.searched == []


def test_disjoint_legs_give_all_four_and_null_on_the_absent_side(shelf: Shelf) -> None:
    a, b, c, d = four(shelf)
    retriever, _ = scripted(shelf, [a, b], [c, d])
    hits = retriever.search(SearchQuery("q")).hits
    assert {h.chunk_id for h in hits} == {a, b, c, d}
    first = next(h for h in hits if h.chunk_id == a).retrieval
    assert (first.lexical_rank, first.vector_rank, first.vector_score) == (1, None, None)
    third = next(h for h in hits if h.chunk_id == c).retrieval
    assert (third.lexical_rank, third.lexical_score, third.vector_rank) == (None, None, 1)


def test_a_chunk_found_by_both_legs_comes_first_with_the_contracts_score(shelf: Shelf) -> None:
    a, b, c, _ = four(shelf)
    retriever, _ = scripted(shelf, [a, b], [c, a])
    hit = retriever.search(SearchQuery("q")).hits[0]
    assert hit.chunk_id == a
    assert hit.score == pytest.approx((1 / 61 + 1 / 62) / (2 / 61))
    assert hit.retrieval.fusion_score == hit.score


def test_ties_go_to_the_better_lexical_rank_then_to_the_smaller_id(shelf: Shelf) -> None:
    a, b, c, d = sorted(four(shelf))
    retriever, _ = scripted(shelf, [d], [a])
    assert [h.chunk_id for h in retriever.search(SearchQuery("q")).hits] == [d, a]
    retriever, _ = scripted(shelf, [], [c, b])
    assert [h.chunk_id for h in retriever.search(SearchQuery("q")).hits] == [c, b]


def test_ranks_count_from_one_and_scores_fall(shelf: Shelf) -> None:
    shelf.add("a.md", *(f"alpha number{n}" for n in range(12)))
    hits = shelf.hybrid().search(SearchQuery("alpha number3", k=10)).hits
    assert [h.rank for h in hits] == list(range(1, 11))
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)


def test_the_same_query_gives_the_same_result(shelf: Shelf) -> None:
    shelf.add("a.md", *(f"alpha number{n}" for n in range(30)))
    query = SearchQuery("alpha number3")
    first, second = shelf.hybrid().search(query), shelf.hybrid().search(query)
    assert (first.hits, first.fusion) == (second.hits, second.fusion)


def test_a_removed_chunk_is_not_shown_by_an_index_that_is_behind(shelf: Shelf) -> None:
    gone = shelf.add("gone.md", "alpha beta")
    shelf.add("kept.md", "alpha gamma")
    shelf.store.remove([gone.doc_id])
    for mode in SearchMode:
        found = shelf.hybrid().search(SearchQuery("alpha", mode, k=5))
        assert [h.doc_path for h in found.hits] == ["kept.md"]
        assert [d.code for d in found.degraded] == ["index_behind"] * (2 if mode is SearchMode.HYBRID else 1)


def test_a_leg_that_fails_is_named_and_the_other_answers(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha")
    broken = UnavailableLeg(Leg.VECTOR, ModelUnavailable("the model is gone", hint="bring it back"))
    found = replace(shelf.hybrid(Adaptive()), vector=broken).search(SearchQuery("alpha"))
    assert [h.doc_path for h in found.hits] == ["a.md"]
    note = Degradation("vector", "model_unavailable", "the model is gone", "bring it back")
    assert found.degraded == (note,)
    assert found.fusion == FusionNote("adaptive", {"lexical": 1.0}, "the other leg did not take part")
    assert found.hits[0].evidence[0].contribution == 1.0


def test_when_every_leg_fails_the_search_raises(shelf: Shelf) -> None:
    broken = EngineUnavailable("no index")
    retriever = replace(
        shelf.hybrid(), lexical=UnavailableLeg(Leg.LEXICAL, broken), vector=UnavailableLeg(Leg.VECTOR, broken)
    )
    with pytest.raises(EngineUnavailable):
        retriever.search(SearchQuery("alpha"))


def test_without_a_model_hybrid_search_is_word_search_and_vector_search_says_why(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha")
    alone = replace(shelf.hybrid(), vector=None)
    assert [h.doc_path for h in alone.search(SearchQuery("alpha")).hits] == ["a.md"]
    with pytest.raises(ModelUnavailable):
        alone.search(SearchQuery("alpha", SearchMode.VECTOR))


def test_filters_bind_every_leg_and_still_fill_the_page(shelf: Shelf) -> None:
    for n in range(40):
        shelf.add(
            f"notes/{n}.md", f"alpha number{n}", metadata=Metadata(tags=("even",) if n % 2 == 0 else ())
        )
    for mode in SearchMode:
        query = SearchQuery("alpha", mode, k=20, filters=SearchFilters(tag=("even",)))
        hits = shelf.hybrid().search(query).hits
        assert len(hits) == 20
        assert all(int(h.doc_path[6:-3]) % 2 == 0 for h in hits)


def test_quotes_and_exclusions_bind_the_vector_leg_too(shelf: Shelf) -> None:
    shelf.add("a.md", "red apple pie")
    shelf.add("b.md", "apple red pie")
    shelf.add("c.md", "red apple tart")
    for mode in SearchMode:
        hits = shelf.hybrid().search(parse_query('"red apple" -tart', mode=mode)).hits
        assert [h.doc_path for h in hits] == ["a.md"], mode


def test_a_quoted_phrase_is_found_by_meaning_however_far_its_chunk_is(shelf: Shelf) -> None:
    for n in range(300):
        shelf.add(f"{n}.md", f"apple {n}" if n else "a note that only ends in red apple")
    found = shelf.vector().search(parse_query('apple "red apple"', mode=SearchMode.VECTOR, k=2))
    assert [hit.doc_path for hit in found.hits] == ["0.md"]
    assert found.degraded == ()


class _BrokenWords(FakeLexicalIndex):
    """A words index that cannot be read."""

    def search(
        self, query: LexicalQuery, *, limit: int, docs: frozenset[DocId] | None = None
    ) -> list[Ranked]:
        raise EngineUnavailable("no index")


def without_words(shelf: Shelf, *, texts_read: int = 1000) -> VectorRetriever:
    quotes = QuoteReader(_BrokenWords(shelf.analyzer), shelf.analyzer)
    return replace(shelf.vector(), quotes=quotes, texts_read=texts_read)


def test_vector_search_says_when_a_phrase_was_looked_for_in_the_nearest_chunks_only(shelf: Shelf) -> None:
    for n in range(30):
        shelf.add(f"{n}.md", f"apple {n}" if n else "a note that only ends in red apple")
    looks_at_ten = without_words(shelf, texts_read=10)
    query = parse_query('apple "red apple"', mode=SearchMode.VECTOR, k=2)
    (note,) = looks_at_ten.search(query).degraded
    assert (note.part, note.code) == ("vector", "partly_searched")
    assert "nearest 10 chunks only" in note.message
    # Nothing is said where every chunk was read, nor where the page is full.
    assert without_words(shelf).search(query).degraded == ()
    assert looks_at_ten.search(parse_query("apple -pear", mode=SearchMode.VECTOR, k=2)).degraded == ()


@pytest.mark.parametrize(
    "text",
    [
        '"red apple"',
        "apple -tart",
        'apple "red" -"apple tart"',
        'note "apple" -3 -4',
        '"no such words"',
        "-apple",
    ],
)
def test_the_words_index_and_the_texts_say_the_same_of_quotes(shelf: Shelf, text: str) -> None:
    for n in range(40):
        words = ("red apple", "apple tart", "green apple", "red tart")[n % 4]
        shelf.add(f"{n}.md", f"note {n % 7} of {words}", f"apple {n}")
    query = parse_query(text, mode=SearchMode.VECTOR, k=30)
    asked, read = shelf.vector().search(query), without_words(shelf).search(query)
    assert asked.hits == read.hits


def test_what_is_excluded_is_left_out_however_many_chunks_hold_it(shelf: Shelf) -> None:
    shelf.add("long.md", *(f"apple tart {n}" for n in range(60)), "apple pie")
    leg = replace(shelf.vector(), quotes=QuoteReader(shelf.lexical_index, shelf.analyzer, most=20))
    found = leg.search(parse_query("apple -tart", mode=SearchMode.VECTOR, k=70))
    assert [hit.snippet.text for hit in found.hits] == ["apple pie"]
    quoted = leg.search(parse_query('apple "apple tart"', mode=SearchMode.VECTOR, k=70))
    assert len(quoted.hits) == 60


def test_what_nearly_all_chunks_hold_is_not_looked_for_in_all_of_them(shelf: Shelf) -> None:
    shelf.add("long.md", *(f"apple tart {n}" for n in range(700)))
    leg = replace(shelf.vector(), deepest=400)
    found = leg.search(parse_query("apple -tart", mode=SearchMode.VECTOR))
    assert found.hits == ()
    (note,) = found.degraded
    assert (note.code, note.part) == ("partly_searched", "vector")
    assert "nearest 400 chunks only" in note.message
    assert shelf.vector().search(parse_query("apple -tart", mode=SearchMode.VECTOR)).degraded == ()


@pytest.mark.parametrize("text", ['apple "red apple"', "apple -tart", "apple /red .pple/"])
def test_what_binds_single_chunks_binds_beside_a_filter_of_documents(shelf: Shelf, text: str) -> None:
    for n in range(60):
        shelf.add(f"{n % 2}/{n}.md", "red apple" if n % 3 else "red apple tart", f"apple {n}")
    query = parse_query(text, mode=SearchMode.VECTOR, k=50)
    inside = shelf.hybrid().search(replace(query, filters=SearchFilters(path=("1/*",)))).hits
    assert {hit.chunk_id for hit in inside} == {
        hit.chunk_id for hit in shelf.hybrid().search(replace(query, k=200)).hits if hit.doc_path[0] == "1"
    }
    assert inside


def test_quotes_around_punctuation_ask_nothing_of_either_leg(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha beta")
    (hit,) = shelf.hybrid().search(parse_query('alpha "!?"')).hits
    assert (hit.retrieval.lexical_rank, hit.retrieval.vector_rank) == (1, 1)


def test_explain_names_the_matched_words_and_each_legs_share(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha beta")
    query = replace(parse_query("alpha omega"), explain=True)
    found = shelf.hybrid(Convex({"lexical": 0.7, "vector": 0.3})).search(query)
    evidence = {e.leg: e for e in found.hits[0].evidence}
    assert evidence[Leg.LEXICAL].matched_terms == ("alpha",)
    assert evidence[Leg.LEXICAL].contribution == pytest.approx(0.7)
    assert evidence[Leg.VECTOR].contribution == pytest.approx(0.3)
    assert found.fusion is not None
    assert found.fusion.weights == {"lexical": 0.7, "vector": 0.3}


@given(small=st.integers(1, 20), large=st.integers(20, 60), candidates=st.sampled_from([10, 25, 100]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_the_first_hits_do_not_depend_on_k(small: int, large: int, candidates: int) -> None:
    shelf = crowded()
    retriever = shelf.hybrid(candidates=candidates)
    query = SearchQuery("alpha beta number3 number7", k=small)
    few = retriever.search(query).hits
    many = retriever.search(replace(query, k=large)).hits
    assert few == many[: len(few)]
    assert len(few) == small


_CROWD: list[Shelf] = []


def crowded() -> Shelf:
    if not _CROWD:
        shelf = Shelf()
        for n in range(80):
            shelf.add(f"{n}.md", " ".join(["alpha"] * (n % 5) + ["beta"] * (n % 7) + [f"number{n % 11}"]))
        _CROWD.append(shelf)
    return _CROWD[0]


@given(st.text(max_size=60))
@settings(max_examples=200)
def test_any_string_is_a_valid_query(text: str) -> None:
    for mode in SearchMode:
        crowded().hybrid().search(parse_query(text, mode=mode, k=3))


@pytest.mark.parametrize("text", ["", "?!", "… — «»", "+ =", "()[]{}"])
def test_a_query_that_says_nothing_finds_nothing(shelf: Shelf, text: str) -> None:
    four(shelf)
    shelf.catch_up()
    assert shelf.hybrid().search(SearchQuery(text)).hits == ()
    assert shelf.hybrid().search(SearchQuery("1")).hits


def test_adaptive_fusion_follows_the_coverage_and_says_so(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha beta")
    found = shelf.hybrid(Adaptive()).search(SearchQuery("alpha beta"))
    assert found.fusion is not None
    assert found.fusion.weights == {"lexical": 0.7, "vector": 0.3}
    assert "100%" in found.fusion.reason
    partly = shelf.hybrid(Adaptive()).search(SearchQuery("alpha omega psi chi"))
    assert partly.fusion is not None
    assert 0.3 < partly.fusion.weights["vector"] < 0.9


def test_adaptive_fusion_lets_meaning_decide_where_the_languages_do_not_meet(shelf: Shelf) -> None:
    shelf.add("a.md", "the Box 타입은 힙에 값을 둡니다", lang="ko")
    apart = shelf.hybrid(Adaptive()).search(SearchQuery("how to put the value in a Box"))
    assert apart.fusion is not None
    assert apart.fusion.weights["vector"] == 0.9
    shelf.add("b.md", "put the value in a Box", lang="en")
    together = shelf.hybrid(Adaptive()).search(SearchQuery("how to put the value in a Box"))
    assert together.fusion is not None
    assert together.fusion.weights["vector"] < 0.5


def test_one_latin_word_that_texts_in_another_script_hold_in_another_form_is_weighed_midway() -> None:
    shelf = Shelf(analyzer=WordsAnalyzer())
    shelf.add("a.md", "the Boxes 타입은 힙에 값을 둡니다 404", lang="ko")
    assert _weight_of_meaning(shelf, "Box") == 0.6
    assert _weight_of_meaning(shelf, "Boxes") == 0.3
    assert _weight_of_meaning(shelf, "404") == 0.3
    assert _weight_of_meaning(shelf, "힙에") == 0.3
    shelf.add("b.md", "Box", lang="en")
    assert _weight_of_meaning(shelf, "Box") == 0.3


def _weight_of_meaning(shelf: Shelf, text: str) -> float:
    found = shelf.hybrid(Adaptive()).search(SearchQuery(text))
    assert found.fusion is not None
    return found.fusion.weights["vector"]


def test_a_near_chunk_in_another_language_is_not_buried_by_chance_matches(shelf: Shelf) -> None:
    for n in range(12):
        shelf.add(f"{n}.md", f"비동기 스트림 이야기 {n}", lang="ko")
    shelf.add("streams.md", "비동기 스트림 퓨처", lang="en")
    query = SearchQuery("비동기 스트림 퓨처")
    same = replace(shelf.hybrid(Adaptive(bridge=0.0)), lexical=without(shelf, "streams.md"))
    bridged = replace(shelf.hybrid(Adaptive()), lexical=without(shelf, "streams.md"))
    assert bridged.search(query).hits[0].doc_path == "streams.md"
    assert same.search(query).hits[0].doc_path != "streams.md"


def without(shelf: Shelf, path: str) -> ScriptedLeg:
    """A lexical leg for which a text in another language shares no word with the query."""
    ranked = shelf.lexical().rank(SearchQuery("비동기 스트림 퓨처"), depth=100, docs=None)
    gone = {
        c.chunk.chunk_id for d in shelf.store.find_documents(path) for c in shelf.store.chunks_of(d.doc_id)
    }
    return ScriptedLeg(Leg.LEXICAL, [item.id for item in ranked if item.id not in gone])
