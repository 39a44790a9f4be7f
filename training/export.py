"""Writes the trained model in the form that kebab reads: see `kebab.adapters.embedders.static`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

WEIGHT_LEVELS = 1 << 20


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
