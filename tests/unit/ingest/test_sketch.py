"""Near-copies are recognised by a few numbers, whatever the text was read from."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.sketches import ALIKE, NUMBERS, SKETCH_BYTES, Sketch, alike, resemblance
from kebab.ingest.sketch import sketch

WORDS = ["harbour", "tide", "밧줄", "moon", "rope", "anchor", "등대", "salt", "keel", "gull", "storm", "파도"]


def text(seed: int, lines: int = 60) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=9)) + f" {chance.random()}." for _ in range(lines)]


def same(one: str, other: str) -> bool:
    return alike(Sketch.of(sketch(one)), Sketch.of(sketch(other)))


def test_markup_wrapping_and_case_make_no_difference() -> None:
    lines = text(1)
    note = "# Title\n\n" + "\n".join(
        f"- **{line}** [more](https://example.org/{n})" for n, line in enumerate(lines)
    )
    page = "TITLE " + " ".join(f"{line} more" for line in lines)
    assert same(note, page)


def test_a_few_other_lines_are_a_near_copy_and_half_of_them_another_text() -> None:
    lines, others = text(1), text(2)
    assert same("\n".join(lines), "\n".join([*lines[:57], *others[57:]]))
    assert not same("\n".join(lines), "\n".join([*lines[:30], *others[30:]]))
    assert not same("\n".join(lines), "\n".join(others))


def test_a_short_text_must_be_the_same() -> None:
    assert same("The tide is HIGH.", "the *tide* is high")
    assert not same("The tide is high at noon", "The tide is high at dusk")
    assert not same("", "")


def test_a_sketch_is_the_same_on_every_machine() -> None:
    assert sketch("the harbour at noon, and the tide").hex() == SEEN
    assert sketch(" .,-") == b""


SEEN = "19a3cf38be92f239081f676b"


@given(st.text(max_size=400))
def test_a_sketch_has_sorted_distinct_numbers(some: str) -> None:
    made = sketch(some)
    read = Sketch.of(made)
    assert len(made) <= SKETCH_BYTES
    assert list(read.numbers) == sorted(read.every)
    assert resemblance(read, read) in (0.0, 1.0)


NUMBERS_OF_A_TEXT = st.sets(st.integers(0, 90), min_size=NUMBERS - 4, max_size=NUMBERS).map(sorted)


@given(NUMBERS_OF_A_TEXT, NUMBERS_OF_A_TEXT)
def test_copies_are_those_whose_resemblance_is_high(one: list[int], other: list[int]) -> None:
    left, right = (Sketch(tuple(some), frozenset(some)) for some in (one, other))
    whole = len(one) == len(other) == NUMBERS
    assert alike(left, right) == (resemblance(left, right) >= ALIKE if whole else one == other)


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_the_resemblance_tells_how_much_is_the_same(share: float) -> None:
    lines, others = text(1, 400), text(2, 400)
    kept = round(400 * share)
    found = resemblance(
        Sketch.of(sketch("\n".join(lines))), Sketch.of(sketch("\n".join([*lines[:kept], *others[kept:]])))
    )
    # What half of both share is a third of all that either holds.
    assert found == pytest.approx(share / (2 - share), abs=0.15)
    assert len(Sketch.of(sketch("\n".join(lines))).numbers) == NUMBERS
