"""Writes the trained model in the form that kebab reads, and reads it back to train on.

The form is that of `kebab.adapters.embedders.static`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kebab.adapters.embedders.subwords import Subwords
from training.vocabulary import CONTINUES

WEIGHT_LEVELS = 1 << 20


@dataclass(frozen=True, slots=True)
class Table:
    """A model's table: pieces with their scores, unit vectors, and weights of both kinds (2, n)."""

    pieces: list[str]
    scores: list[float]
    continuing: int
    vectors: np.ndarray
    weights: np.ndarray

    @property
    def marked(self) -> list[str]:
        """The pieces as a vocabulary file has them: those that continue a word with a mark."""
        inside = (CONTINUES + piece for piece in self.pieces[self.continuing :])
        return [*self.pieces[: self.continuing], *inside]

    def cutter(self) -> Subwords:
        """Return what cuts text into the pieces."""
        return Subwords(self.pieces, self.scores, continuing=self.continuing)


def read_table(folder: Path) -> Table:
    """Return an exported model with vectors of length 1; the weights take their lengths."""
    whole = np.load(folder / "vectors.npy").astype(np.float32) / 127
    lengths = np.linalg.norm(whole, axis=1)
    return Table(
        (folder / "pieces.txt").read_text("utf-8").split("\n"),
        np.load(folder / "scores.npy").tolist(),
        json.loads((folder / "model.json").read_text("utf-8"))["continuing"],
        whole / lengths[:, None],
        np.load(folder / "weights.npy").astype(np.float32) / WEIGHT_LEVELS * lengths,
    )


def export(
    folder: Path,
    *,
    pieces: list[tuple[str, float]],
    continuing: int,
    vectors: np.ndarray,
    weights: np.ndarray,
    power: float,
    version: str,
) -> None:
    """Write int8 vectors, integer weights (2, n), pieces with scores, and the model's description.

    The pieces come as `vocabulary.ordered` gives them. Each row is scaled to the full int8 range; the scale
    goes into both of the token's weights.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # A small corpus has fewer pieces than were asked for.
    vectors, weights = vectors[: len(pieces)], weights[:, : len(pieces)]
    highest = np.maximum(np.abs(vectors).max(axis=1), 1e-12)
    scaled = weights * highest
    whole = np.maximum(1, np.rint(scaled / scaled.max(axis=1, keepdims=True) * WEIGHT_LEVELS))
    np.save(folder / "vectors.npy", np.rint(vectors / highest[:, None] * 127).astype(np.int8))
    np.save(folder / "weights.npy", whole.astype(np.int32))
    np.save(folder / "scores.npy", np.array([score for _, score in pieces], dtype=np.float32))
    (folder / "pieces.txt").write_text("\n".join(piece for piece, _ in pieces), "utf-8")
    about = {
        "id": "kebab-static",
        "version": version,
        "licence": "CC-BY-SA-4.0",
        "dimensions": vectors.shape[1],
        "count_power": power,
        "continuing": continuing,
    }
    (folder / "model.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")
