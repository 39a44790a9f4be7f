"""The fusion policies that tuning tries, each with the settings that select it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from kebab.domain.fusion import RRF_K
from kebab.search.fusion import Adaptive, FusionPolicy
from kebab.search.learned import Learned, policies

STEPS = 20
"""Vector weights are tried in steps of one twentieth."""
HELD = (0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
ENOUGH = (0.2, 0.4, 0.6)
BRIDGE = (0.0, 0.5, 0.7, 0.9)
LEARNED_HELD = (0.2, 0.3, 0.4)
LOOKS = (0.0, 0.15, 0.3)
"""What each part of the closer look is tried at."""


@dataclass(frozen=True, slots=True)
class GridPoint:
    """A policy and what the configuration says to get it, by dotted key."""

    policy: FusionPolicy
    settings: dict[str, object]


def grid() -> dict[str, GridPoint]:
    """Every policy that stands for a choice of settings, by a name that shows the choice."""
    points: dict[str, GridPoint] = {}
    for step in range(STEPS + 1):
        vector = step / STEPS
        lexical = round(1 - vector, 2)
        named = policies(k=RRF_K, lexical=lexical, vector=vector)
        weights = {"search.weights.lexical": lexical, "search.weights.vector": vector}
        for name, policy in named.items():
            settings: dict[str, object] = {"search.hybrid_fusion": name}
            if name not in _WEIGHTLESS:
                settings |= weights
            label = name if name in _WEIGHTLESS else f"{name} {lexical:.2f}/{vector:.2f}"
            points.setdefault(label, GridPoint(policy, settings))
    return points | dict(_adaptive_points()) | dict(_learned_points())


def _adaptive_points() -> Iterator[tuple[str, GridPoint]]:
    for held, enough, bridge in product(HELD, ENOUGH, BRIDGE):
        policy = Adaptive(held=held, enough=enough, bridge=bridge)
        learned = {"held": held, "enough": enough, "bridge": bridge}
        settings = {f"search.adaptive.{key}": value for key, value in learned.items()}
        label = f"adaptive held {held:.2f} enough {enough:.2f} bridge {bridge:.2f}"
        yield label, GridPoint(policy, {"search.hybrid_fusion": "adaptive", **settings})


def _learned_points() -> Iterator[tuple[str, GridPoint]]:
    for held, name, coverage, nearness in product(LEARNED_HELD, LOOKS, LOOKS, LOOKS):
        looks = {"name": name, "coverage": coverage, "nearness": nearness}
        settings = {f"search.learned.{key}": value for key, value in looks.items()}
        label = f"learned held {held:.2f} name {name:.2f} coverage {coverage:.2f} nearness {nearness:.2f}"
        policy = Learned(Adaptive(held=held), name, coverage, nearness)
        yield (
            label,
            GridPoint(policy, {"search.hybrid_fusion": "learned", "search.adaptive.held": held, **settings}),
        )


_WEIGHTLESS = frozenset({"rrf", "adaptive", "learned"})
"""Policies that do not read the weights of the settings."""
