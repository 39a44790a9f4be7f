"""What tells a word from a form of it, as far as choosing pieces needs it: endings, plurals, tenses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_DERIVED = re.compile(r"(.{2,}?)(하다|되다|하게|한|적인|스럽다|롭다|시키다)$")
_HERE = Path(__file__).parent
_ENDINGS = tuple((_HERE / "korean-endings.txt").read_text("utf-8").split())
# Whole words that end as if they were forms: the frequent ones that were seen to be dropped.
_WHOLE = frozenset((_HERE / "korean-words.txt").read_text("utf-8").split())
# Last syllables of so many forms that a word of no dictionary with one of them is taken for a form.
_DOUBTFUL = tuple((_HERE / "korean-word-ends.txt").read_text("utf-8").split())
_SUFFIXES = frozenset((_HERE / "english-suffixes.txt").read_text("utf-8").split())
_PART = 4
"""Letters from which on a part of an English word is taken for a word."""


def base(word: str) -> str:
    """Return a Korean word of a dictionary without what makes it a verb or an adjective."""
    if derived := _DERIVED.match(word):
        return derived[1]
    return word[:-1] if word.endswith("다") and len(word) >= 3 else word


def closed(word: str) -> bool:
    """Say whether a Korean word is likely none with a particle or ending at its end."""
    return word in _WHOLE or not word.endswith(_ENDINGS)


def bare(word: str) -> bool:
    """Say whether nothing at the end of a Korean word speaks for a form of another."""
    return closed(word) and not word.endswith(_DOUBTFUL)


def english_forms(word: str) -> tuple[str, ...]:
    """Return a word with its regular plural, tenses and participle."""
    return word, f"{word}s", f"{word}ed", f"{word}d", f"{word}ing", f"{word[:-1]}ies"


def is_compound(parts: Sequence[str]) -> bool:
    """Say whether a word falls into a word and a suffix, or into two words: nothing is lost by such a cut."""
    return len(parts) == 2 and len(parts[0]) >= _PART and (parts[1] in _SUFFIXES or len(parts[1]) >= _PART)
