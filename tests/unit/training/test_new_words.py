"""Choosing everyday words that become pieces, and the table that training on begins with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from training import new_words, vocabulary
from training.beginning import begin
from training.evaluate import measure_pairs
from training.export import Table, export, read_table
from training.new_words import Word, candidates, choose, exchange, is_cut, line, used
from training.records import write
from training.settings import More
from training.word_forms import bare, base, closed, english_forms, is_compound

BEGIN = ["보", "증", "금", "은행", "학교", "r", "e", "n", "t", "bank", "house"]
INSIDE = ["e", "n", "t", "s"]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """A table of a few pieces, as it is read back from its files."""
    scores = [-9.0] * len(BEGIN + INSIDE)
    scores[BEGIN.index("은행")] = scores[BEGIN.index("bank")] = -5.0
    count = len(scores)
    export(
        tmp_path / "model",
        pieces=list(zip(BEGIN + INSIDE, scores, strict=True)),
        continuing=len(BEGIN),
        vectors=np.random.default_rng(0).normal(size=(count, 8)).astype(np.float32),
        weights=np.random.default_rng(1).uniform(1, 2, size=(2, count)).astype(np.float32),
        power=0.6,
        version="2",
    )
    return read_table(tmp_path / "model")


def test_a_table_is_read_back_with_unit_vectors_and_the_weights_they_had(table: Table) -> None:
    vectors = np.random.default_rng(0).normal(size=(len(BEGIN + INSIDE), 8))
    weights = np.random.default_rng(1).uniform(1, 2, size=(2, len(BEGIN + INSIDE)))
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.allclose(table.vectors, vectors / lengths[:, None], atol=0.02)
    shares = table.weights[0] / (weights[0] * lengths)
    assert np.allclose(shares, shares[0], rtol=0.02)
    assert table.marked[-1] == "_s"
    assert table.marked[0] == "보"


def test_texts_that_say_the_same_are_measured_by_the_rank_of_the_partner(
    table: Table, tmp_path: Path
) -> None:
    pairs = tmp_path / "pairs.json"
    pairs.write_text('[["rent", "rent"], ["은행", "은행"], ["house", "house"]]', "utf-8")
    assert measure_pairs(tmp_path / "model", pairs) == 1
    pairs.write_text('[["rent", "은행"], ["은행", "rent"]]', "utf-8")
    assert measure_pairs(tmp_path / "model", pairs) == 0.5


def test_a_word_that_falls_into_syllables_should_be_a_piece_and_one_of_two_words_should_not(
    table: Table,
) -> None:
    pieces = set(table.pieces)
    assert is_cut("보증금", ["보", "증", "금"], pieces)
    assert not is_cut("보증은행", ["보증", "은행"], pieces)
    assert not is_cut("은행에서", ["은행", "에", "서"], pieces), "the noun is known: the particle is no loss"
    assert is_cut("rent", ["r", "ent"], pieces)
    assert not is_cut("bankhouse", ["bank", "house"], pieces)
    assert not is_cut("banks", ["bank", "s"], pieces)


def test_forms_of_a_word_are_told_from_words() -> None:
    assert [base(word) for word in ("계약하다", "끈적하다", "먹다", "여권")] == [
        "계약",
        "끈적",
        "먹다",
        "여권",
    ]
    assert base("저리다") == "저리"
    assert bare("보증금")
    assert not bare("사과")
    assert not bare("걸로")
    assert closed("보증금")
    assert closed("사과")
    assert not closed("은행에서")
    assert not closed("하고")
    assert "ponies" in english_forms("pony")
    assert "rented" in english_forms("rent")
    assert is_compound(["bank", "s"])
    assert not is_compound(["re", "nt"])


def test_candidates_are_everyday_words_that_the_records_hold_most_said_first(table: Table) -> None:
    often = {"보증금": 1e-5, "금보": 1e-4, "증보": 1e-8, "은행": 1e-3, "금증": 1e-5}
    counts = {"보증금": 5, "금보": 5, "증보": 5, "은행": 5, "금증": 1}
    known = {"보증금", "금보", "증보", "은행", "금증"}
    assert candidates(table, counts, known, often, most=9) == ["금보", "보증금"]
    assert candidates(table, counts, known, often, most=1) == ["금보"]


def test_a_new_word_gets_score_and_weights_from_the_line_of_the_old_ones(table: Table) -> None:
    words = line(table, {"bank": 1e-3, "house": 1e-5, "rent": 1e-4}, hangul=False)
    middle = words.word("rent")
    places = [table.pieces.index(word) for word in ("bank", "house")]
    assert middle.score == pytest.approx(np.mean([table.scores[place] for place in places]))
    wanted = np.clip(table.weights[:, places].mean(axis=1), 0.8, 6.0)
    assert middle.weights == pytest.approx(tuple(wanted), rel=1e-3)


def test_new_words_take_the_place_of_the_least_used_pieces_never_of_letters(table: Table) -> None:
    rent, deposit = Word("rent", -6.0, (1.0, 1.0)), Word("보증금", -6.0, (1.0, 1.0))
    unused = Word("은행보", -6.0, (1.0, 1.0))
    counts = {"rent": 5, "보증금": 7, "은행": 9, "bank": 3}
    size = len(table.pieces)
    pieces, taken = exchange(table, [rent, deposit, unused], counts, {"bank"}, size=size)
    assert taken == [rent, deposit]
    names = [piece for piece, _ in pieces]
    assert len(pieces) == size
    assert set(BEGIN) - set(names) == {"house", "학교"}
    assert names.index("보증금") < names.index("_e"), "new words begin words"
    fewest, _ = exchange(table, [rent], counts, set(), size=1)
    assert {piece for piece in BEGIN if len(piece) == 1} < {piece for piece, _ in fewest}


def test_the_use_of_a_piece_is_how_often_it_stands_in_the_text(table: Table) -> None:
    found = used(table.cutter(), len(table.pieces), {"보금": 3, "은행": 2})
    assert [found[table.pieces.index(piece)] for piece in ("보", "금", "은행", "증")] == [3, 3, 2, 0]


def test_words_are_chosen_from_records_and_read_back_from_their_file(table: Table, tmp_path: Path) -> None:
    row = ("deposit", "deposit", "보증금", "보증금")
    for name in ("enwikt", "wnko", "kedict", "cldr", "osm", "shopify"):
        write(tmp_path / f"{name}.jsonl.xz", [row])
    write(tmp_path / "all" / "wordnet.jsonl.xz", [("rent", "rent rent rent. What is paid", "", "")])
    korean = {"보증금": 1e-5, "은행": 1e-4, "학교": 1e-5, "금융": 1e-5}
    english = {"rent": 1e-4, "bank": 1e-4, "house": 1e-5}
    often = (korean | {"보증": 1e-9}, english)
    pieces, new = choose(table, [tmp_path / "all", tmp_path], *often, workers=1)
    assert {word.text for word in new} == {"보증금", "rent"}
    assert {"보증금", "rent"} < {piece for piece, _ in pieces}
    new_words.write(tmp_path / "new.tsv", new)
    assert new_words.load(tmp_path / "new.tsv") == {word.text: word.weights for word in new}


def test_training_on_begins_with_the_old_rows_and_with_made_ones_for_new_pieces(table: Table) -> None:
    pieces = [("bank", -5.0), ("보금", -6.0), ("ö", -9.0), ("_s", -9.0)]
    made = {"보금": (2.0, 3.0), "ö": (1.0, 1.0)}
    start = begin(table, pieces, made, mix=0.7)
    assert start.new.tolist() == [False, True, True, False]
    assert np.array_equal(start.vectors[0], table.vectors[table.pieces.index("bank")])
    assert np.array_equal(start.vectors[3], table.vectors[-1])
    assert start.weights[:, 1].tolist() == [2.0, 3.0]
    parts = [table.pieces.index(piece) for piece in "보금"]
    together = table.weights[1, parts] @ table.vectors[parts]
    whole = begin(table, pieces, made, mix=1.0).vectors[1]
    assert np.allclose(whole, together / np.linalg.norm(together), atol=1e-6)
    assert np.allclose(np.linalg.norm(start.vectors, axis=1), 1, atol=1e-5)
    assert 0 < start.vectors[1] @ whole < 1
    assert [piece for piece, _ in vocabulary.ordered(pieces)[0]] == ["bank", "보금", "ö", "s"]


def test_everyday_sources_are_drawn_by_size_and_the_others_as_before() -> None:
    settings = More(everyday=("words",), mass=0.25, boosts={})
    found = settings.masses(
        ["words", "old", "words", "old"], np.array([16, 9, 1, 9]), np.array([9, 3, 9, 1]), 0.5
    )
    assert found == pytest.approx([0.2, 0.5625, 0.05, 0.1875])
    without = More(everyday=("words", "more"), boosts={"more": 0.0})
    assert without.masses(["words", "more", "old"], np.ones(3), np.ones(3), 0.7) == pytest.approx(
        [0.5, 0, 0.5]
    )
