"""Everyday words that mean nearly the same, in either language, whatever the embedding model knows of them.

The groups are written by hand in ``words/alike.txt``; a word of a text is found by its base form.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kebab.answer.words import read_lines

_SHORTEST = 3
"""Letters of an English word that are left when an ending is taken off."""
_ENDINGS = (
    ("ies", "y"),
    ("es", ""),
    ("s", ""),
    ("ied", "y"),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
)


@lru_cache(maxsize=20_000)
def groups_of(word: str) -> frozenset[int]:
    """The groups that a word in lower case belongs to; none for most words."""
    known = _groups()
    return next((known[form] for form in _forms(word) if form in known), frozenset())


def _forms(word: str) -> Iterator[str]:
    """The word and what it may be a form of, likeliest first."""
    yield word
    if not word.isascii():
        # The longest beginning that is known: 삭제된 is 삭제, and 지우려면 is 지우.
        yield from (word[:end] for end in range(len(word) - 1, 1, -1))
        return
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            base = word.removesuffix(ending)
            yield base + instead
            if not instead and base[-1] == base[-2]:
                yield base[:-1]


@lru_cache(maxsize=1)
def _groups() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(read_lines("alike.txt")):
        for word in line.split():
            found.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}
