"""The settings of a training run; the defaults are those of the shipped model."""

from __future__ import annotations

from dataclasses import dataclass, field


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
