"""The settings of a training run; the defaults are those of version 2 and, in `More`, of version 3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np


def _shares() -> dict[str, float]:
    return {
        "title-en": 0.20,
        "cloze-en": 0.20,
        "title-ko": 0.14,
        "cloze-ko": 0.10,
        "en-ko": 0.09,
        "ko-en": 0.09,
        "short-en-ko": 0.06,
        "short-ko-en": 0.06,
        "word": 0.06,
    }


def _boosts() -> dict[str, float]:
    # Questions and science are rare in the data, the bilingual dictionaries small.
    return {"medquad": 2.0, "pubmedqa": 4.0, "elife": 2.0, "kedict": 4.0, "cldr": 3.0}


@dataclass(frozen=True, slots=True)
class Settings:
    """What shapes the weights besides the data."""

    vocabulary: int = 40_000
    hangul: int = 22_000
    dimensions: int = 768
    batch: int = 8192
    steps: int = 1500
    learning_rate: float = 0.001
    weight_learning_rate: float = 0.0005
    warmup: int = 200
    count_power: float = 0.6
    dropout: float = 0.15
    homogeneous: float = 0.4
    damping: float = 0.7
    shares: dict[str, float] = field(default_factory=_shares)
    boosts: dict[str, float] = field(default_factory=_boosts)
    highest_scale: float = 100.0
    epsilon: float = 1e-8
    smoothing: float = 1e-3
    blend: float = 1.0
    teacher: float = 0.5
    """How much imitating the teacher counts beside finding the pair's partner."""
    teacher_batch: int = 4096
    teacher_scale: float = 20.0
    held_out: tuple[str, ...] = ()
    start: int = 1
    """Seed of the random vectors; runs that are averaged share it."""
    seed: int = 1
    runs: int = 3
    """How many runs are averaged; they differ in the order of the pairs and in what dropout takes."""


EVERYDAY = (
    "android",
    "cldr",
    "cooking",
    "enpara",
    "enwikt",
    "kedict",
    "kopara",
    "osm",
    "shopify",
    "wnko",
)


def _words_first() -> dict[str, float]:
    return {"enwikt": 2.0, "wnko": 2.0}


@dataclass(frozen=True, slots=True)
class More:
    """What shapes version 3 besides version 2 and the data."""

    steps: int = 800
    batch: int = 8192
    dropout: float = 0.15
    new_rate: float = 0.001
    """Learning rate of the vectors of new pieces; their weights learn at five times `weight_rate`."""
    old_rate: float = 0.0005
    """Learning rate of the vectors of known pieces; where it is 0 their weights stay too."""
    weight_rate: float = 0.0002
    scale_rate: float = 0.0005
    log_scale: float = 3.2
    mix: float = 0.7
    """How much of a new piece's first vector is the word as version 2 knows it; the rest is random."""
    everyday: tuple[str, ...] = EVERYDAY
    mass: float = 0.5
    """The share of the pairs that is drawn from the everyday sources."""
    boosts: dict[str, float] = field(default_factory=_words_first)
    """How much more often some everyday sources are drawn; at 0 a source is left out."""
    blend: float = 0.5
    """How far known pieces go from version 2 to what was learned."""
    runs: int = 3

    def masses(
        self, names: Sequence[str], sizes: np.ndarray, weights: np.ndarray, damping: float
    ) -> np.ndarray:
        """Return how often each group of pairs is drawn: by its source's name, its size, its old weight."""
        new = np.array([name in self.everyday for name in names])
        boosts = np.array([self.boosts.get(name, 1.0) for name in names])
        mine = np.where(new, sizes.astype(np.float64) ** damping * boosts, 0.0)
        others = np.where(new, 0.0, weights.astype(np.float64))
        return np.asarray(self.mass * mine / mine.sum() + (1 - self.mass) * others / others.sum())
