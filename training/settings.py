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


@dataclass(frozen=True, slots=True)
class Settings:
    """What shapes the weights besides the data."""

    vocabulary: int = 60_000
    hangul: int = 22_000
    dimensions: int = 512
    batch: int = 8192
    steps: int = 6000
    learning_rate: float = 0.02
    weight_learning_rate: float = 0.005
    warmup: int = 200
    count_power: float = 0.5
    dropout: float = 0.1
    homogeneous: float = 0.5
    damping: float = 0.7
    shares: dict[str, float] = field(default_factory=_shares)
    boosts: dict[str, float] = field(default_factory=lambda: {"medquad": 2.0, "pubmedqa": 4.0, "elife": 2.0})
    highest_scale: float = 100.0
    epsilon: float = 1e-8
    frozen: int = 0
    held_out: tuple[str, ...] = ()
    seed: int = 1
