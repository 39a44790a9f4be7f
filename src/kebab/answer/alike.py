"""Everyday words that mean nearly the same, in either language, whatever the embedding model knows of them.

The groups are written by hand in ``words/alike.txt``, translations in ``words/translations.txt``; a word of a
text is found by its base form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from kebab.answer.words import read_lines

_SHORTEST = 3
"""Letters of an English word that are left when an ending is taken off."""
_MOST = 16
"""Words of a group that are searched for."""
# What may follow a listed Korean word: an ending, but no second half of a compound.
_VERB = re.compile(r"^(?:.?|(?:하|한|할|해|했|되|된|될|돼|됐|시키|적).{0,3})$")
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
    known = _groups("alike.txt")
    return next((known[form] for form in forms(word) if form in known), frozenset())


@lru_cache(maxsize=20_000)
def translations_of(word: str) -> frozenset[int]:
    """The lines of the dictionary on which a word in lower case stands; none for most words."""
    known = _groups("translations.txt")
    form = next((form for form in forms(word) if form in known), "")
    return known[form] if form and (word.isascii() or _VERB.match(word[len(form) :])) else frozenset()


def translations(word: str) -> tuple[str, ...]:
    """What the dictionary gives for a word in the other language, in its order."""
    there = (other for number in sorted(translations_of(word.lower())) for other in _row(number))
    return tuple(dict.fromkeys(other for other in there if other.isascii() != word.isascii()))


def _row(number: int) -> list[str]:
    return _lines("translations.txt")[number].split()


def in_other_words(words: Sequence[str]) -> str:
    """These words with those that mean nearly the same, in both languages; empty where none are listed."""
    found: dict[str, None] = {}
    for word in words:
        for name, numbers in (
            ("translations.txt", translations_of(word.lower())),
            ("alike.txt", groups_of(word.lower())),
        ):
            for number in sorted(numbers):
                found.update(dict.fromkeys(_lines(name)[number].split()[:_MOST]))
    return " ".join((*words, *(word for word in found if word not in words))) if found else ""


def forms(word: str) -> Iterator[str]:
    """A word in lower case and what it may be a form of, likeliest first."""
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


@lru_cache(maxsize=2)
def _lines(name: str) -> tuple[str, ...]:
    return tuple(read_lines(name))


@lru_cache(maxsize=2)
def _groups(name: str) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_lines(name)):
        for word in line.split():
            found.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}
