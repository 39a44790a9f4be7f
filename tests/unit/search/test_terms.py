"""Raw tokens and their terms: the quick ways give what the plain ones do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kebab.search.terms import held_places, is_run, pieces_of

RUN = st.text(alphabet="가나다라규칙漢字かな", min_size=1, max_size=8)


@given(RUN, st.sets(st.text(alphabet="가나다라규칙漢字かな", min_size=1, max_size=2), max_size=8))
def test_the_places_of_terms_in_a_run_are_those_of_its_pieces(run: str, terms: set[str]) -> None:
    slow = [(piece.start, piece.end) for piece in pieces_of(run, str) if piece.term in terms]

    assert is_run(run)
    assert list(held_places(run, terms)) == slow


def test_a_word_of_another_script_is_no_run() -> None:
    assert not is_run("react")
    assert not is_run("react와")
    assert not is_run("\uff76")  # half width: it has another form
