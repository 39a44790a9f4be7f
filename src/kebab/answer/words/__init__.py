"""Word lists and patterns as data files; a line that begins with # is a comment."""

from __future__ import annotations

from importlib.resources import files


def read_lines(name: str) -> list[str]:
    lines = (files(__package__) / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def read_words(name: str) -> list[str]:
    return [word for line in read_lines(name) for word in line.split()]
