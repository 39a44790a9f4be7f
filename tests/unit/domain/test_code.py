"""How people name languages and symbols."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.code import code_lang, described, names_symbol, number_parts, purpose_of


@pytest.mark.parametrize(
    ("asked", "named"), [("C++", "cpp"), ("py", "python"), ("c#", "csharp"), ("Go", "go"), ("lua", "lua")]
)
def test_languages_go_by_their_short_names_too(asked: str, named: str) -> None:
    assert code_lang(asked) == named


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ('"""Keeps ropes dry. Really."""\nimport a\n', "Keeps ropes dry."),
        (
            "#!/bin/sh\n# Copyright 2020\n# All rights reserved.\n\n# Dries the ropes\n# of ships.\n",
            "Dries the ropes of ships.",
        ),
        ("// Copyright X\n//\n// Package rope dries ropes.\npackage rope\n", "Package rope dries ropes."),
        ("/*\n * License: MIT\n */\n\n/**\n * 밧줄을 아주 오래 말린다.\n */\n", "밧줄을 아주 오래 말린다."),
        ("//! Ropes for ships, and\n//! knots\n", "Ropes for ships, and knots"),
        ("#include <a>\n#define B 1\nint x;\n", ""),
        ("", ""),
    ],
)
def test_a_file_says_what_it_is_for_in_its_first_sentence(head: str, said: str) -> None:
    assert purpose_of(head) == said


def test_a_unit_is_described_by_its_comments_and_the_names_at_its_head() -> None:
    unit = 'def dry(rope):\n    """Dry a rope."""\n    # in the wind\n    return wind_of(rope)\n'
    assert described(unit) == "Dry a rope. in the wind\ndry rope Dry the wind wind_of"


@given(st.text(alphabet="\"'#/*\n a-", max_size=60))
def test_any_text_can_be_described(text: str) -> None:
    assert len(described(text)) <= 1200
    assert len(purpose_of(text)) <= 162


def test_names_that_join_letters_and_digits_are_found_by_both() -> None:
    assert number_parts("sha256(b64encode(utf8), x1, 0xff)") == "sha 256 64 encode utf"
    assert number_parts("plain words, 42") == ""


@pytest.mark.parametrize(
    "pattern",
    ["Ship.speed", "speed", "SPEED", "Ship::speed", "Ship#speed", "Ship.*", "*", "sp*d"],
)
def test_a_symbol_goes_by_its_whole_or_its_end(pattern: str) -> None:
    assert names_symbol(pattern, "harbour.Ship.speed")


@pytest.mark.parametrize("pattern", ["Ship", "peed", "hip.speed", "Ship.spee", "", "speed*x", "*speed*d"])
def test_nothing_else_names_it(pattern: str) -> None:
    assert not names_symbol(pattern, "harbour.Ship.speed")


@given(st.text(alphabet="ab.*", max_size=12), st.text(alphabet="ab.", max_size=12))
def test_stars_mean_what_a_regular_expression_would(pattern: str, symbol: str) -> None:
    import re

    wanted = r"(?:.*\.)?" + ".*".join(map(re.escape, pattern.split("*")))
    assert names_symbol(pattern, symbol) == bool(re.fullmatch(wanted, symbol, re.DOTALL))


def test_any_number_of_stars_is_matched_at_once() -> None:
    assert not names_symbol("*a" * 5000 + "b", "a" * 5000)
