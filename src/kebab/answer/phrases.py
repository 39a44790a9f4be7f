"""A few words that mean one thing together: "turn off", "two times", "washing machine".

They are the entries of ``words/alike.txt`` with hyphens, and count as one word wherever they stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from kebab.answer.alike import forms
from kebab.answer.words import read_words

_PARTICLES = frozenset(("on", "off", "up", "out", "down", "back", "over"))
"""What may stand apart from its verb: "turn caching off"."""
_APART = 2
"""Words between the two."""


def phrases(words: Sequence[str]) -> list[str]:
    """The phrases among these words of a text, which stand in it without a word between."""
    # A text has many words, and nearly none begins one.
    may = _beginnings()
    begun = [at for at, word in enumerate(words) if word in may]
    return [name for at in begun for name, _ in _from(words, at)]


def joined(words: Sequence[str]) -> list[str]:
    """The words of a question, with each phrase as one word in the place of its first."""
    found: list[str] = []
    taken: set[int] = set()
    for at, word in enumerate(words):
        if at in taken:
            continue
        name, places = max(
            (*_from(words, at), *_parted(words, at)), key=lambda one: len(one[1]), default=(word, ())
        )
        taken.update(places)
        found.append(name)
    return found


def _from(words: Sequence[str], at: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The phrases that begin with this word, and the places of their words."""
    for name, rest in _begun(words[at]):
        after = words[at + 1 : at + 1 + len(rest)]
        if len(after) == len(rest) and all(map(_is, after, rest)):
            yield name, tuple(range(at, at + 1 + len(rest)))


def _parted(words: Sequence[str], at: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The phrases of a verb and its particle with something between them."""
    for name, rest in _begun(words[at]):
        if len(rest) == 1 and rest[0] in _PARTICLES:
            for place in range(at + 2, min(len(words), at + 2 + _APART)):
                if words[place].lower() == rest[0]:
                    yield name, (at, place)


def _is(word: str, wanted: str) -> bool:
    return wanted in forms(word.lower())


@lru_cache(maxsize=20_000)
def _begun(word: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    known = _phrases()
    return next((known[form] for form in forms(word.lower()) if form in known), ())


@lru_cache(maxsize=1)
def _beginnings() -> frozenset[str]:
    """What a first word may look like in a text; more than what is one."""
    stems = {stem for word in _phrases() for stem in (word, word.removesuffix("e"), word + word[-1])}
    found = {stem + ending for stem in stems for ending in ("", "e", "s", "es", "ed", "ing")}
    return frozenset((*found, *(word.capitalize() for word in found)))


@lru_cache(maxsize=1)
def _phrases() -> dict[str, tuple[tuple[str, tuple[str, ...]], ...]]:
    """The phrases by their first word."""
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for name in dict.fromkeys(word for word in read_words("alike.txt") if "-" in word):
        first, *rest = name.split("-")
        found.setdefault(first, []).append((name, tuple(rest)))
    return {first: tuple(names) for first, names in found.items()}
