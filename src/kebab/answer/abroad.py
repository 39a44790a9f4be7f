"""A question in one language about pages in another: the words that those pages would use."""

from __future__ import annotations

from kebab.answer.alike import translations
from kebab.answer.question import Question
from kebab.domain.loanwords import beginnings, may_sound, sounds
from kebab.ports import LexicalIndex

_MOST = 3
"""Words of the corpus that are tried for one that sounds like them, the commonest."""
_CHOICES = 4
"""Translations of a word that are searched for."""
_MOST_OF = 0.5
"""Share of a question's nouns of which more must be known in the other language for a search in it."""
_SHORT = 3
"""How many letters a word may have for each of its consonants."""


def abroad(question: Question, index: LexicalIndex) -> str:
    """The question in the words of the other language; empty where most of its nouns are not known there.

    A word is translated by the dictionary, else a Korean loan word by what the corpus writes that sounds so.
    Latin words of a Korean question are names and stay.
    """
    found: dict[str, None] = {}
    nouns = known = 0
    for keyword in question.keywords:
        there = [other for word in keyword.spellings for other in _there(word, question.lang, index)]
        nouns += keyword.share == 1.0
        known += keyword.share == 1.0 and bool(there)
        found.update(dict.fromkeys(there))
    return " ".join(found) if known > _MOST_OF * nouns or known == nouns else ""


def _there(word: str, lang: str, index: LexicalIndex) -> tuple[str, ...]:
    if word.isascii():
        return (word,) if lang == "ko" else translations(word)
    known = translations(word) or tuple(_borrowed(word, index)) or _by_parts(word)
    return known[:_CHOICES]


def _by_parts(word: str) -> tuple[str, ...]:
    """What the two words mean that a Korean one is made of, where both are known: 휴가신청."""
    for end in range(2, len(word) - 1) if not word.isascii() else ():
        parts = [translations(each)[:2] for each in (word[:end], word[end:])]
        if all(parts):
            return (*parts[0], *parts[1])
    return ()


def _borrowed(word: str, index: LexicalIndex) -> list[str]:
    """The commonest words of the corpus that sound like a Korean one."""
    spoken = sounds(word)
    counted: dict[str, int] = {}
    for letter in beginnings(word) if spoken else ():
        counted.update(index.words_from(letter))
    alike = (
        other
        for other in counted
        if other.isascii()
        and any(len(other) <= _SHORT * len(each) for each in spoken)
        and may_sound(other, spoken)
        and spoken & sounds(other)
    )
    return sorted(alike, key=lambda other: (-counted[other], other))[:_MOST]
