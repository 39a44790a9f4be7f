"""A trained table with fewer pieces: what others give back goes, what is said stays."""

from __future__ import annotations

import numpy as np
import pytest

from training.export import Table
from training.prune import pruned

FIRST = ["a", "b", "ab", "abab", "보", "증", "보증", "증보"]
INSIDE = ["a", "b", "ab"]


@pytest.fixture
def table() -> Table:
    """Two pieces are the sums of what they would be cut into: "ab" of a Latin word, 증보."""
    vectors = np.eye(len(FIRST + INSIDE), 12, dtype=np.float32)
    vectors[FIRST.index("ab")] = vectors[FIRST.index("a")] + vectors[len(FIRST) + INSIDE.index("b")]
    vectors[FIRST.index("증보")] = vectors[FIRST.index("증")] + vectors[FIRST.index("보")]
    return Table(
        FIRST + INSIDE,
        [-9.0 + len(piece) for piece in FIRST + INSIDE],
        len(FIRST),
        vectors,
        np.ones((2, len(FIRST + INSIDE)), dtype=np.float32),
    )


def test_those_go_first_whose_part_other_pieces_give_back(table: Table) -> None:
    left = pruned(table, {"ab": 50, "abab": 50, "보증": 50, "증보": 50}, {}, size=9, rounds=2)
    assert set(table.pieces) - set(left.pieces) == {"증보"}
    assert (len(left.pieces), left.continuing) == (9, 6)
    assert left.vectors.shape[0] == left.weights.shape[1] == 9


def test_a_word_that_is_said_stays_though_no_record_has_it(table: Table) -> None:
    unsaid, said = (pruned(table, {}, words, size=7, rounds=1) for words in ({}, {"abab": 0.01}))
    assert "abab" not in unsaid.pieces
    assert "abab" in said.pieces


def test_single_characters_stay(table: Table) -> None:
    left = pruned(table, {}, {}, size=1, rounds=3)
    assert set(left.pieces) == {"a", "b", "보", "증"}
