"""Word lists and patterns as data files; a line that begins with # is a comment."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files


def read_lines(name: str) -> list[str]:
    lines = (files(__package__) / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def read_words(name: str) -> list[str]:
    return [word for line in read_lines(name) for word in line.split()]


@lru_cache(maxsize=64)
def pattern(name: str) -> re.Pattern[str]:
    """The pattern of ``kinds.txt`` of this name, compiled when it is first used: one question needs few."""
    return re.compile(_sources()[name], re.IGNORECASE)


def pattern_names() -> tuple[str, ...]:
    """The names of all of them, in the order of the file."""
    return tuple(_sources())


@lru_cache(maxsize=1)
def _sources() -> dict[str, str]:
    """The patterns by name; lines of one name are alternatives."""
    found: dict[str, list[str]] = {}
    for line in read_lines("kinds.txt"):
        name, _, text = line.partition(" ")
        found.setdefault(name, []).append(text)
    return {name: "|".join(parts) for name, parts in found.items()}
