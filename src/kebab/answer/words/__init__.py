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


@lru_cache(maxsize=1)
def patterns() -> dict[str, re.Pattern[str]]:
    """The patterns of ``kinds.txt`` by name, in the order of the file; lines of one name are alternatives."""
    found: dict[str, list[str]] = {}
    for line in read_lines("kinds.txt"):
        name, _, pattern = line.partition(" ")
        found.setdefault(name, []).append(pattern)
    return {name: re.compile("|".join(parts), re.IGNORECASE) for name, parts in found.items()}
