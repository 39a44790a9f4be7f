"""Learned fusion: what a closer look earns, what the scores mean, and that more evidence never harms."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kebab.domain.fusion import Fused, Ranked
from kebab.domain.hits import Leg
from kebab.domain.queries import SearchQuery
from kebab.search.fusion import Adaptive, Look, QueryEvidence
from kebab.search.learned import Learned
from kebab.search.likelihood import ANY_MODEL, OWN_MODEL, WEAK, Likelihood, is_weak
from kebab.search.looks import look
from kebab.search.read import Reader
from kebab.search.searcher import Searcher
from tests.fakes import FakeAnalyzer
from tests.unit.search.conftest import Shelf
from tests.unit.search.test_hybrid import crowded

HELD = QueryEvidence(coverage=1.0, terms=2)
LISTS = {
    "lexical": [Ranked("a", 9.0), Ranked("b", 8.9), Ranked("c", 2.0)],
    "vector": [Ranked("b", 0.5), Ranked("a", 0.5), Ranked("d", 0.2)],
}
SHARES = st.floats(0, 1)
LOOKS = st.builds(Look, name=SHARES, coverage=SHARES, nearness=SHARES, typed=SHARES)


def looked(**looks: Look) -> QueryEvidence:
    return replace(HELD, looks=looks)


def place(fused: list[Fused], key: str) -> int:
    return [item.id for item in fused].index(key)


def test_of_two_that_the_legs_find_alike_the_one_that_is_named_so_comes_first() -> None:
    plain = Learned().fuse(LISTS, HELD)[0]
    named = Learned().fuse(LISTS, looked(b=Look(1.0, 0.5, 0.0)))[0]
    assert (plain[0].id, named[0].id) == ("a", "b")


def test_a_look_earns_nothing_where_the_languages_do_not_meet() -> None:
    apart = replace(looked(b=Look(1.0, 1.0, 1.0)), languages_meet=0.0)
    assert "name" not in {part for item in Learned().fuse(LISTS, apart)[0] for part in _given(item)}


def _given(item: Fused) -> set[str]:
    return {part for part, share in item.contributions.items() if share}


@given(looks=st.dictionaries(st.sampled_from("abcd"), LOOKS), coverage=SHARES, meet=SHARES)
def test_the_parts_add_up_to_the_score_and_the_first_has_the_likelihood(
    looks: dict[str, Look], coverage: float, meet: float
) -> None:
    evidence = QueryEvidence(coverage, 2, meet, looks=looks)
    fused = Learned().fuse(LISTS, evidence)[0]
    assert fused[0].score == pytest.approx(OWN_MODEL.of(LISTS, evidence))
    assert [item.score for item in fused] == pytest.approx(
        [sum(item.contributions.values()) for item in fused]
    )
    assert all(0 <= item.score <= 1 for item in fused)


@given(own=LOOKS, other=LOOKS, more=LOOKS)
def test_more_evidence_never_places_a_chunk_lower(own: Look, other: Look, more: Look) -> None:
    better = Look(*map(max, own, more))
    before = Learned().fuse(LISTS, looked(b=own, a=other))[0]
    after = Learned().fuse(LISTS, looked(b=better, a=other))[0]
    assert place(after, "b") <= place(before, "b")


def test_without_a_look_the_order_is_that_of_adaptive_fusion() -> None:
    learned, adaptive = Learned().fuse(LISTS, HELD)[0], Adaptive().fuse(LISTS, HELD)[0]
    assert [item.id for item in learned] == [item.id for item in adaptive]


def test_a_note_that_is_called_what_was_asked_has_all_there_is() -> None:
    fused, note = Learned().fuse(LISTS, replace(looked(c=Look(1, 1, 1)), named=frozenset("c")))
    assert fused[0].id == "c"
    assert fused[0].score == pytest.approx(1.0)
    assert fused[1].score < 1
    assert sum(fused[0].contributions.values()) == pytest.approx(1.0)
    assert "called what was asked" in note.reason


@pytest.mark.parametrize("model", [OWN_MODEL, ANY_MODEL], ids=["own", "any"])
def test_a_search_is_likelier_the_more_its_best_hold_and_the_nearer_they_are(model: Likelihood) -> None:
    likely = model.of
    far = {"lexical": LISTS["lexical"], "vector": [Ranked("b", 0.12), Ranked("a", 0.1)]}
    assert likely(LISTS, HELD) > likely(LISTS, replace(HELD, coverage=0.1)) > likely(far, QueryEvidence())
    assert likely(far, QueryEvidence()) < WEAK < likely(LISTS, HELD)


def test_of_one_leg_alone_no_likelihood_is_claimed() -> None:
    fused = Learned().fuse({"lexical": LISTS["lexical"]}, HELD)[0]
    assert fused[0].score == pytest.approx(1.0)


def test_a_look_tells_names_contents_and_neighbours_apart(shelf: Shelf) -> None:
    shelf.add("a.md", "seats are held ten minutes", "minutes were written of seats that nobody ever held")
    near, far = list(shelf.store.stored_chunks())
    mass = {"seats": 1.0, "are": 0.5, "held": 1.0, "longer": 1.5}
    one, terms = look(near, mass, analyzer=FakeAnalyzer())
    other, _ = look(far, mass, analyzer=FakeAnalyzer())
    assert set(terms) == {"seats", "are", "held"}
    assert one.coverage == pytest.approx(2.5 / 4)
    assert other.coverage == pytest.approx(2.0 / 4)
    assert one.nearness > other.nearness == 0.0


def test_explain_shows_what_words_gave_part_by_part(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha beta")
    shelf.add("b.md", "alpha and much else that is not beta at all")
    policy = Learned(coverage=0.1)
    first = shelf.hybrid(policy).search(SearchQuery("alpha beta", explain=True)).hits[0]
    words = next(one for one in first.evidence if one.leg is Leg.LEXICAL)
    assert set(words.parts) == {"lexical", "coverage", "nearness"}
    assert words.contribution == pytest.approx(sum(words.parts.values()))
    assert first.score == pytest.approx(sum(one.contribution or 0 for one in first.evidence))


@given(small=st.integers(1, 20), large=st.integers(20, 60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
def test_the_first_hits_and_their_scores_do_not_depend_on_k(small: int, large: int) -> None:
    retriever = crowded().hybrid(Learned(), candidates=25)
    query = SearchQuery("alpha beta number3 number7", k=small)
    few, many = retriever.search(query).hits, retriever.search(replace(query, k=large)).hits
    assert few == many[: len(few)]


def test_only_scores_that_mean_it_are_called_weak(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha beta")
    strange = SearchQuery("zeta")
    assert is_weak(shelf.hybrid(Learned()).search(strange).hits)
    assert not is_weak(shelf.hybrid(Adaptive()).search(strange).hits)
    assert not is_weak(())


def a_searcher(shelf: Shelf) -> Searcher:
    reader = Reader(shelf.store, shelf.embeddings, shelf.files)
    return Searcher(retriever=shelf.hybrid(Learned()), reader=reader, policies={})


def test_hits_below_the_score_asked_for_are_counted_and_left_out(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha beta gamma", "alpha and other things entirely", "nothing of the kind")
    searcher = a_searcher(shelf)
    every = searcher.search("alpha beta gamma")
    between = (every.hits[0].score + every.hits[1].score) / 2
    some = searcher.search("alpha beta gamma", min_score=between)
    assert some.hits == every.hits[:1]
    assert some.withheld == len(every.hits) - 1
    assert (every.withheld, some.next_cursor) == (0, None)


def test_where_even_the_best_is_below_nothing_is_shown_and_the_count_is_told(shelf: Shelf) -> None:
    shelf.add("a.md", "alpha beta", "gamma")
    none = a_searcher(shelf).search("zeta", min_score=0.5, groups=True)
    assert (none.hits, none.groups, none.weak) == ((), (), True)
    assert none.withheld > 0


def test_a_page_that_is_filtered_ends_where_the_unfiltered_one_does(shelf: Shelf) -> None:
    shelf.add("a.md", *(f"alpha word{n}" for n in range(9)))
    searcher = a_searcher(shelf)
    first = searcher.search("alpha", k=3, min_score=0.0)
    assert first.next_cursor is not None
    second = searcher.search("alpha", k=3, min_score=0.0, cursor=first.next_cursor)
    assert not {hit.chunk_id for hit in first.hits} & {hit.chunk_id for hit in second.hits}


def test_where_the_best_hold_all_of_several_words_words_decide() -> None:
    """The page that holds every word of a half-remembered sentence, not one that means something like it."""
    lists = {
        "lexical": [Ranked("held", 10.0), Ranked("other", 8.0)],
        "vector": [Ranked("other", 0.6), Ranked("held", 0.2)],
    }
    said, nearly = QueryEvidence(coverage=1.0, terms=4), QueryEvidence(coverage=0.79, terms=4)
    assert [Learned().fuse(lists, one)[0][0].id for one in (said, nearly)] == ["held", "other"]
    one_word = QueryEvidence(coverage=1.0, terms=1)
    assert Learned().fuse(lists, one_word)[0][0].id == "other"
    assert Adaptive().fuse(lists, said)[0][0].id == "other"


def _apart(size: int) -> dict[str, list[Ranked]]:
    """Two legs that found nothing in common: the nearest are as good as each other, one word is rare."""
    words = [Ranked("rare", 9.0), *(Ranked(f"w{number}", 1.0 - number / 100) for number in range(size))]
    return {"lexical": words, "vector": [Ranked(f"v{number}", 0.3 - number / 500) for number in range(size)]}


def test_the_best_of_each_leg_stand_on_the_first_page() -> None:
    ranked, _ = Learned().fuse(_apart(40), QueryEvidence(coverage=0.1, terms=4))
    assert {"rare", "w0", "v0", "v1"} <= {item.id for item in ranked[:10]}
    assert "w0" not in {item.id for item in Adaptive().fuse(_apart(40), QueryEvidence(0.1, 4))[0][:10]}


def test_words_that_meet_by_accident_are_not_lifted() -> None:
    apart = QueryEvidence(coverage=0.1, terms=4, languages_meet=0.0)
    ranked, _ = Learned().fuse(_apart(40), apart)
    assert "w0" not in {item.id for item in ranked[:10]}


def test_what_is_lifted_changes_nothing_above_it_and_scores_still_fall() -> None:
    evidence = QueryEvidence(coverage=0.1, terms=4)
    ranked = Learned().fuse(_apart(40), evidence)[0]
    plain = Adaptive().fuse(_apart(40), evidence)[0]
    assert [item.id for item in ranked[:7]] == [item.id for item in plain[:7]]
    assert [item.score for item in ranked] == sorted((item.score for item in ranked), reverse=True)
