"""Where training on begins: an older model's rows for pieces that stay, and made ones for new pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from training import vocabulary
from training.export import Table

DOCUMENT = 1
"""The row of the weights that documents use."""


@dataclass(frozen=True, slots=True)
class Start:
    """A table for a new vocabulary, in its order: unit vectors, weights (2, n), and which pieces are new."""

    vectors: np.ndarray
    weights: np.ndarray
    new: np.ndarray


def begin(
    table: Table,
    pieces: Sequence[tuple[str, float]],
    weights: Mapping[str, tuple[float, float]],
    *,
    mix: float,
    seed: int = 1,
) -> Start:
    """Return the table to begin with; `pieces` are a vocabulary file's, `weights` those of the new ones.

    The vector of a new piece is the word's as the table knows it, cut up, `mix` of it; the rest is random, so
    that the piece is told apart from its parts.
    """
    ordered, _ = vocabulary.ordered(list(pieces))
    marked = [piece for piece, _ in pieces if not piece.startswith(vocabulary.CONTINUES)]
    marked += [piece for piece, _ in pieces if piece.startswith(vocabulary.CONTINUES)]
    rows = {piece: row for row, piece in enumerate(table.marked)}
    cutter, chance = table.cutter(), np.random.default_rng(seed)
    start = Start(
        np.zeros((len(ordered), table.vectors.shape[1]), dtype=np.float32),
        np.zeros((2, len(ordered)), dtype=np.float32),
        np.array([piece not in rows for piece in marked]),
    )
    for place, piece in enumerate(marked):
        if piece in rows:
            start.vectors[place] = table.vectors[rows[piece]]
            start.weights[:, place] = table.weights[:, rows[piece]]
        else:
            start.vectors[place] = _made(table, cutter.numbers(piece), mix, chance)
            start.weights[:, place] = weights[piece]
    return start


def _made(table: Table, parts: Sequence[int], mix: float, chance: np.random.Generator) -> np.ndarray:
    apart = _unit(np.asarray(chance.standard_normal(table.vectors.shape[1])))
    if not parts:
        return apart
    together = _unit(np.asarray(table.weights[DOCUMENT, parts] @ table.vectors[parts]))
    return _unit(np.asarray(mix * together + (1 - mix**2) ** 0.5 * apart))


def _unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector / np.linalg.norm(vector))
