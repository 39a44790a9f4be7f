"""How people name languages and symbols."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab.domain.code import code_lang, names_symbol


@pytest.mark.parametrize(
    ("asked", "named"), [("C++", "cpp"), ("py", "python"), ("c#", "csharp"), ("Go", "go"), ("lua", "lua")]
)
def test_languages_go_by_their_short_names_too(asked: str, named: str) -> None:
    assert code_lang(asked) == named


@pytest.mark.parametrize(
    "pattern",
    ["Ship.speed", "speed", "SPEED", "Ship::speed", "Ship#speed", "Ship.*", "*", "sp*d"],
)
def test_a_symbol_goes_by_its_whole_or_its_end(pattern: str) -> None:
    assert names_symbol(pattern, "harbour.Ship.speed")


@pytest.mark.parametrize("pattern", ["Ship", "peed", "hip.speed", "Ship.spee", "", "speed*x", "*speed*d"])
def test_nothing_else_names_it(pattern: str) -> None:
    assert not names_symbol(pattern, "harbour.Ship.speed")


@settings(deadline=None)
@given(st.text(alphabet="ab.*", max_size=12), st.text(alphabet="ab.", max_size=12))
def test_stars_mean_what_a_regular_expression_would(pattern: str, symbol: str) -> None:
    import re

    wanted = r"(?:.*\.)?" + ".*".join(map(re.escape, pattern.split("*")))
    assert names_symbol(pattern, symbol) == bool(re.fullmatch(wanted, symbol, re.DOTALL))


def test_any_number_of_stars_is_matched_at_once() -> None:
    assert not names_symbol("*a" * 5000 + "b", "a" * 5000)
