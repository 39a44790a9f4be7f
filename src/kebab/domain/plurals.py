"""Numbers with their nouns, as people are told of them."""

from __future__ import annotations


def count_of(count: int, one: str, several: str | None = None) -> str:
    """``1 chunk``, ``2 chunks``; ``several`` is the form that is not made by an s, verbs included."""
    return f"{count} {one if count == 1 else several or f'{one}s'}"
