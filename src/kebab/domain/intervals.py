"""Intervals of confidence."""

from __future__ import annotations

from math import sqrt

CONFIDENCE_Z = 1.96
"""A 95 % interval."""


def wilson_interval(successes: float, runs: float, *, z: float = CONFIDENCE_Z) -> tuple[float, float]:
    """The score interval of a proportion (Wilson 1927); honest for few runs and at 0 and 1."""
    if runs <= 0:
        return 0.0, 1.0
    rate, square = successes / runs, z * z
    middle = (rate + square / (2 * runs)) / (1 + square / runs)
    reach = z * sqrt(rate * (1 - rate) / runs + square / (4 * runs * runs)) / (1 + square / runs)
    # At 0 and at 1 an end of the interval is the rate itself, which rounding can miss by its last bit.
    return max(0.0, min(rate, middle - reach)), min(1.0, max(rate, middle + reach))
