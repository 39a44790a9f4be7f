"""Where the terms of a query stand in a text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kebab.search.looks import _places

TERMS = st.sampled_from(["rope", "ro", "pe", "밧줄", "밧", "a", "v1_2"])


@given(st.lists(TERMS, max_size=40), st.lists(TERMS, unique=True, max_size=4))
def test_every_place_of_a_wanted_term_is_found_and_no_part_of_another_term(
    terms: list[str], wanted: list[str]
) -> None:
    expected: dict[str, list[int]] = {}
    for place, term in enumerate(terms):
        if term in wanted:
            expected.setdefault(term, []).append(place)
    assert list(_places(" ".join(terms), wanted).items()) == list(expected.items())
